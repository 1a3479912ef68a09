#include "executors/cuda/cudnn/convolution.h"

#include "base/text.h"
#include "base/thrown.h"
#include "executors/cuda/cudnn/plan.h"
#include "executors/cuda/cudnn/scratch.h"
#include "ops/pair.h"
#include "tensor/transfer.h"
#include "tracer/compile_settings.h"

namespace thunder::cudnn {
namespace {

Sizes4 sizes_of(const Buffer& b) { return {b.shape[0], b.shape[1], b.shape[2], b.shape[3]}; }

// Strides of dense memory in which the dims of `order` follow each other, the innermost last.
Sizes4 dense_strides_in(const Sizes4& sizes, const std::array<size_t, 4>& order) {
  Sizes4 out{};
  int64_t stride = 1;
  for (size_t i = 4; i-- > 0; stride *= sizes[order[i]]) out[order[i]] = stride;
  return out;
}

// Whether a buffer has these strides; those of dims of size 1 do not matter.
bool has_strides(const Buffer& b, const Sizes4& strides) {
  for (size_t d = 0; d < 4; d++)
    if (b.shape[d] != 1 && b.strides[d] != strides[d]) return false;
  return true;
}

// The buffer's layout if it is dense with channels first or last; otherwise `packed`, it is copied to channels first.
Layout layout_of(const Buffer& b, bool& packed) {
  const Sizes4 sizes = sizes_of(b), first = dense_strides_in(sizes, {0, 1, 2, 3}),
               last = dense_strides_in(sizes, {0, 2, 3, 1});
  packed = !has_strides(b, first) && !has_strides(b, last);
  return {sizes, packed || has_strides(b, first) ? first : last};
}

Kind operation_of(std::string_view op) {
  return op == "prims.conv2d" ? kForward : op == "prims.conv2d_input_grad" ? kBackwardData : kBackwardFilter;
}

// The attributes of a node.
struct ConvolutionNode {
  explicit ConvolutionNode(const Node& node);

  Kind operation;  // kForward, kBackwardData, kBackwardFilter
  Window window;
};

// A convolution for operands of given layouts: which of them are copied, and the plan.
class Convolution {
 public:
  // `aligned`: all addresses are multiples of Graph::kAlignment. `tf32`: operands of f32 may be rounded to TF32. Throws
  // what the library reports.
  Convolution(Session& session, const ConvolutionNode& node, std::span<const Buffer> inputs, const Buffer& output,
              bool aligned, bool tf32);

  // Must be called first.
  void wait_for_plan();
  double plan_ms() const { return plan_ms_; }  // that making the plan took beside it
  // Once it is finished.
  size_t scratch_bytes() const { return kScratchAlign + workspace_bytes_ + packed_bytes_[0] + packed_bytes_[1]; }
  // Null, or an owned status.
  Status* run(std::span<const Buffer> inputs, const Buffer& output, void* scratch) const;

 private:
  enum Role : uint8_t { filter, image, result };  // as a tensor of the forward convolution

  // The key of a plan. The tensors filter, image and result have the ids 1 to 3.
  struct Problem;
  static std::shared_ptr<const Plan> make_plan(const Session& session, const Problem& problem);

  Session& session_;
  std::array<Role, 2> role_of_input_;
  Role role_of_output_;
  std::array<size_t, 2> packed_bytes_{};  // 0: read as it lies
  std::array<Sizes4, 2> packed_strides_{};
  std::shared_ptr<Plans::Pending> pending_;  // null: there is nothing to compute
  std::shared_ptr<const Plan> plan_;
  size_t workspace_bytes_ = 0;
  double plan_ms_ = 0;
};

// A gradient's node has the size of its result as an argument before those of the window.
ConvolutionNode::ConvolutionNode(const Node& node) : operation(operation_of(node.op->name())) {
  const size_t first = operation == kForward ? 2 : 3;
  window = {pair_of(node.args[first]), pair_of(node.args[first + 1]), pair_of(node.args[first + 2])};
}

struct Convolution::Problem {
  Kind operation;
  DType dtype;  // of all tensors; sums of bf16 and f16 are f32
  bool tf32;    // whether operands of f32 may be rounded to TF32
  Layout filter, image, result;  // [batch or outputs, channels, height, width]
  Window window;
  int64_t alignment;  // of all addresses, in bytes

