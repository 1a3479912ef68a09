#include "executors/cuda/cudnn/convolution.h"

#include "base/text.h"
#include "base/thrown.h"
#include "executors/cuda/cudnn/plan.h"
#include "executors/cuda/cudnn/scratch.h"
#include "ir/prim.h"
#include "ops/pair.h"
#include "tensor/transfer.h"
#include "tracer/compile_settings.h"

namespace thunder::cudnn {
namespace {

Sizes4 sizes_of(const Buffer& b) { return {b.shape[0], b.shape[1], b.shape[2], b.shape[3]}; }

// Strides of dense memory in which the dims of `order` follow each other, the innermost last.
using Order = std::array<size_t, 4>;
Sizes4 dense_strides_in(const Sizes4& sizes, const Order& order) {
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

Layout dense_layout(const Buffer& b, MemoryFormat format) {
  const bool last = format == MemoryFormat::channels_last;
  return {sizes_of(b), dense_strides_in(sizes_of(b), last ? Order{0, 2, 3, 1} : Order{0, 1, 2, 3})};
}

// Whether it is dense in the one order and not in the other as well.
bool lies_only(const Buffer& b, MemoryFormat format) {
  const bool first = has_strides(b, dense_layout(b, MemoryFormat::contiguous).strides),
             last = has_strides(b, dense_layout(b, MemoryFormat::channels_last).strides);
  return format == MemoryFormat::channels_last ? last && !first : first && !last;
}

Kind operation_of(Prim op) {
  return op == Prim::conv2d ? kForward : op == Prim::conv2d_input_grad ? kBackwardData : kBackwardFilter;
}

// The attributes of a node.
struct ConvolutionNode {
  explicit ConvolutionNode(const Node& node);

  Kind operation;  // kForward, kBackwardData, kBackwardFilter
  Window window;
};

// How a convolution is computed.
struct ConvolutionOptions {
  bool tf32;                    // operands of f32 may be rounded to TF32
  bool channels_last = false;   // in this order, if the image or the result lies so
  bool aligned = true;          // all addresses are multiples of Graph::kAlignment
};

// A convolution for tensors of given layouts: which of them are copied, since all lie in one order for the library, and
// the plan.
class Convolution {
 public:
  // Throws what the library reports.
  Convolution(Session& session, const ConvolutionNode& node, std::span<const Buffer> inputs, const Buffer& output,
              const ConvolutionOptions& options);

  // Must be called first.
  void wait_for_plan();
  double plan_ms() const { return plan_ms_; }  // that making the plan took beside it
  bool is_channels_last() const { return format_ == MemoryFormat::channels_last; }
  // Once it is finished.
  size_t scratch_bytes() const {
    return kScratchAlign + workspace_bytes_ + packed_bytes_[0] + packed_bytes_[1] + packed_bytes_[2];
  }
  // Null, or an owned status.
  Status* run(std::span<const Buffer> inputs, const Buffer& output, void* scratch) const;

 private:
  Status* run_plan(std::span<const Buffer> tensors, void* workspace) const;

  enum Role : uint8_t { filter, image, result };  // as a tensor of the forward convolution

  // The key of a plan. The tensors filter, image and result have the ids 1 to 3.
  struct Problem;
  static std::shared_ptr<const Plan> make_plan(const Session& session, const Problem& problem);

  Session& session_;
  static constexpr size_t kOutput = 2;  // of the tensors, inputs first

  std::array<Role, 3> roles_;
  MemoryFormat format_ = MemoryFormat::contiguous;  // of all tensors for the library
  std::array<size_t, 3> packed_bytes_{};  // 0: read or written as it lies
  std::array<Sizes4, 3> strides_{};
  std::shared_ptr<Plans::Pending> pending_;  // null: there is nothing to compute
  std::shared_ptr<const Plan> plan_;
  size_t workspace_bytes_ = 0;
  double plan_ms_ = 0;
};

// A gradient's node has the size of its result as an argument before those of the window.
ConvolutionNode::ConvolutionNode(const Node& node) : operation(operation_of(node.op->id)) {
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
                         const Buffer& output, const ConvolutionOptions& options)
    : session_(session) {
  Problem p{};
  p.operation = node.operation, p.window = node.window;
  roles_ = p.operation == kForward        ? std::array{image, filter, result}
           : p.operation == kBackwardData ? std::array{result, filter, image}
                                          : std::array{result, image, filter};
  const std::array tensors = {&inputs[0], &inputs[1], &output};
  for (size_t i = 0; i < tensors.size(); i++)
    if (options.channels_last && roles_[i] != filter && lies_only(*tensors[i], MemoryFormat::channels_last))
      format_ = MemoryFormat::channels_last;
  Layout* const layouts[] = {&p.filter, &p.image, &p.result};
  for (size_t i = 0; i < tensors.size(); i++) {
    const Buffer& b = *tensors[i];
    const Layout dense = *layouts[roles_[i]] = dense_layout(b, format_);
    if (!has_strides(b, dense.strides))
      packed_bytes_[i] = aligned_up(static_cast<size_t>(b.elements()) * size_of(b.dtype));
    strides_[i] = dense.strides;
  }
  if (!inputs[0].elements() || !inputs[1].elements() || !output.elements()) return;
  p.dtype = output.dtype, p.tf32 = options.tf32 && p.dtype == DType::f32;
  p.alignment = options.aligned ? Graph::kAlignment : static_cast<int64_t>(size_of(p.dtype));
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
  std::array<Buffer, 3> dense = {inputs[0], inputs[1], output};
  for (size_t i = 0; i < dense.size(); i++) {
    if (!packed_bytes_[i]) continue;
    dense[i].data = free, dense[i].strides = strides_[i].data();
    free += packed_bytes_[i];
    if (i == kOutput) continue;
    if (Status* failed = copy_on_device(session_.device(), inputs[i], dense[i])) return failed;
  }
  if (Status* failed = run_plan(dense, workspace)) return failed;
  return packed_bytes_[kOutput] ? copy_on_device(session_.device(), dense[kOutput], output) : nullptr;
}

Status* Convolution::run_plan(std::span<const Buffer> tensors, void* workspace) const {
  std::array<void*, 3> pointers{};
  for (size_t i = 0; i < tensors.size(); i++) pointers[roles_[i]] = tensors[i].data;
  std::lock_guard lock(session_.mutex());
  if (Status* failed = session_.follow_stream()) return failed;
  const Plan::Binding bindings[] = {{1, pointers[filter]}, {2, pointers[image]}, {3, pointers[result]}};
  return plan_->run(bindings, workspace);
}

class ConvolutionKernel : public Kernel {
 public:
  ConvolutionKernel(Session& session, const Node& node, std::string key, const ConvolutionOptions& options)
      : Kernel(this), session_(session), node_(node), key_(std::move(key)), options_(options) {}

  MemoryFormat memory_format() const override {
    return options_.channels_last ? MemoryFormat::channels_last : MemoryFormat::contiguous;
  }
  void adapt_to_layouts(const NodeView& view) override {
    convolution_.emplace(session_, node_, view.inputs, view.outputs[0], options_);
  }
  void finish_compiling() override {
    try {
      if (convolution_) convolution_->wait_for_plan();
    } catch (const Error& e) {
      if (e.code() == Code::declined)
        session_.refuse(convolution_->is_channels_last() ? channels_last_key(key_) : key_);
      throw;
    }
  }
  size_t scratch() const override { return convolution_ ? convolution_->scratch_bytes() : 0; }
  double plan_ms() const override { return convolution_ ? convolution_->plan_ms() : 0; }
  Status* run(const Launch* launch) const {
    const std::span inputs(launch->inputs, 2);
    ConvolutionOptions options = options_;
    options.aligned = all_aligned(*launch);
    if (convolution_ && options.aligned) return convolution_->run(inputs, launch->outputs[0], launch->scratch);
    return catch_as_status([&] {
      Convolution once(session_, node_, inputs, launch->outputs[0], options);
      once.wait_for_plan();
      const Ref<Storage> scratch = Storage::allocate(session_.device().allocator(), once.scratch_bytes());
      return once.run(inputs, launch->outputs[0], scratch->data());
    });
  }

  static std::string channels_last_key(const std::string& key) { return cat(key, " channels last"); }

 private:
  static bool all_aligned(const Launch& l) {
    auto bits = reinterpret_cast<uintptr_t>(l.outputs[0].data);
    for (size_t i = 0; i < 2; i++) bits |= reinterpret_cast<uintptr_t>(l.inputs[i].data);
    return bits % Graph::kAlignment == 0;
  }

  Session& session_;
  const ConvolutionNode node_;
  const std::string key_;  // by which it is refused
  const ConvolutionOptions options_;
  std::optional<Convolution> convolution_;
};

// Whether tensor cores compute it, which read vectors of channels: the library turns tensors that lie otherwise. The
// image of a first layer may have fewer channels than a vector.
bool is_fast_with_channels_last(const NodeView& view, const ConvolutionNode& node, bool tf32) {
  constexpr int64_t kVectorBytes = 16, kColours = 4;
  const auto type = [&](size_t i) -> const TensorType& { return view.store.type(view.node.args[i].v); };
  const TensorType& made = view.store.type(view.node.results[0]);
  if (!is_half(made.dtype) && !(tf32 && made.dtype == DType::f32)) return false;
  const TensorType &image = node.operation == kBackwardData ? made : type(node.operation == kForward ? 0 : 1),
                   &filter = node.operation == kBackwardFilter ? made : type(1);
  const int64_t channels = image.shape[1].value(), results = filter.shape[0].value(),
                vector = kVectorBytes / static_cast<int64_t>(size_of(made.dtype));
  const bool grouped = filter.shape[1].value() != channels;
  return !grouped && results % vector == 0 && (channels % vector == 0 || channels <= kColours);
}

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
  const bool last = session.ask_once(ConvolutionKernel::channels_last_key(key),
                                     [&] { return is_fast_with_channels_last(view, node, tf32); });
  return std::make_unique<ConvolutionKernel>(session, view.node, std::move(key), ConvolutionOptions{tf32, last});
}

}  // namespace thunder::cudnn
