#include "executors/cuda/cublaslt/cublaslt.h"

#include "base/thrown.h"
#include "executors/cuda/cublaslt/linear.h"
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

// A product that was not prepared is prepared at each run for its operands, without timing algorithms.
class ProductKernel : public Kernel {
 public:
  ProductKernel(const Session& session, bool is_linear, const ProductOptions& options)
      : Kernel(this), session_(session), is_linear_(is_linear), options_(options) {}

  void adapt_to_layouts(const NodeView& view) override {
    laid_out_ = std::make_unique<LaidOutProduct>(session_, is_linear_, options_, view.inputs, view.outputs[0]);
  }
  size_t scratch() const override { return laid_out_ ? laid_out_->scratch_bytes() : 0; }
  Status* run(const Launch* launch) const {
    const std::span in(launch->inputs, launch->n_inputs);
    if (laid_out_) return laid_out_->run(in, launch->outputs[0], launch->scratch);
    return catch_as_status([&] {
      const LaidOutProduct once(session_, is_linear_, {.tf32 = options_.tf32}, in, launch->outputs[0]);
      const Ref<Storage> scratch = Storage::allocate(session_.device().allocator(), once.scratch_bytes());
      return once.run(in, launch->outputs[0], scratch->data());
    });
  }

 private:
  const Session& session_;
  const bool is_linear_;
  const ProductOptions options_;
  std::unique_ptr<LaidOutProduct> laid_out_;
};

KernelPtr prepare(const NodeView& view, void* user) {
  const Session& session = CublasLtSessions::session_of(view, user);
  const ProductOptions options{.tf32 = view.settings.float32_matmul_precision != Precision::highest,
                               .timed = view.settings.max_autotune};
  return std::make_unique<ProductKernel>(session, is_linear(view), options);
}

}  // namespace

ExecutorDesc cublaslt_executor(Devices& devices) {
  return CublasLtSessions::executor(devices, "cuBLASLt",
                                    {.name = "cublaslt",
                                     .ops = {"prims.matmul", "linear"},
                                     .flags = kStrided,
                                     .claim = claim,
                                     .prepare = prepare});
}

}  // namespace thunder
