// Reductions over dims, which vanish: sum, the extrema, and the place of the maximum.
#include <limits>

#include "ops/elementwise.h"
#include "ops/fold.h"

namespace thunder {
namespace {

void reduced_meta(const Call& c, Types& out) {
  TensorType t = c.type(0);
  Shape axes = c.axes(1, t.rank());
  for (size_t i = axes.size(); i-- > 0;) t.shape.erase(static_cast<size_t>(axes[i].value()));
  out.push(t);
}

// The input's shape with 1 for each reduced dim.
Shape kept_shape(const Grad& g) {
  Shape kept = g.type(0).shape;
  for (Dim axis : g.axes(1, kept.size())) kept[static_cast<size_t>(axis.value())] = 1;
  return kept;
}
Var expand_to_reduced(const Grad& g, Var reduced) {
  return expand_to(reshape_to(reduced, kept_shape(g)), g.type(0).shape);
}

// ---- sum ----

Status* sum_kernel(const KernelArgs& k) {
  by_dtype(k.out[0].dtype, [&](auto t) {
    using T = decltype(t);
    fold<SumFold<T>, T, T>(k.in[0], k.out[0], k.args[1].dim_list());
  });
  return nullptr;
}

// ---- amax, amin ----

template <class T, bool maximum>
struct ExtremumFold {
  using Sum = Compute<T>;
  using Limits = std::numeric_limits<Sum>;
  // The neutral element, which is also the result of no elements.
  static Sum start() {
    if constexpr (Limits::has_infinity) return maximum ? -Limits::infinity() : Limits::infinity();
    else return maximum ? Limits::lowest() : Limits::max();
  }
  static Sum step(Sum a, Sum b) {
    if constexpr (maximum) return a > b || a != a ? a : b;
    else return a < b || a != a ? a : b;
  }
};
template <bool maximum>
Status* extremum_kernel(const KernelArgs& k) {
  by_dtype(k.out[0].dtype, [&](auto t) {
    using T = decltype(t);
    fold<ExtremumFold<T, maximum>, T, T>(k.in[0], k.out[0], k.args[1].dim_list());
  });
  return nullptr;
}
// Elements that share the extremum share the cotangent evenly.
void extremum_vjp(Grad& g) {
  Var ties =
      computed(convert(g.builder.call(Prim::eq, {g.var(0), expand_to_reduced(g, g.result())}), g.type(0).dtype));
  Var share = computed(g.cotangent()) / g.builder.call(Prim::sum, {ties, g.args[1]});
  g.add(0, ties * expand_to_reduced(g, share));
}

// ---- argmax ----

void argmax_meta(const Call& c, Types& out) {
  TensorType t = c.type(0);
  const size_t axis = c.axis(1, t.rank());
  c.require(t.rank() == 0 || !(t.shape[axis] == Dim(0)), "dim ", c.integer(1), " of ", name(t),
            " has no elements, so no maximum");
  if (t.rank()) t.shape.erase(axis);
  t.dtype = DType::i64;
  out.push(t);
}
Status* argmax_kernel(const KernelArgs& k) {
  const Buffer &in = k.in[0], &out = k.out[0];
  const Dim axis = k.args[1].i;
  by_dtype(in.dtype, [&](auto t) {
    using T = decltype(t);
    FoldAxes axes(in, out, in.rank ? std::span(&axis, 1) : std::span<const Dim>());
    const int64_t stride = axes.gone.inner_stride();
    for (int64_t r = 0; r < axes.kept.count; r++, axes.kept.next(0)) {
      const T* row = in.as<T>() + axes.kept.offset;
      int64_t best = 0;
      Compute<T> top = row[0];
      for (int64_t i = 1; i < axes.gone.count && top == top; i++) {
        const Compute<T> v = row[i * stride];
        if (v > top || v != v) top = v, best = i;
      }
      out.as<int64_t>()[axes.kept.out_offset] = best;
    }
  });
  return nullptr;
}

constexpr OpRow kRows[] = {
    primitive(
        "prims.sum(tensor input, int[] dims) -> tensor",
        "Sum over dims, which vanish; bf16 and f32 are summed in a wider type and rounded once.", reduced_meta,
        sum_kernel, [](Grad& g) { g.add(0, expand_to_reduced(g, g.cotangent())); }, kReduction | kLinear),
    primitive("prims.amax(tensor input, int[] dims) -> tensor",
              "Maximum over dims, which vanish; NaN if any is; of no elements the lowest value.", reduced_meta,
              extremum_kernel<true>, extremum_vjp, kReduction),
    primitive("prims.amin(tensor input, int[] dims) -> tensor",
              "Minimum over dims, which vanish; NaN if any is; of no elements the highest value.", reduced_meta,
              extremum_kernel<false>, extremum_vjp, kReduction),
    primitive("prims.argmax(tensor input, int dim) -> tensor",
              "Index of the first maximum along dim, which vanishes; a NaN counts as the maximum.", argmax_meta,
              argmax_kernel, nullptr, kReduction, {.nondiff = "the result is an index"}),
};

}  // namespace

extern const OpRows reduce_prims_ops = kRows;

}  // namespace thunder
