#include "executors/cuda/cudnn/attention_call.h"

#include <algorithm>

#include "base/text.h"
#include "executors/cuda/cudnn/scratch.h"
#include "loops/cuda/prelude.h"
#include "tensor/transfer.h"

namespace thunder::cudnn {
namespace {

constexpr int64_t kWidthStep = 8;

// The graph's tensor for each operand of the node. The statistics of the backward are computed from its two last
// operands.
constexpr std::array<size_t, 3> kForwardInputs = {kQuery, kKey, kValue};
constexpr std::array<size_t, 5> kBackwardInputs = {kGrad, kQuery, kKey, kValue, kOut};
constexpr size_t kOutOperand = 4, kLargest = 5, kTotal = 6;  // inputs of backward

// Of the backward.
constexpr const char* kText = R"(
extern "C" __global__ void divide_bf16(unsigned short* x, float by, long long count) {
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
    x[i] = to_bf16(from_bf16(x[i]) / by);
}
extern "C" __global__ void divide_f16(unsigned short* x, float by, long long count) {
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
    x[i] = to_f16(from_f16(x[i]) / by);
}
extern "C" __global__ void log_sum_exp(const float* largest, const float* total, float* out, long long rows) {
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < rows; i += step)
    out[i] = largest[i] + logf(total[i]);
}
)";
const std::string& backward_text() {
  static const std::string text = cat(loops::kCudaNarrowReals, kText);
  return text;
}

// With four dims: a missing batch dim has size 1.
Layout layout_of(const Buffer& b) {
  Layout l;
  const size_t missing = 4 - static_cast<size_t>(b.rank);
  for (size_t d = 0; d < 4; d++) {
    l.sizes[d] = d < missing ? 1 : b.shape[d - missing];
    l.strides[d] = d < missing ? 0 : b.strides[d - missing];
  }
  // The stride of a dim of size 1 does not matter, but the library wants strides that grow outwards.
  for (size_t d = 4; d-- > 0;)
    if (l.sizes[d] == 1) l.strides[d] = d == 3 ? 1 : l.sizes[d + 1] * l.strides[d + 1];
  return l;
}

bool has_readable_strides(const Layout& l) {
  if (l.strides[3] != 1) return false;
  for (size_t d = 0; d < 3; d++)
    if (l.strides[d] <= 0 || l.strides[d] % kWidthStep) return false;
  return true;
}

bool is_dense(const Buffer& b) {
  const auto rank = static_cast<size_t>(b.rank);
  return thunder::is_dense({b.shape, rank}, {b.strides, rank});
}

}  // namespace

size_t count_operands(const AttentionSizes& s) {
  return s.backward ? kTotal + 1 : kForwardInputs.size();
}
size_t count_library_inputs(const AttentionSizes& s) {
  return s.backward ? kBackwardInputs.size() : kForwardInputs.size();
}

std::string key_of(const AttentionSizes& s, const AttentionLayouts& layouts) {
  std::string key = cat("attention ", name(s.dtype), " ", s.backward, " ", s.causal, " ", s.scale,
                        s.mask == Mask::none ? "" : " masked", s.drops ? cat(" drops ", s.kept_scale) : "");
  for (const Layout& l : layouts.of) {
    for (const int64_t n : l.sizes) key += cat(" ", n);
    for (const int64_t n : l.strides) key += cat(" ", n);
  }
  return key;
}

void AttentionKernels::begin_compiling(nvidia::CudaDevice& device, const AttentionSizes& s) {
  if (s.backward) device.begin_compiling(backward_text());
  if (s.mask != Mask::none || s.drops) MaskKernels::begin_compiling(device);
}

void AttentionKernels::load_functions(nvidia::CudaDevice& device, const AttentionSizes& s) {
  if (s.backward) log_sum_exp = device.function(backward_text(), "log_sum_exp");
  if (s.backward && s.drops)
    divide = device.function(backward_text(), s.dtype == DType::bf16 ? "divide_bf16" : "divide_f16");
  if (s.mask != Mask::none) mask.emplace(device, s);
  if (s.drops) kept.emplace(device, with_kept_as_mask(s));
}

