// Formulas that the declarations of several composites share.
#pragma once

#include "ir/prim.h"
#include "ops/builder.h"

namespace thunder {

// To avoid rounding twice, reals narrower than f32 are computed in f32 and converted once at the end, in a gradient by
// Grad::add.
inline Var computed(Var x) { return x ? convert(x, compute_dtype(x.dtype())) : x; }

inline Var exp(Var x) { return x.builder->call(Prim::exp, {x}); }
inline Var log(Var x) { return x.builder->call(Prim::log, {x}); }
inline Var rsqrt(Var x) { return x.builder->call(Prim::rsqrt, {x}); }
inline Var matmul(Var a, Var b) { return a.builder->call("matmul", {a, b}); }
// Broadcasts and promotes.
inline Var where(Var condition, In then, In otherwise) {
  return condition.builder->call("where", {condition, then, otherwise});
}

inline void require_real(const Call& c) {
  c.require(is_real(c.type(0).dtype), "input must be real, got ", name(c.type(0)));
}

// The axis as a list; an empty list for a 0-d tensor, which has no axis.
Shape axis_list(int64_t axis, size_t rank);
// The last `count` of `rank` axes.
Shape last_axes(size_t count, size_t rank);
// All axes of `rank` but one.
Shape all_but(size_t axis, size_t rank);

// Reductions over `axes`, which stay with size 1. Without axes, x itself.
Var sum_kept(Var x, std::span<const Dim> axes);
Var max_kept(Var x, std::span<const Dim> axes);
Var mean_kept(Var x, std::span<const Dim> axes);
// The mean of the squared differences from `mean`: in two passes, to avoid cancellation.
Var variance_kept(Var x, Var mean, std::span<const Dim> axes);
// The number of elements in `dims` as a 0-d tensor of like's dtype, also when they are symbolic.
Var count(Var like, std::span<const Dim> dims);

// The reduction of a loss over its rows.
enum class Reduction { none, mean, sum };
Reduction reduction_of(const Call& c, size_t param);
// The weight of each element of a loss, in its dtype; empty where none is given.
Var loss_weight(const Call& c, size_t param, Var loss);

// 0, 1, 2 ... along `axis` of `rank` axes, size 1 elsewhere.
Var counted_along(Builder& b, Dim size, size_t axis, size_t rank, Device device);
// One size, for `axis` of `rank` axes and 1 elsewhere: a vector that broadcasts along one axis.
Var along_axis(Var vector, size_t axis, size_t rank);
Var swap_last_two(Var x);
// The axis moved to place 1, and back from there.
Var to_second(Var x, size_t axis);
Var from_second(Var x, size_t axis);

}  // namespace thunder
