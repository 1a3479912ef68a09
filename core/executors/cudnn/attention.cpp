#include "executors/cudnn/attention.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "base/thrown.h"
#include "executors/cudnn/attention_graph.h"
#include "executors/cudnn/attention_mask.h"
#include "executors/cudnn/scratch.h"
#include "tensor/transfer.h"

namespace thunder::cudnn {
namespace {

constexpr int64_t kMostWidth = 128, kWidthStep = 8;
// The gradient keeps one matrix of scores in bf16: as large as that of eight batches of 16 heads and 4096 tokens.
constexpr PlanOptions kOptions{.tensor_cores = true, .down_converts = true, .most_workspace = int64_t{4} << 30};

// By operand of the node: the tensor of the graph. The statistics of the backward are computed from its two last
// operands.
constexpr std::array<size_t, 3> kForwardInputs = {kQuery, kKey, kValue};
constexpr std::array<size_t, 5> kBackwardInputs = {kGrad, kQuery, kKey, kValue, kOut};
constexpr size_t kLargest = 5, kTotal = 6;  // inputs of backward

constexpr const char* kStatisticsText = R"(
extern "C" __global__ void log_sum_exp(const float* largest, const float* total, float* out, long long rows) {
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < rows; i += step)
    out[i] = largest[i] + logf(total[i]);
}
)";

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

bool readable(const Layout& l) {
  if (l.strides[3] != 1) return false;
  for (size_t d = 0; d < 3; d++)
    if (l.strides[d] <= 0 || l.strides[d] % kWidthStep) return false;
  return true;
}

bool is_dense(const Buffer& b) {
  const auto rank = static_cast<size_t>(b.rank);
  return thunder::is_dense({b.shape, rank}, {b.strides, rank});
}

// Where the mask is among the operands; those before it are read as they are.
size_t operands(const AttentionSizes& s) { return s.backward ? kTotal + 1 : kForwardInputs.size(); }

bool aligned(const Buffer& b) { return reinterpret_cast<uintptr_t>(b.data) % Graph::kAlignment == 0; }

std::string key_of(const AttentionSizes& s, const AttentionLayouts& layouts) {
  std::string key = cat("attention ", name(s.dtype), " ", s.backward, " ", s.causal, " ", s.scale,
                        s.mask == Mask::none ? "" : " masked");
  for (const Layout& l : layouts.of) {
    for (const int64_t n : l.sizes) key += cat(" ", n);
    for (const int64_t n : l.strides) key += cat(" ", n);
  }
  return key;
}

// Of a node, beside its plan.
struct AttentionKernels {
  nvidia::Function log_sum_exp = nullptr;  // backward
  std::optional<MaskKernels> mask;
};

// Attention for operands of given layouts: which of them are copied, and the plan.
class Attention {
 public:
  // `pack`: all operands are copied first.
  Attention(Session& session, const AttentionSizes& sizes, std::span<const Buffer> inputs, bool pack)
      : session_(session), s_(sizes) {
    AttentionLayouts layouts = dense_layouts(s_);
    const std::span<const size_t> roles = this->roles();
    for (size_t i = 0; i < operands(s_); i++) {
      const Layout lies = layout_of(inputs[i]);
      const bool as_it_lies = i < roles.size() ? !pack && readable(lies) : is_dense(inputs[i]);
      if (as_it_lies && i < roles.size()) layouts.of[roles[i]] = lies;
      if (!as_it_lies)
        packed_bytes_[i] = aligned_up(static_cast<size_t>(inputs[i].elements()) * size_of(inputs[i].dtype));
    }
    if (s_.mask != Mask::none) layouts.of[kBias] = mask_.emplace(s_, inputs[operands(s_)], pack).layout();
    rows_ = s_.batch * s_.heads * s_.queries;
    pending_ = session.begin_plan(key_of(s_, layouts), [&session, sizes, layouts] {
      return std::make_shared<const Plan>(attention_graph(session, sizes, layouts), kOptions, "attention");
    });
  }

  // Before anything else.
  void finish(Finished& finished) {
    plan_ = session_.plans().wait(pending_, finished.plan_ms);
    finished.scratch_bytes = scratch_bytes();
  }

  size_t scratch_bytes() const {
    size_t bytes = kScratchAlign + aligned_up(plan_->workspace_bytes()) + (s_.backward ? 2 * row_bytes() : 0);
    for (const size_t packed : packed_bytes_) bytes += packed;
    return bytes + (mask_ ? mask_->bytes() : 0);
  }

