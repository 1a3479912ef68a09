// Matrix products, one class for each element type.
#pragma once

#include <new>
#include <optional>

#include "executors/cpu/table_executor.h"
#include "executors/cpu/products/autotune.h"
#include "program/kernel_texts.h"

namespace thunder {

template <class T>
using ProductsOf = BatchedProduct<T> (*)(const Launch*);

// Operands' strides come with each call. `available`: the rows of the table that fit the node.
template <class T>
class MatmulKernel : public Kernel {
 public:
  MatmulKernel(const Backends& m, Available a, ProductsOf<T> p)
      : Kernel(this), backends_(m), available_(std::move(a)), products_(p) {}

  KernelPtr another() const override { return std::make_unique<MatmulKernel>(backends_, available_, products_); }
  Status* run(const Launch* launch) const { return run_products(backends_, available_, launch, products_(launch)); }

 private:
  const Backends& backends_;
  const Available available_;
  const ProductsOf<T> products_;
};

class F32MatmulKernel : public Kernel, public KernelTexts {
 public:
  // `tuner`: null: the cost model chooses.
  F32MatmulKernel(const Backends& m, Available a, ProductsOf<float> p, Autotuner* tuner)
      : Kernel(this), backends_(m), available_(std::move(a)), products_(p), tuner_(tuner) {}

  void adapt_to_layouts(const NodeView& view) override {
    try {
      if (tuner_) algorithm_ = tuner_->algorithm(available_, products_, view.inputs, view.outputs);
    } catch (const std::bad_alloc&) {  // no memory for timing: the cost model chooses
    }
    const Launch launch = launch_on(view.inputs, view.outputs);
    BatchedProduct<float> p = products_(&launch);
    p.simplify();
    scratch_ = p.each.m == 0 || p.each.n == 0
                   ? 0
                   : scratch_bytes_of(backends_, p.each,
                                      algorithm_ ? *algorithm_ : choose_algorithm(backends_, available_, p));
  }
  KernelPtr another() const override {
    auto made = std::make_unique<F32MatmulKernel>(backends_, available_, products_, tuner_);
    made->algorithm_ = algorithm_, made->scratch_ = scratch_;
    return made;
  }
  size_t scratch() const override { return scratch_; }
  // Packs a frozen weight, if that is profitable.
  size_t prepack(const Launch* launch) override {
    const Product p = products_(launch).each;
    if (!p.b.data || launch->inputs[1].rank != 2 || !prepacking_is_profitable(backends_, products_(launch))) return 0;
    const int64_t floats = round_up(p.n, backends_.kernels.panel_columns) * p.k;
    const size_t bytes = static_cast<size_t>(floats) * sizeof(float);
    if (!panels_) panels_ = allocate_panels(bytes);
    backends_.kernels.pack(p.b, p.k, p.n, panels_.get());
    return bytes;
  }
  std::string chosen_algorithm() const override { return algorithm_ ? name(*algorithm_) : ""; }
  Status* run(const Launch* launch) const {
    if (panels_) return run_prepacked(backends_, launch, products_(launch), panels_.get());
    return run_products(backends_, available_, launch, products_(launch), algorithm_ ? &*algorithm_ : nullptr);
  }

 private:
  const Backends& backends_;
  const Available available_;
  const ProductsOf<float> products_;
  Autotuner* const tuner_;
  std::optional<Algorithm> algorithm_;  // none: the cost model chooses
  size_t scratch_ = 0;
  Panels panels_;  // of a frozen weight; otherwise null
};

}  // namespace thunder
