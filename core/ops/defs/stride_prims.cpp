// The views that go along two dims at once, or twice along one: diagonals and windows, and the writes through them.
#include "base/checked.h"
#include "ops/batch.h"
#include "ops/grad.h"
#include "ops/kernels.h"
#include "ops/tables.h"

namespace thunder {
namespace {

// ---- diagonal ----

struct Diagonal {
  size_t a, b;          // its dims
  int64_t left, above;  // where it begins
};
Diagonal read_diagonal(std::span<const Arg> args, size_t rank) {
  const int64_t offset = args[1].i;
  return {normalize_axis(args[2].i, rank), normalize_axis(args[3].i, rank),
          std::max<int64_t>(checked_sub(0, offset), 0), std::max<int64_t>(offset, 0)};
}
Dim diagonal_length(const Diagonal& d, Dim rows, Dim columns) {
  const Dim below = rows - d.left, right = columns - d.above, least = hint(below) <= hint(right) ? below : right;
  return hint(least) < 0 ? Dim(0) : least;
}

void diagonal_meta(const Call& c, Types& out) {
  TensorType t = c.type(0);
  const size_t rank = t.rank(), a = c.axis(2, rank), b = c.axis(3, rank);
  c.require(rank >= 2 && a != b, "needs two different dims; ", c.types());
  const Dim length = diagonal_length(read_diagonal(c.args, rank), t.shape[a], t.shape[b]);
  t.shape.erase(std::max(a, b)), t.shape.erase(std::min(a, b));
  t.shape.push_back(length);
  out.push(t);
}
template <class Size>
bool diagonal_view(std::span<const Size> sizes, std::span<const Arg> args, std::span<const Size>, ViewAt<Size>& v) {
  const Diagonal d = read_diagonal(args, sizes.size());
  v.offset = v.offset + Size(d.left) * v.strides[d.a] + Size(d.above) * v.strides[d.b];
  SmallVector<Size, 6> strides;
  for (size_t i = 0; i < sizes.size(); i++)
    if (i != d.a && i != d.b) strides.push_back(v.strides[i]);
  strides.push_back(v.strides[d.a] + v.strides[d.b]);
  v.strides = strides;
  return true;
}
// `base` with its diagonal replaced.
Var with_diagonal(const Call& c, Var base, Var written) {
  Builder& b = c.builder;
  const size_t rank = base.rank();
  const Diagonal d = read_diagonal(c.args, rank);
  Shape order, back(rank, 0);
  for (size_t i = 0; i < rank; i++)
    if (i != d.a && i != d.b) order.push_back(static_cast<int64_t>(i));
  order.push_back(static_cast<int64_t>(d.a)), order.push_back(static_cast<int64_t>(d.b));
  for (size_t i = 0; i < rank; i++) back[static_cast<size_t>(order[i].value())] = static_cast<int64_t>(i);
  base = permute_to(base, order);
  const Dim rows = base.size(-2), length = written.size(-1);
  if (length == Dim(0)) return permute_to(base, back);
  Shape low(rank - 1, 0), high(rank - 1, 0), column = base.shape();
  low[rank - 2] = d.left, high[rank - 2] = rows - d.left - length;
  if (hint(rows) > hint(length)) written = b.call(Prim::pad, {written, low, high, 0.0});
  column[rank - 1] = 1;
  const Device device = base.type().device;
  Var row = counted_along(b, rows, 0, 2, device) + c.integer(1), at = counted_along(b, base.size(-1), 1, 2, device);
  Var there = b.call("eq", {row, at});
  return permute_to(where(there, expand_to(reshape_to(written, column), base.shape()), base), back);
}
Results batch_diagonal(Batch& b) {
  const size_t rank = b.rank(0);
  return b.invoke_same_op({b.operand(0), b.integer(1), static_cast<int64_t>(b.axis(2, rank) + 1),
                           static_cast<int64_t>(b.axis(3, rank) + 1)});
}

// ---- windows ----

void unfold_meta(const Call& c, Types& out) {
  TensorType t = c.type(0);
  const int64_t size = c.integer(2), step = c.integer(3);
  c.require(t.rank() > 0, "input must have a dim, got ", name(t));
  const size_t dim = c.axis(1, t.rank());
  const Dim n = t.shape[dim];
  c.require(size >= 0 && size <= hint(n) && step > 0, "size ", size, " and step ", step, " do not fit dim ", dim,
            " of size ", name(n));
  t.shape[dim] = (n - size) / Dim(step) + 1;
  t.shape.push_back(size);
  out.push(t);
}
template <class Size>
bool unfold_view(std::span<const Size> sizes, std::span<const Arg> args, std::span<const Size> to, ViewAt<Size>& v) {
  const size_t dim = normalize_axis(args[1].i, sizes.size());
  v.strides.push_back(v.strides[dim]);
  // No step is made along an axis of one element, and a step of any length may be asked for there.
  if (is_less(1, to[dim])) v.strides[dim] = v.strides[dim] * Size(args[3].i);
  return true;
}
// Moves the last dim next to the dim that it was taken from, or back.
Var move_last_beside(Var x, size_t dim, bool back) {
  Shape order;
  const auto last = static_cast<int64_t>(x.rank()) - 1, at = static_cast<int64_t>(dim) + 1;
  for (int64_t i = 0; i <= last; i++) order.push_back(i);
  if (back) order.erase(static_cast<size_t>(at)), order.push_back(at);
  else order.erase(static_cast<size_t>(last)), order.insert(static_cast<size_t>(at), last);
  return permute_to(x, order);
}
void unfold_vjp(Grad& g) {
  const size_t dim = g.axis(1, g.type(0).rank());
  Var ct = computed(g.cotangent());
  const Device device = ct.type().device;
  const Dim windows = ct.shape()[dim], size = ct.size(-1);
  Var first = counted_along(g.builder, windows, 0, 2, device) * g.integer(3);
  Var places = first + counted_along(g.builder, size, 1, 2, device);
  Var zeros = expand_to(full(g.builder, {}, 0, ct.dtype(), device), g.type(0).shape);
  g.add(0,
        g.builder.call(Prim::take_add, {zeros, static_cast<int64_t>(dim), places, move_last_beside(ct, dim, false)}));
}
// Every step-th element of the base from the i-th on is the i-th of the windows.
ValueId write_through_unfold(Call& c, ValueId base, ValueId written) {
  Builder& b = c.builder;
  const TensorType type = c.type(0);
  const size_t dim = c.axis(1, type.rank());
  const int64_t size = c.integer(2), step = c.integer(3);
  Var all = b.var(written), out = b.var(base);
  const int64_t windows = all.shape()[dim].value();
  require(step >= size || windows <= 1, "cannot write in place to windows of ", size, " elements that begin every ",
          step, ": several of their elements share one place in memory; clone them first");
  const auto set = [&](Var value, int64_t start, int64_t end, int64_t stride) {
    Shape starts(type.rank(), 0), ends = type.shape, strides(type.rank(), 1);
    starts[dim] = start, ends[dim] = end, strides[dim] = stride;
    out = b.call(Prim::slice_scatter, {out, value, starts, ends, strides});
  };
  if (step == size || windows <= 1) {
    Shape whole = type.shape;
    whole[dim] = windows * size;
    set(reshape_to(move_last_beside(all, dim, false), whole), 0, windows * size, 1);
    return out.id;
  }
  for (int64_t i = 0; i < size; i++)
    set(b.call("select", {all, -1, i}), i, i + (windows - 1) * step + 1, step);
  return out.id;
}
Results batch_unfold(Batch& b) {
  return b.invoke_same_op({b.operand(0), static_cast<int64_t>(b.axis(1, b.rank(0)) + 1), b.integer(2), b.integer(3)});
}

// ---- samples ----

void sample_diagonals(Samples& s) {
  s.add({TensorSpec{{3, 4}}, 0, 0, 1});
  s.add({TensorSpec{{2, 4, 3}}, -1, 2, 1});
  s.add({TensorSpec{{4, 2, 3}}, 1, 0, 2});
  s.add({TensorSpec{{2, 3}}, 5, 0, 1});
  s.refuse({TensorSpec{{3, 4}}, 0, 1, 1}, "two different dims");
}
void sample_windows(Samples& s) {
  s.add({TensorSpec{{2, 7}}, 1, 3, 2});
  s.add({TensorSpec{{7, 2}}, 0, 2, 3});
  s.add({TensorSpec{{6, 2}}, 0, 3, 3});
  s.add({TensorSpec{{4}}, 0, 0, 2});
  s.refuse({TensorSpec{{2, 3}}, 1, 4, 1}, "do not fit");
}

constexpr OpRow kRows[] = {
    checked({.schema = "prims.diagonal(tensor input, int offset, int dim1, int dim2) -> tensor",
             .doc = "The elements on a diagonal of two dims, as a new last dim, without a copy.",
             .meta = diagonal_meta,
             .reference = copy_view<diagonal_view<int64_t>>,
             .vjp = [](Grad& g) { g.add(0, with_diagonal(g, full_like(g.var(0), 0), g.cotangent())); },
             .batch = batch_diagonal,
             .view = {diagonal_view, diagonal_view},
             .write_through = [](Call& c, ValueId base, ValueId written) {
               return with_diagonal(c, c.builder.var(base), c.builder.var(written)).id;
             },
             .samples = sample_diagonals,
             .tags = kLinear}),
    checked({.schema = "prims.unfold(tensor input, int dim, int size, int step) -> tensor",
             .doc = "The windows of a dim, whose elements form a new last dim, without a copy.",
             .meta = unfold_meta,
             .reference = copy_view<unfold_view<int64_t>>,
             .vjp = unfold_vjp,
             .batch = batch_unfold,
             .view = {unfold_view, unfold_view},
             .write_through = write_through_unfold,
             .samples = sample_windows,
             .tags = kLinear}),
};

}  // namespace

extern const OpRows stride_prims_ops = kRows;

}  // namespace thunder