  Status* run(std::span<const Buffer> inputs, std::span<const Buffer> outputs, void* scratch,
              const AttentionKernels& kernels) const {
    nvidia::CudaDevice& device = session_.device();
    if (Status* failed = device.enter()) return failed;
    std::byte* const workspace = aligned_up(scratch);
    std::byte* free = workspace + aligned_up(plan_->workspace_bytes());
    const auto take = [&](size_t bytes) { return std::exchange(free, free + bytes); };
    std::array<void*, kTotal + 1> operand{};
    for (size_t i = 0; i < operands(s_); i++) {
      operand[i] = inputs[i].data;
      if (!packed_bytes_[i]) continue;
      const Sizes strides = dense_strides({inputs[i].shape, static_cast<size_t>(inputs[i].rank)});
      Buffer dense = inputs[i];
      dense.data = operand[i] = take(packed_bytes_[i]), dense.strides = strides.data();
      if (Status* failed = copy_on_device(device, inputs[i], dense)) return failed;
    }
    std::array<void*, kAllTensors> memory{};
    const std::span<const size_t> roles = this->roles();
    for (size_t i = 0; i < roles.size(); i++) memory[roles[i]] = operand[i];
    if (mask_) {
      const Buffer& mask = inputs[operands(s_)];
      memory[kBias] = mask_->bytes() ? take(mask_->bytes()) : mask.data;
      if (Status* failed = mask_->convert(device, *kernels.mask, mask, memory[kBias])) return failed;
    }
    if (s_.backward) {
      memory[kStatistics] = take(row_bytes()), memory[kDelta] = take(row_bytes());
      for (size_t i = 0; i < 3; i++) memory[kQueryGrad + i] = outputs[i].data;
      if (Status* failed =
              add_logarithms(operand[kLargest], operand[kTotal], memory[kStatistics], kernels.log_sum_exp))
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

 private:
  std::span<const size_t> roles() const {
    return s_.backward ? std::span<const size_t>(kBackwardInputs) : std::span<const size_t>(kForwardInputs);
  }
  Status* run_plan(const std::array<void*, kAllTensors>& memory, void* workspace) const {
    std::array<Plan::Binding, kAllTensors> bindings;
    size_t count = s_.backward ? size_t{kBackwardTensors} : size_t{kForwardTensors};
    for (size_t i = 0; i < count; i++) bindings[i] = {static_cast<int64_t>(i + 1), memory[i]};
    if (mask_) bindings[count] = {static_cast<int64_t>(count + 1), memory[kBias]}, count++;
    std::lock_guard lock(session_.mutex());
    if (Status* failed = session_.follow_stream()) return failed;
    return plan_->run(std::span(bindings).first(count), workspace);
  }
  size_t row_bytes() const { return aligned_up(static_cast<size_t>(rows_) * sizeof(float)); }
  // largest + log(total), of dense rows.
  Status* add_logarithms(void* largest, void* total, void* to, nvidia::Function function) const {
    constexpr int64_t kThreads = 256;
    int64_t rows = rows_;
    void* parameters[] = {&largest, &total, &to, &rows};
    return session_.device().launch(
        function, {static_cast<unsigned>(std::min<int64_t>((rows + kThreads - 1) / kThreads, 1024)), kThreads},
        parameters, "scaled_dot_product_attention_backward");
  }

  Session& session_;
  const AttentionSizes s_;
  int64_t rows_ = 0;
  std::array<size_t, kTotal + 1> packed_bytes_{};  // 0: read as it lies
  std::optional<AttentionMask> mask_;
  std::shared_ptr<Plans::Pending> pending_;
  std::shared_ptr<const Plan> plan_;
};

class PreparedAttention : public PreparedOp {
 public:
  PreparedAttention(Session& session, const AttentionSizes& sizes) : session_(session), sizes_(sizes) {
    if (sizes.backward) session.device().begin_compiling(kStatisticsText);
    if (sizes.mask != Mask::none) MaskKernels::begin_compiling(session.device());
  }

  void lay_out(const NodeView& view, size_t*) override { attention_.emplace(session_, sizes_, view.inputs, false); }
  void finish(Finished& finished) override {
    if (attention_) attention_->finish(finished);
    if (sizes_.backward) kernels_.log_sum_exp = session_.device().function(kStatisticsText, "log_sum_exp");
    if (sizes_.mask != Mask::none) kernels_.mask.emplace(session_.device(), sizes_);
  }
  Status* run(const Launch* launch) const override {
    const std::span inputs(launch->inputs, launch->n_inputs), outputs(launch->outputs, launch->n_outputs);
    const size_t read = operands(sizes_) + (sizes_.mask == Mask::additive);
    if (attention_ && std::all_of(inputs.begin(), inputs.begin() + static_cast<int64_t>(read), aligned))
      return attention_->run(inputs, outputs, launch->scratch, kernels_);
    return caught([&] {
      Attention once(session_, sizes_, inputs, true);
      Finished finished;
      once.finish(finished);
      const Ref<Storage> scratch = Storage::allocate(session_.device().allocator(), finished.scratch_bytes);
      return once.run(inputs, outputs, scratch->data(), kernels_);
    });
  }

 private:
  Session& session_;
  const AttentionSizes sizes_;
  std::optional<Attention> attention_;
  AttentionKernels kernels_;
};

// Whether cuDNN takes a mask of scores with so many dims: it must not make them more.
bool take_mask(const TensorType& mask, size_t rank, AttentionSizes& s) {
  s.mask = mask.dtype == DType::boolean ? Mask::boolean : Mask::additive;
  s.mask_sizes = {1, 1, 1, 1};
  const Sizes4 scores = {s.batch, s.heads, s.queries, s.keys};
  if (kind(mask.device) != kCudaKind || mask.rank() > rank || (s.mask == Mask::additive && mask.dtype != s.dtype))
    return false;
  for (size_t d = 0; d < mask.rank(); d++) {
    const Dim size = mask.shape[mask.rank() - 1 - d];
    if (!size.constant() || (size.value() != 1 && size.value() != scores[3 - d])) return false;
    s.mask_sizes[3 - d] = size.value();
  }
  return true;
}

// Heuristics also propose engines for a bias that refuse it when a plan is made, so that one is.
bool is_supported(const Session& session, const AttentionSizes& sizes) {
  const AttentionLayouts layouts = dense_layouts(sizes);
  if (!attention_graph(session, sizes, layouts).supported()) return false;
  try {
    if (sizes.mask != Mask::none) Plan(attention_graph(session, sizes, layouts), kOptions, "attention");
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

std::optional<AttentionSizes> AttentionSizes::of(const NodeView& view) {
  AttentionSizes s{};
  s.backward = view.node.op->name() == "scaled_dot_product_attention_backward";
  const std::span<const Arg> args = view.node.args;
  const size_t query = s.backward ? 1 : 0, mask = s.backward ? 7 : 3;
  s.dtype = view.store.type(args[query].v).dtype;
  bool takes = is_half(s.dtype);
  for (size_t i = 0; i < mask; i++) {
    const TensorType& t = view.store.type(args[i].v);
    const bool statistic = s.backward && i >= kLargest;
    takes = takes && kind(t.device) == kCudaKind && t.dtype == (statistic ? DType::f32 : s.dtype) &&
            t.rank() >= 3 && t.rank() <= 4 &&
            std::all_of(t.shape.begin(), t.shape.end(), [](Dim d) { return d.constant() && d.value() > 0; });
  }
  if (!takes) return std::nullopt;
  const Sizes q = concrete(view.store.type(args[query].v).shape),
              k = concrete(view.store.type(args[query + 1].v).shape),
              v = concrete(view.store.type(args[query + 2].v).shape);
  const size_t rank = q.size();
  if (k.size() != rank || v.size() != rank) return std::nullopt;
  s.batch = rank == 4 ? q[0] : 1, s.heads = q[rank - 3], s.key_heads = k[rank - 3];
  s.queries = q[rank - 2], s.keys = k[rank - 2], s.width = q[rank - 1], s.value_width = v[rank - 1];
  const bool grouped = args[mask + 3].i != 0;
  if ((rank == 4 && (k[0] != q[0] || v[0] != q[0])) || v[rank - 3] != s.key_heads ||
      (s.heads != s.key_heads && !grouped))
    return std::nullopt;
  for (const int64_t width : {s.width, s.value_width})
    if (width > kMostWidth || width % kWidthStep) return std::nullopt;
  s.causal = args[mask + 1].i != 0;
  s.scale =
      static_cast<float>(args[mask + 2].present() ? args[mask + 2].f : 1 / std::sqrt(static_cast<double>(s.width)));
  if (args[mask].present() && !take_mask(view.store.type(args[mask].v), rank, s)) return std::nullopt;
  return s;
}

PreparedOpPtr prepare_attention(Session& session, const AttentionSizes& sizes) {
  if (Status* failed = session.device().enter()) throw Error(Ref<Status>::adopt(failed));
  if (!session.known(key_of(sizes, dense_layouts(sizes)), [&] { return is_supported(session, sizes); })) return nullptr;
  return std::make_unique<PreparedAttention>(session, sizes);
}

}  // namespace thunder::cudnn