  // Equal for problems that have one plan.
  std::string key() const {
    std::string out = cat(static_cast<int>(operation), " ", name(dtype), tf32 ? " tf32 " : " ", alignment);
    const auto add = [&](const auto& numbers) {
      for (const int64_t n : numbers) out += cat(" ", n);
    };
    for (const Layout* l : {&filter, &image, &result}) add(l->sizes), add(l->strides);
    add(window.stride), add(window.padding), add(window.dilation);
    return out;
  }
};

std::shared_ptr<const Plan> Convolution::make_plan(const Session& session, const Problem& p) {
  Graph graph(session);
  const DataType type = data_type(p.dtype);
  const Graph::Tensor filter = graph.tensor(p.filter, type, p.alignment),
                      image = graph.tensor(p.image, type, p.alignment),
                      result = graph.tensor(p.result, type, p.alignment);
  graph.convolution(p.operation, p.window, filter, image, result, type == kF64 ? kF64 : kF32);
  const bool half = is_half(p.dtype);
  return std::make_shared<const Plan>(std::move(graph), PlanOptions{half || p.tf32, half}, "convolution");
}

Convolution::Convolution(Session& session, const ConvolutionNode& node, std::span<const Buffer> inputs,
                         const Buffer& output, bool aligned, bool tf32)
    : session_(session) {
  Problem p{};
  p.operation = node.operation, p.window = node.window;
  role_of_input_ = p.operation == kForward        ? std::array{image, filter}
                   : p.operation == kBackwardData ? std::array{result, filter}
                                                  : std::array{result, image};
  role_of_output_ = p.operation == kForward ? result : p.operation == kBackwardData ? image : filter;
  Layout* const layouts[] = {&p.filter, &p.image, &p.result};
  for (size_t i = 0; i < 2; i++) {
    bool packed = false;
    *layouts[role_of_input_[i]] = layout_of(inputs[i], packed);
    if (packed) packed_bytes_[i] = aligned_up(static_cast<size_t>(inputs[i].elements()) * size_of(inputs[i].dtype));
    packed_strides_[i] = layouts[role_of_input_[i]]->strides;
  }
  bool packed = false;
  *layouts[role_of_output_] = layout_of(output, packed);
  ensure(!packed, "a convolution's result is dense");
  if (!inputs[0].elements() || !inputs[1].elements() || !output.elements()) return;
  p.dtype = output.dtype, p.tf32 = tf32 && p.dtype == DType::f32;
  p.alignment = aligned ? Graph::kAlignment : static_cast<int64_t>(size_of(p.dtype));
  pending_ = session.begin_plan(p.key(), [&session, p] { return make_plan(session, p); });
}

void Convolution::wait_for_plan() {
  if (!pending_) return;
  plan_ = session_.plans().wait(pending_, plan_ms_);
  workspace_bytes_ = aligned_up(plan_->workspace_bytes());
}

Status* Convolution::run(std::span<const Buffer> inputs, const Buffer& output, void* scratch) const {
  if (!output.elements()) return nullptr;
  if (Status* failed = session_.device().enter()) return failed;
  if (!plan_)
    return session_.device().fill_with_zeros(output.data,
                                             static_cast<size_t>(output.elements()) * size_of(output.dtype));
  std::byte* const workspace = aligned_up(scratch);
  std::byte* free = workspace + workspace_bytes_;
  std::array<void*, 3> pointers{};
  for (size_t i = 0; i < 2; i++) {
    pointers[role_of_input_[i]] = inputs[i].data;
    if (!packed_bytes_[i]) continue;
    Buffer dense = inputs[i];
    dense.data = free, dense.strides = packed_strides_[i].data();
    if (Status* failed = copy_on_device(session_.device(), inputs[i], dense)) return failed;
    pointers[role_of_input_[i]] = free;
    free += packed_bytes_[i];
  }
  pointers[role_of_output_] = output.data;
  std::lock_guard lock(session_.mutex());
  if (Status* failed = session_.follow_stream()) return failed;
  const Plan::Binding bindings[] = {{1, pointers[filter]}, {2, pointers[image]}, {3, pointers[result]}};
  return plan_->run(bindings, workspace);
}

class ConvolutionKernel : public Kernel {
 public:
  ConvolutionKernel(Session& session, const Node& node, std::string key, bool tf32)
      : Kernel(this), session_(session), node_(node), key_(std::move(key)), tf32_(tf32) {}

  void adapt_to_layouts(const NodeView& view) override {
    convolution_.emplace(session_, node_, view.inputs, view.outputs[0], true, tf32_);
  }
  void finish_compiling() override {
    try {
      if (convolution_) convolution_->wait_for_plan();
    } catch (const Error& e) {
      if (e.code() == Code::declined) session_.refuse(key_);
      throw;
    }
  }
  size_t scratch() const override { return convolution_ ? convolution_->scratch_bytes() : 0; }
  double plan_ms() const override { return convolution_ ? convolution_->plan_ms() : 0; }
  Status* run(const Launch* launch) const {
    const std::span inputs(launch->inputs, 2);
    const bool aligned = all_aligned(*launch);
    if (convolution_ && aligned) return convolution_->run(inputs, launch->outputs[0], launch->scratch);
    return catch_as_status([&] {
      Convolution once(session_, node_, inputs, launch->outputs[0], aligned, tf32_);
      once.wait_for_plan();
      const Ref<Storage> scratch = Storage::allocate(session_.device().allocator(), once.scratch_bytes());
      return once.run(inputs, launch->outputs[0], scratch->data());
    });
  }

 private:
  static bool all_aligned(const Launch& l) {
    auto bits = reinterpret_cast<uintptr_t>(l.outputs[0].data);
    for (size_t i = 0; i < 2; i++) bits |= reinterpret_cast<uintptr_t>(l.inputs[i].data);
    return bits % Graph::kAlignment == 0;
  }

  Session& session_;
  const ConvolutionNode node_;
  const std::string key_;  // by which it is refused
  const bool tf32_;
  std::optional<Convolution> convolution_;
};

}  // namespace

KernelPtr prepare_convolution(Session& session, const NodeView& view) {
  const bool tf32 = view.settings.cudnn_allow_tf32;
  const ConvolutionNode node(view.node);
  std::string key = cat("convolution ", static_cast<int>(node.operation), tf32 ? " tf32" : "");
  for (size_t i = 0; i < 2; i++) key += cat(" ", name(view.store.type(view.node.args[i].v)));
  key += cat(" ", name(view.store.type(view.node.results[0])));
  for (const auto* pair : {&node.window.stride, &node.window.padding, &node.window.dilation})
    for (const int64_t n : *pair) key += cat(" ", n);
  if (!session.ask_once(key, [] { return true; })) return nullptr;
  return std::make_unique<ConvolutionKernel>(session, view.node, std::move(key), tf32);
}

}  // namespace thunder::cudnn
