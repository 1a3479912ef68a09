#include "executors/cuda/cudnn/attention_padded.h"

#include <algorithm>
#include <bit>

#include "base/text.h"
#include "executors/cuda/cudnn/scratch.h"
#include "tensor/transfer.h"

namespace thunder::cudnn {
namespace {

constexpr int64_t kStep = 64;  // what engines' tiles are multiples of

// The next of the lengths that share plans: four in each octave, from 256 on.
int64_t padded_length(int64_t length) {
  const auto octave = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(length)));
  const int64_t step = std::max(kStep, octave / 4);
  return (length + step - 1) / step * step;
}

constexpr size_t kTotal = 6;  // of backward's inputs: what the softmax was divided by, whose logarithm is taken

constexpr const char* kText = R"(
extern "C" __global__ void mark_keys(unsigned char* takes_part, long long keys) {
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < keys; i += step) takes_part[i] = 1;
}
)";

}  // namespace

std::optional<AttentionSizes> padded_sizes(const AttentionSizes& sizes) {
  if (sizes.mask != Mask::none || sizes.drops || (sizes.causal && sizes.queries != sizes.keys)) return std::nullopt;
  AttentionSizes padded = sizes;
  padded.queries = padded_length(sizes.queries), padded.keys = padded_length(sizes.keys);
  if (padded.queries == sizes.queries && padded.keys == sizes.keys) return std::nullopt;
  // A causal mask hides keys behind the last query from all queries that count.
  if (!sizes.causal && padded.keys != sizes.keys)
    padded.mask = Mask::boolean, padded.mask_sizes = {1, 1, 1, padded.keys};
  return padded;
}

std::string family_of(const AttentionSizes& s) {
  return cat(name(s.dtype), " ", s.backward, " ", s.causal, " ", s.batch, " ", s.heads, " ", s.key_heads, " ", s.width,
             " ", s.value_width, " ", s.scale);
}

void PaddedAttention::add(Sizes shape, DType dtype) {
  Padded p;
  p.strides = dense_strides(shape);
  p.bytes = size_of(dtype);
  for (const int64_t n : shape) p.bytes *= static_cast<size_t>(n);
  p.shape = std::move(shape);
  p.offset = bytes_;
  bytes_ += aligned_up(p.bytes);
  tensors_.push_back(std::move(p));
}

PaddedAttention::PaddedAttention(Session& session, const AttentionSizes& sizes, const AttentionSizes& padded,
                                 std::span<const Buffer> inputs, std::span<const Buffer> outputs)
    : session_(session),
      backward_(sizes.backward),
      keys_(sizes.keys),
      n_operands_(count_operands(sizes)),
      has_mask_(padded.mask != Mask::none) {
  const auto length_dim = static_cast<size_t>(inputs[0].rank) - 2;
  const auto add_like = [&](const Buffer& b, bool is_key) {
    Sizes shape(b.shape, b.shape + b.rank);
    shape[length_dim] = is_key ? padded.keys : padded.queries;
    add(std::move(shape), b.dtype);
  };
  const size_t first_key = backward_ ? 2 : 1;
  for (size_t i = 0; i < n_operands_; i++) add_like(inputs[i], i == first_key || i == first_key + 1);
  if (has_mask_) add({1, 1, 1, padded.keys}, DType::boolean);
  for (size_t i = 0; i < outputs.size(); i++) add_like(outputs[i], backward_ && i > 0);
  const Buffers all = padded_buffers(inputs, outputs, nullptr);
  call_.emplace(session, padded, all.inputs, all.outputs, false);
  if (has_mask_) session.device().begin_compiling(kText);
}

void PaddedAttention::wait_for_plan(double& plan_ms) {
  call_->wait_for_plan(plan_ms);
  if (has_mask_) mark_keys_ = session_.device().function(kText, "mark_keys");
}

size_t PaddedAttention::scratch_bytes() const {
  return kScratchAlign + bytes_ + call_->scratch_bytes();
}

PaddedAttention::Buffers PaddedAttention::padded_buffers(std::span<const Buffer> inputs,
                                                         std::span<const Buffer> outputs, std::byte* memory) const {
  Buffers out;
  for (size_t i = 0; i < tensors_.size(); i++) {
    const bool is_input = i < n_inputs();
    Buffer b = i < n_operands_ ? inputs[i] : is_input ? inputs[0] : outputs[i - n_inputs()];
    if (i >= n_operands_ && is_input) b.rank = 4, b.dtype = DType::boolean;
    b.data = memory + tensors_[i].offset, b.shape = tensors_[i].shape.data(), b.strides = tensors_[i].strides.data();
    if (is_input)
      out.inputs.push_back(b);
    else
      out.outputs.push_back(b);
  }
  return out;
}

// What is padded is zero: rows of queries and of their gradient add nothing to the gradients of keys and values, as
// long as the probabilities there are finite, which the logarithm of a total of 1 makes them.
Status* PaddedAttention::run(std::span<const Buffer> inputs, std::span<const Buffer> outputs, void* scratch,
                             const AttentionKernels& kernels) const {
  nvidia::CudaDevice& device = session_.device();
  if (Status* failed = device.enter()) return failed;
  std::byte* const memory = aligned_up(scratch);
  const Buffers padded = padded_buffers(inputs, outputs, memory);
  // The section of padded memory that the node's own tensor fills.
  const auto part = [](Buffer whole, const Buffer& own) { return whole.shape = own.shape, whole; };
  if (Status* failed = device.fill_with_zeros(memory, tensors_[n_inputs()].offset)) return failed;
  if (backward_)
    if (Status* failed =
            device.fill_with_ones(padded.inputs[kTotal].as<float>(), tensors_[kTotal].bytes / sizeof(float)))
      return failed;
  if (Status* failed = has_mask_ ? mark_keys(padded.inputs[n_operands_].data) : nullptr) return failed;
  for (size_t i = 0; i < n_operands_; i++)
    if (Status* failed = copy_on_device(device, inputs[i], part(padded.inputs[i], inputs[i]))) return failed;
  if (Status* failed = call_->run(padded.inputs, padded.outputs, memory + bytes_, kernels)) return failed;
  for (size_t i = 0; i < outputs.size(); i++)
    if (Status* failed = copy_on_device(device, part(padded.outputs[i], outputs[i]), outputs[i])) return failed;
  return nullptr;
}

Status* PaddedAttention::mark_keys(void* takes_part) const {
  int64_t keys = keys_;
  void* parameters[] = {&takes_part, &keys};
  constexpr unsigned kThreads = 256;
  return session_.device().launch(mark_keys_, {static_cast<unsigned>((keys + kThreads - 1) / kThreads), kThreads},
                                  parameters, "the padding of an attention");
}

}  // namespace thunder::cudnn
