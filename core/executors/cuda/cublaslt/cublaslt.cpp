#include "executors/cuda/cublaslt/cublaslt.h"

#include <array>
#include <optional>
#include <vector>

#include "base/text.h"
#include "base/thrown.h"
#include "executors/cuda/cublaslt/linear.h"
#include "executors/cuda/cublaslt/thin.h"
#include "ir/prim.h"
#include "tracer/compile_settings.h"

namespace thunder {
namespace {

using namespace cublaslt;

using CublasLtSessions = nvidia::Sessions<Session>;

bool is_linear(const NodeView& view) { return view.node.op->name() == "linear"; }

// The library adds a bias in the product's epilogue, but not for f64. A linear without bias descends to a matmul.
bool supports_linear(const NodeView& view) {
  const std::span<const Arg> args = view.node.args;
  const auto type = [&](size_t i) -> const TensorType& { return view.store.type(args[i].v); };
  if (!args[2].present() || type(1).rank() != 2 || type(2).rank() != 1 || type(0).dtype == DType::f64) return false;
  const auto known = [](const TensorType& t) {
    return std::all_of(t.shape.begin(), t.shape.end(), [](Dim d) { return d.value() > 0; });
  };
  return known(type(0)) && known(type(1)) && type(1).device == type(0).device && type(2).device == type(0).device;
}

bool claim(const NodeView& view, void*) {
  const TensorType& t = view.store.type(view.node.results[0]);
  std::string why;
  return kind(t.device) == kCudaKind && supports_dtype(t.dtype) && (!is_linear(view) || supports_linear(view)) &&
         Library::open(why);
}

// A product prepared for the layouts of its operands.
class LaidOutProduct {
 public:
  LaidOutProduct(const Session& session, bool is_linear, const ProductOptions& options, std::span<const Buffer> in,
                 const Buffer& out) {
    if (is_linear) linear_.emplace(session, in, out, options);
    else product_.emplace(session, in[0], in[1], out, options);
  }
  size_t scratch_bytes() const { return linear_ ? linear_->scratch_bytes() : product_->scratch_bytes(); }
  Status* run(std::span<const Buffer> in, const Buffer& out, void* scratch) const {
    return linear_ ? linear_->run(in, out, scratch) : product_->run(in[0], in[1], out, nullptr, scratch);
  }

 private:
  std::optional<Product> product_;
  std::optional<Linear> linear_;
};

// How a node multiplies.
struct ProductNode {
  const Session& session;
  bool is_linear;
  ProductOptions options;
};

// The operands of a node as a thin product takes them.
class ThinView {
 public:
  ThinView(const ProductNode& node, std::span<const Buffer> in, const Buffer& out) : out_(out), x_(in[0]), b_(in[1]) {
    if (!node.is_linear) return;
    bias_ = &in[2];
    for (size_t i = 0; i < 2; i++) sizes_[i] = b_.shape[1 - i], strides_[i] = b_.strides[1 - i];
    b_.shape = sizes_.data(), b_.strides = strides_.data();
  }
  ThinView(const ThinView&) = delete;
  ThinOperands operands() const { return {&x_, &b_, &out_, bias_}; }

 private:
  const Buffer &out_, &x_;
  Buffer b_;  // a weight of [outputs, inputs], transposed
  const Buffer* bias_ = nullptr;
  std::array<int64_t, 2> sizes_{}, strides_{};
};

// Multiplies operands for which nothing was prepared, without timing algorithms.
Status* run_once(const ProductNode& node, const Launch& launch) {
  return catch_as_status([&] {
    const std::span in(launch.inputs, launch.n_inputs);
    const LaidOutProduct once(node.session, node.is_linear, {.tf32 = node.options.tf32}, in, launch.outputs[0]);
    const Ref<Storage> scratch = Storage::allocate(node.session.device().allocator(), once.scratch_bytes());
    return once.run(in, launch.outputs[0], scratch->data());
  });
}

// Thin products in one launch.
class ThinProducts : public Kernel {
 public:
  ThinProducts(std::vector<ProductNode> nodes, std::vector<ThinProduct> products)
      : Kernel(this), nodes_(std::move(nodes)), products_(std::move(products)) {}

