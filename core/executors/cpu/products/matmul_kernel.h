// Matrix products, one class for each element type.
#pragma once

#include <new>
#include <optional>

#include "executors/cpu/table_executor.h"
#include "executors/cpu/products/autotune.h"
#include "program/kernel_texts.h"

namespace thunder {

// An op that is a product, or products.
template <class T>
struct ProductOp {
  const Backends& backends;
  Precision precision;
  BatchedProduct<T> (*products)(const Launch*);
  // By the sizes of its operands alone; null: its kernels are prepared for each size.
  GemmSize (*size)(std::span<const int64_t> a, std::span<const int64_t> b);

  // The rows of the table that fit such a product.
  Available rows_that_fit(const GemmSize& of) const { return rows_for(algorithms<T>(), backends, precision, of); }
};

// Kernels of an op for the sizes of a class: the algorithms that fit are chosen for each.
template <class Made, class T, class... Options>
class MatmulKernelOfClass : public KernelOfClass {
 public:
  explicit MatmulKernelOfClass(const ProductOp<T>& op, Options... options) : op_(op), options_(options...) {}
  KernelPtr kernel_for(const SizedLine& line) const override {
    const auto sizes = [](const Buffer& b) { return std::span(b.shape, static_cast<size_t>(b.rank)); };
    Available fit = op_.rows_that_fit(op_.size(sizes(line.inputs[0]), sizes(line.inputs[1])));
    auto made = std::apply([&](auto... all) { return std::make_unique<Made>(op_, std::move(fit), all...); }, options_);
    made->lay_out(line.inputs, line.outputs);
    return made;
  }

 private:
  const ProductOp<T> op_;
  const std::tuple<Options...> options_;
};

// Operands' strides come with each call. `available`: the rows of the table that fit the node.
template <class T>
class MatmulKernel : public Kernel {
 public:
  MatmulKernel(const ProductOp<T>& op, Available a) : Kernel(this), op_(op), available_(std::move(a)) {
    add_flags(kShareable);
  }
  void lay_out(std::span<const Buffer>, std::span<const Buffer>) {}

  std::unique_ptr<const KernelOfClass> of_class(const LineView&) const override {
    return op_.size ? std::make_unique<MatmulKernelOfClass<MatmulKernel, T>>(op_) : nullptr;
  }
  Status* run(const Launch* launch) const {
    return run_products(op_.backends, available_, launch, op_.products(launch));
  }

 private:
  const ProductOp<T> op_;
  const Available available_;
};

class F32MatmulKernel : public Kernel, public KernelTexts {
 public:
  // `tuner`: null: the cost model chooses.
  F32MatmulKernel(const ProductOp<float>& op, Available a, Autotuner* tuner)
      : Kernel(this), op_(op), available_(std::move(a)), tuner_(tuner) {
    add_flags(kShareable | kPacks);
  }

  void adapt_to_layouts(const NodeView& view) override { lay_out(view.inputs, view.outputs); }
  void lay_out(std::span<const Buffer> inputs, std::span<const Buffer> outputs) {
    try {
      if (tuner_) algorithm_ = tuner_->algorithm(available_, op_.products, inputs, outputs);
    } catch (const std::bad_alloc&) {  // no memory for timing: the cost model chooses
    }
    const Launch launch = launch_on(inputs, outputs);
    BatchedProduct<float> p = op_.products(&launch);
    p.simplify();
    scratch_ = p.each.m == 0 || p.each.n == 0
                   ? 0
                   : scratch_bytes_of(op_.backends, p.each,
                                      algorithm_ ? *algorithm_ : choose_algorithm(op_.backends, available_, p));
  }
  std::unique_ptr<const KernelOfClass> of_class(const LineView&) const override {
    if (!op_.size) return nullptr;
    return std::make_unique<MatmulKernelOfClass<F32MatmulKernel, float, Autotuner*>>(op_, tuner_);
  }
  size_t scratch() const override { return scratch_; }
  // Packs a frozen weight, if that is profitable.
  size_t prepack(const Launch* launch) override {
    const Product p = op_.products(launch).each;
    if (!p.b.data || launch->inputs[1].rank != 2 || !prepacking_is_profitable(op_.backends, op_.products(launch)))
      return 0;
    const ProductKernels& kernels = op_.backends.kernels;
    const int64_t floats = round_up(p.n, kernels.panel_columns) * p.k;
    const size_t bytes = static_cast<size_t>(floats) * sizeof(float);
    if (!panels_) panels_ = allocate_panels(bytes);
    kernels.pack(p.b, p.k, p.n, panels_.get());
    return bytes;
  }
  std::string chosen_algorithm() const override { return algorithm_ ? name(*algorithm_) : ""; }
  Status* run(const Launch* launch) const {
    if (panels_) return run_prepacked(op_.backends, launch, op_.products(launch), panels_.get());
    return run_products(op_.backends, available_, launch, op_.products(launch), algorithm_ ? &*algorithm_ : nullptr);
  }

 private:
  const ProductOp<float> op_;
  const Available available_;
  Autotuner* const tuner_;
  std::optional<Algorithm> algorithm_;  // none: the cost model chooses
  size_t scratch_ = 0;
  Panels panels_;  // of a frozen weight; otherwise null
};

}  // namespace thunder