AttentionCall::AttentionCall(Session& session, const AttentionSizes& sizes, std::span<const Buffer> inputs,
                             std::span<const Buffer> outputs, bool pack)
    : session_(session), s_(sizes) {
  AttentionLayouts layouts = dense_layouts(s_);
  const std::span<const size_t> roles = this->roles();
  for (size_t i = 0; i < count_operands(s_); i++) {
    const Layout lies = layout_of(inputs[i]);
    const bool as_it_lies =
        i < roles.size() ? !pack && has_readable_strides(lies) && i != dropout_scaled_operand() : is_dense(inputs[i]);
    if (as_it_lies && i < roles.size()) layouts.of[roles[i]] = lies;
    if (!as_it_lies)
      packed_bytes_[i] = aligned_up(static_cast<size_t>(inputs[i].elements()) * size_of(inputs[i].dtype));
  }
  const size_t first = s_.backward ? size_t{kQueryGrad} : size_t{kOut}, ordered = s_.backward ? 3 : 1;
  for (size_t i = 0; i < ordered; i++) layouts.of[first + i] = layout_of(outputs[i]);
  if (s_.mask != Mask::none) layouts.of[kBias] = mask_.emplace(s_, inputs[count_operands(s_)], pack).layout();
  if (s_.drops) layouts.of[kKept] = kept_.emplace(with_kept_as_mask(s_), inputs[count_operands(s_) + 1], pack).layout();
  rows_ = s_.batch * s_.heads * s_.queries;
  pending_ = session.begin_plan(key_of(s_, layouts), [&session, sizes, layouts] {
    return std::make_shared<const Plan>(attention_graph(session, sizes, layouts), kAttentionOptions, "attention");
  });
}

void AttentionCall::wait_for_plan(double& plan_ms) {
  plan_ = session_.plans().wait(pending_, plan_ms);
}

size_t AttentionCall::scratch_bytes() const {
  size_t bytes = kScratchAlign + aligned_up(plan_->workspace_bytes()) + (s_.backward ? 2 * row_bytes() : 0);
  for (const size_t packed : packed_bytes_) bytes += packed;
  return bytes + (mask_ ? mask_->bytes() : 0) + (kept_ ? kept_->bytes() : 0);
}

Status* AttentionCall::pack_operands(std::span<const Buffer> inputs, std::byte*& free,
                                     std::array<void*, kMostOperands>& operand) const {
  for (size_t i = 0; i < count_operands(s_); i++) {
    operand[i] = inputs[i].data;
    if (!packed_bytes_[i]) continue;
    const Sizes strides = dense_strides({inputs[i].shape, static_cast<size_t>(inputs[i].rank)});
    Buffer dense = inputs[i];
    dense.data = operand[i] = std::exchange(free, free + packed_bytes_[i]), dense.strides = strides.data();
    if (Status* failed = copy_on_device(session_.device(), inputs[i], dense)) return failed;
  }
  return nullptr;
}

