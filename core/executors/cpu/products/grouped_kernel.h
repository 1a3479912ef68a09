// Products of groups of rows: one after the other, each by the algorithm that its size asks for, on all threads.
#pragma once

#include "executors/cpu/products/algorithms.h"
#include "ir/shape.h"
#include "ops/groups.h"

namespace thunder {

template <class T>
class GroupedMatmulKernel : public Kernel {
 public:
  static constexpr Prim kOp = Prim::grouped_matmul;

  GroupedMatmulKernel(const Backends& m, Available a) : Kernel(this), backends_(m), available_(std::move(a)) {}

  // The size of each product if all groups have the same size.
  static GemmSize typical_gemm_size(const NodeView& view) {
    const auto sizes = [&](size_t arg) { return concrete(view.store.type(view.node.args[arg].v).shape); };
    const Sizes a = sizes(0), b = sizes(1), ends = sizes(2);
    const int64_t groups = std::max<int64_t>(1, ends[0]);
    return b.size() == 3 ? GemmSize{ceil_div(a[0], groups), b[2], a[1]} : GemmSize{a[0], b[1], ceil_div(a[1], groups)};
  }

  Status* run(const Launch* launch) const {
    const Buffer &a = launch->inputs[0], &b = launch->inputs[1], &ends = launch->inputs[2], &c = launch->outputs[0];
    const bool grouped_rows = b.rank == 3;
    const int32_t r = b.rank, along = grouped_rows ? 0 : 1;
    return each_group(ends, a.shape[along], [&](int64_t group, int64_t first, int64_t count) -> Status* {
      const bool none = group == ends.shape[0];  // these rows are zeros, or not summed
      if (none && !grouped_rows) return nullptr;
      BatchedProduct<T> p;
      p.each = {grouped_rows ? count : a.shape[0],
                b.shape[r - 1],
                none           ? 0
                : grouped_rows ? a.shape[1]
                               : count,
                {a.as<T>() + first * a.strides[along], a.strides[0], a.strides[1]},
                {b.as<T>() + (none ? 0 : grouped_rows ? group : first) * b.strides[0], b.strides[r - 2],
                 b.strides[r - 1]},
                c.as<T>() + (grouped_rows ? first : group) * c.strides[0],
                c.strides[c.rank - 2],
                false};
      return run_products(backends_, available_, launch, p);
    });
  }

 private:
  const Backends& backends_;
  const Available available_;
};

}  // namespace thunder