  void finish_compiling() override { products_[0].finish_compiling(); }
  const ThinProduct& first() const { return products_[0]; }
  std::string explain() const override {
    return products_.size() == 1 ? "" : cat("in one launch with the ", products_.size() - 1, " products that follow\n");
  }
  Status* run(const Launch* first) const {
    std::array<std::optional<ThinView>, ThinProduct::kMostJoined> views;
    std::array<ThinOperands, ThinProduct::kMostJoined> operands;
    bool aligned = true;
    for (size_t i = 0; i < nodes_.size(); i++) {
      operands[i] =
          views[i].emplace(nodes_[i], std::span(first[i].inputs, first[i].n_inputs), first[i].outputs[0]).operands();
      aligned = aligned && ThinProduct::is_aligned(operands[i]);
    }
    if (aligned) return ThinProduct::run(products_, std::span(operands).first(nodes_.size()));
    for (size_t i = 0; i < nodes_.size(); i++)
      if (Status* failed = run_once(nodes_[i], first[i])) return failed;
    return nullptr;
  }

 private:
  const std::vector<ProductNode> nodes_;
  std::vector<ThinProduct> products_;
};

class ProductKernel : public Kernel {
 public:
  explicit ProductKernel(const ProductNode& node) : Kernel(this), node_(node) {}

  void adapt_to_layouts(const NodeView& view) override {
    const ThinView thin(node_, view.inputs, view.outputs[0]);
    thin_ = ThinProduct::find(node_.session.device(), thin.operands());
    if (thin_) alone_ = std::make_unique<ThinProducts>(std::vector{node_}, std::vector{*thin_});
    if (thin_) return;
    ProductOptions options = node_.options;
    options.of_class = view.is_of_class;
    laid_out_ =
        std::make_unique<LaidOutProduct>(node_.session, node_.is_linear, options, view.inputs, view.outputs[0]);
  }
  size_t scratch() const override { return laid_out_ ? laid_out_->scratch_bytes() : 0; }
  Joinable joinable() const override {
    return thin_ ? Joinable{thin_->text(), ThinProduct::kMostJoined, 2} : Joinable();
  }
  KernelPtr join(std::span<const Kernel* const> all) const override {
    std::vector<ProductNode> nodes;
    std::vector<ThinProduct> products;
    for (const Kernel* one : all) {
      const auto& product = static_cast<const ProductKernel&>(*one);
      nodes.push_back(product.node_), products.push_back(product.alone_->first());  // which is finished
    }
    return std::make_unique<ThinProducts>(std::move(nodes), std::move(products));
  }
  void finish_compiling() override {
    if (alone_) alone_->finish_compiling();
  }
  std::string explain() const override { return thin_ ? "by a kernel for few rows\n" : ""; }
  Status* run(const Launch* launch) const {
    if (alone_) return alone_->run(launch);
    if (laid_out_) return laid_out_->run({launch->inputs, launch->n_inputs}, launch->outputs[0], launch->scratch);
    return run_once(node_, *launch);
  }

 private:
  const ProductNode node_;
  std::optional<ThinProduct> thin_;
  std::unique_ptr<ThinProducts> alone_;  // thin_, unless it is joined with others
  std::unique_ptr<LaidOutProduct> laid_out_;
};

KernelPtr prepare(const NodeView& view, void* user) {
  const Session& session = CublasLtSessions::session_of(view, user);
  const ProductOptions options{.tf32 = view.settings.float32_matmul_precision != Precision::highest,
                               .timed = view.settings.max_autotune};
  return std::make_unique<ProductKernel>(ProductNode{session, is_linear(view), options});
}

}  // namespace

ExecutorDesc cublaslt_executor(Devices& devices) {
  return CublasLtSessions::executor(devices, "cuBLASLt",
                                    {.name = "cublaslt",
                                     .ops = {std::string(name(Prim::matmul)), "linear"},
                                     .flags = kStrided,
                                     .claim = claim,
                                     .prepare = prepare});
}

}  // namespace thunder