Status* AttentionCall::run(std::span<const Buffer> inputs, std::span<const Buffer> outputs, void* scratch,
                           const AttentionKernels& kernels) const {
  nvidia::CudaDevice& device = session_.device();
  if (Status* failed = device.enter()) return failed;
  std::byte* const workspace = aligned_up(scratch);
  std::byte* free = workspace + aligned_up(plan_->workspace_bytes());
  const auto take = [&](size_t bytes) { return std::exchange(free, free + bytes); };
  std::array<void*, kMostOperands> operand{};
  if (Status* failed = pack_operands(inputs, free, operand)) return failed;
  if (dropout_scaled_operand() < kMostOperands)
    if (Status* failed =
            divide(operand[dropout_scaled_operand()], inputs[dropout_scaled_operand()].elements(), kernels.divide))
      return failed;
  std::array<void*, kAllTensors> memory{};
  const std::span<const size_t> roles = this->roles();
  for (size_t i = 0; i < roles.size(); i++) memory[roles[i]] = operand[i];
  const auto bind = [&](size_t role, const std::optional<AttentionMask>& mask, const std::optional<MaskKernels>& kernel,
                        size_t input) -> Status* {
    if (!mask) return nullptr;
    memory[role] = mask->bytes() ? take(mask->bytes()) : inputs[input].data;
    return mask->convert(device, *kernel, inputs[input], memory[role]);
  };
  if (Status* failed = bind(kBias, mask_, kernels.mask, count_operands(s_))) return failed;
  if (Status* failed = bind(kKept, kept_, kernels.kept, count_operands(s_) + 1)) return failed;
  if (s_.backward) {
    memory[kStatistics] = take(row_bytes()), memory[kDelta] = take(row_bytes());
    for (size_t i = 0; i < 3; i++) memory[kQueryGrad + i] = outputs[i].data;
    if (Status* failed = add_logarithms(operand[kLargest], operand[kTotal], memory[kStatistics], kernels.log_sum_exp))
      return failed;
  } else {
    // The node's statistics are the logarithm of the sum, and 1: exp(score - that) / 1 is the probability, too.
    memory[kOut] = outputs[0].data, memory[kStatistics] = outputs[1].data;
    if (Status* failed = device.fill_with_ones(outputs[2].as<float>(), static_cast<size_t>(rows_))) return failed;
  }
  if (Status* failed = run_plan(memory, workspace)) return failed;
  if (!mask_ || s_.backward) return nullptr;
  return mask_->clear_rows(device, *kernels.mask, memory[kBias], memory[kStatistics], memory[kOut]);
}

std::span<const size_t> AttentionCall::roles() const {
  return s_.backward ? std::span<const size_t>(kBackwardInputs) : std::span<const size_t>(kForwardInputs);
}

Status* AttentionCall::run_plan(const std::array<void*, kAllTensors>& memory, void* workspace) const {
  std::array<Plan::Binding, kAllTensors> bindings;
  size_t count = s_.backward ? size_t{kBackwardTensors} : size_t{kForwardTensors};
  for (size_t i = 0; i < count; i++) bindings[i] = {static_cast<int64_t>(i + 1), memory[i]};
  for (const size_t role : {kBias, kKept})
    if (memory[role]) bindings[count] = {static_cast<int64_t>(count + 1), memory[role]}, count++;
  std::lock_guard lock(session_.mutex());
  if (Status* failed = session_.follow_stream()) return failed;
  return plan_->run(std::span(bindings).first(count), workspace);
}

size_t AttentionCall::row_bytes() const {
  return aligned_up(static_cast<size_t>(rows_) * sizeof(float));
}

size_t AttentionCall::dropout_scaled_operand() const { return s_.backward && s_.drops ? kOutOperand : kMostOperands; }

Status* AttentionCall::launch(nvidia::Function function, int64_t threads, void** parameters) const {
  constexpr int64_t kThreads = 256;
  return session_.device().launch(
      function, {static_cast<unsigned>(std::min<int64_t>((threads + kThreads - 1) / kThreads, 1024)), kThreads},
      parameters, "scaled_dot_product_attention_backward");
}

Status* AttentionCall::divide(void* packed, int64_t count, nvidia::Function function) const {
  float by = s_.kept_scale;
  void* parameters[] = {&packed, &by, &count};
  return launch(function, count, parameters);
}

// largest + log(total), of dense rows.
Status* AttentionCall::add_logarithms(void* largest, void* total, void* to, nvidia::Function function) const {
  int64_t rows = rows_;
  void* parameters[] = {&largest, &total, &to, &rows};
  return launch(function, rows, parameters);
}

}  // namespace thunder::cudnn
