// Prepared products, one class for each element type.
#pragma once

#include <new>
#include <optional>

#include "executors/cpu/table_executor.h"
#include "executors/products/autotune.h"

namespace thunder {

// Operands' strides come with each call. `available`: the rows of the table that fit the node.
template <class T>
struct ProductOp : PreparedOp {
  using Products = BatchedProduct<T> (*)(const Launch*);
  ProductOp(const Backends& m, Available a, Products p) : backends(m), available(std::move(a)), products(p) {}
  const Backends& backends;
  const Available available;
  const Products products;

  Status* run(const Launch* launch) const override {
    return run_products(backends, available, launch, products(launch));
  }
};

class F32ProductOp : public ProductOp<float> {
 public:
  // `tuner`: null: the cost model chooses.
  F32ProductOp(const Backends& m, Available a, Products p, Autotuner* tuner)
      : ProductOp(m, std::move(a), p), tuner_(tuner) {}

  void lay_out(const NodeView& view, size_t* scratch_bytes) override {
    try {
      if (tuner_) algorithm_ = tuner_->algorithm(available, products, view.inputs, view.outputs);
    } catch (const std::bad_alloc&) {  // no memory for timing: the cost model chooses
    }
    const Launch launch = launch_on(view.inputs, view.outputs);
    BatchedProduct<float> p = products(&launch);
    p.simplify();
    *scratch_bytes =
        p.each.m == 0 || p.each.n == 0
            ? 0
            : scratch_of(backends, p.each, algorithm_ ? *algorithm_ : algorithm_of(backends, available, p));
  }
  // Packs a frozen weight, if that is profitable.
  void prepack(const Launch* launch, size_t* kept_bytes) override {
    const Product p = products(launch).each;
    if (!p.b.data || launch->inputs[1].rank != 2 || !prepacking_is_profitable(backends, products(launch))) return;
    const int64_t floats = round_up(p.n, backends.kernels.panel_columns) * p.k;
    *kept_bytes = static_cast<size_t>(floats) * sizeof(float);
    if (!panels_) panels_ = make_panels(*kept_bytes);
    backends.kernels.pack(p.b, p.k, p.n, panels_.get());
  }
  Status* run(const Launch* launch) const override {
    if (panels_) return run_packed(backends, launch, products(launch), panels_.get());
    return run_products(backends, available, launch, products(launch), algorithm_ ? &*algorithm_ : nullptr);
  }

 private:
  Autotuner* const tuner_;
  std::optional<Algorithm> algorithm_;  // none: the cost model chooses
  Panels panels_;                       // of a frozen weight; otherwise null
};

}  // namespace thunder
