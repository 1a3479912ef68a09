// Tensors taken apart along a dim, and joined after dims were added.
#include <algorithm>

#include "ops/bounds.h"
#include "ops/tables.h"

namespace thunder {
namespace {

using Ints = std::vector<int64_t>;

// ---- taken apart ----

Results unbind(Call& c) {
  Var x = c.var(0);
  c.require(x.rank() > 0, "a tensor of rank 0 has no dim to unbind");
  const size_t dim = c.axis(1, x.rank());
  const Dim n = x.shape()[dim];
  c.require(n.constant() && n.value() <= 1 << 20,
            "the number of results must be known while tracing and at most 1048576: dim ", dim, " of ", name(x.type()));
  Results parts;
  for (int64_t i = 0; i < n.value(); i++)
    parts.push_back(c.builder.call("select", {x, static_cast<int64_t>(dim), i}).id);
  c.require(!parts.empty(), "dim ", dim, " of ", name(x.type()), " has no elements");
  return parts;
}
// Windows of a dim, which come last.
Results unfold(Call& c) {
  Var x = c.var(0);
  const size_t dim = c.axis(1, x.rank());
  if (x.rank() == 0) {
    c.require(c.integer(2) == 0 || c.integer(2) == 1, "size ", c.integer(2), " does not fit a tensor of rank 0");
    return c.builder.call("slice", {reshape_to(x, Shape{1}), 0, 0, c.integer(2)});
  }
  return c.builder.call(Prim::unfold, {x, static_cast<int64_t>(dim), c.integer(2), c.integer(3)});
}

// Cuts into a number of nearly equal parts, or at given positions.
Results split_into_parts(Call& c, Var x, std::span<const Dim> given, size_t dim) {
  c.require(x.rank() > dim, "input must have at least rank ", dim + 1, ", got ", name(x.type()));
  const Dim n = x.shape()[dim];
  Results parts;
  if (given.size() == 1) {
    const int64_t sections = hint(given[0]);
    c.require(sections > 0 && sections <= 1 << 20, "the number of parts must be positive, got ", sections);
    Dim at = 0;
    for (int64_t i = 0; i < sections; i++) {
      const Dim end = at + n / Dim(sections) + Dim(i < hint(n % Dim(sections)));
      parts.push_back(slice(x, dim, at, end).id), at = end;
    }
    return parts;
  }
  Dim at = 0;
  for (size_t i = 0; i <= given.size(); i++) {
    const Dim end = i < given.size() ? bound(given[i], n) : n;
    parts.push_back(slice(x, dim, at, hint(end) < hint(at) ? at : end).id), at = end;
  }
  return parts;
}
Results tensor_split(Call& c) {
  return split_into_parts(c, c.var(0), c.dims(1), c.axis(2, c.type(0).rank()));
}
template <size_t dim>
Results split_along(Call& c) {
  Var x = c.var(0);
  const size_t at = dim == 1 && x.rank() == 1 ? 0 : dim;  // hsplit of a vector
  if (c.dims(1).size() == 1 && x.rank() > at)
    c.require(hint(c.dims(1)[0]) > 0 && hint(x.shape()[at]) % hint(c.dims(1)[0]) == 0, "sections ", name(c.dims(1)),
              " must divide dim ", at, " of ", name(x.type()));
  return split_into_parts(c, x, c.dims(1), at);
}

// ---- at least so many dims, and joins of such ----

Var raise_rank(Var x, size_t rank) {
  const Shape& s = x.shape();
  if (x.rank() >= rank) return x;
  if (rank == 1) return reshape_to(x, Shape{1});
  if (rank == 2) return reshape_to(x, x.rank() == 0 ? Shape{1, 1} : Shape{1, s[0]});
  return reshape_to(x, x.rank() == 0 ? Shape{1, 1, 1} : x.rank() == 1 ? Shape{1, s[0], 1} : Shape{s[0], s[1], 1});
}
template <size_t rank>
Results atleast(Call& c) {
  return raise_rank(c.var(0), rank);
}
// The tensors, with at least `rank` dims each, joined along a dim; vectors along their only one.
template <size_t rank, int64_t dim>
Results concat_with_rank(Call& c) {
  auto parts = c.vars(0);
  c.require(!parts.empty(), "needs at least one tensor");
  ValueList ids;
  for (Var v : parts) ids.push_back(raise_rank(v, rank).id);
  const bool vectors = c.builder.type(ids[0]).rank() == 1;
  return c.builder.call("cat", {ids, vectors ? 0 : dim});
}
// Vectors as columns, and matrices.
Results column_stack(Call& c) {
  auto parts = c.vars(0);
  c.require(!parts.empty(), "needs at least one tensor");
  ValueList ids;
  for (Var v : parts) ids.push_back((v.rank() < 2 ? reshape_to(v, Shape{elements(v.shape()), 1}) : v).id);
  return c.builder.call("cat", {ids, 1});
}
Results broadcast_tensors(Call& c) {
  auto parts = c.vars(0);
  Shape shape;
  try {
    for (Var v : parts) shape = broadcast(shape, v.shape());
  } catch (const Error& e) {
    c.require(false, e.message());
  }
  Results out;
  for (Var v : parts) out.push_back(expand_to(v, shape).id);
  c.require(!out.empty(), "needs at least one tensor");
  return out;
}
Results meshgrid(Call& c) {
  auto parts = c.vars(0);
  const bool xy = c.text(1) == "xy";
  c.require(xy || c.text(1) == "ij", "indexing must be 'ij' or 'xy', got '", c.text(1), "'");
  c.require(!parts.empty(), "needs at least one tensor");
  const size_t rank = parts.size();
  const auto axis = [&](size_t i) { return xy && i < 2 && rank > 1 ? 1 - i : i; };
  Shape shape(rank, 1);
  for (size_t i = 0; i < rank; i++) {
    c.require(parts[i].rank() <= 1, "tensors must be vectors, tensor ", i, " is ", name(parts[i].type()));
    shape[axis(i)] = parts[i].rank() ? parts[i].size(0) : Dim(1);
  }
  Results out;
  for (size_t i = 0; i < rank; i++)
    out.push_back(expand_to(along_axis(reshape_to(parts[i], Shape{shape[axis(i)]}), axis(i), rank), shape).id);
  return out;
}

// ---- samples ----

void sample_unbound(Samples& s) {
  s.add({TensorSpec{{3, 2}}});
  s.add({TensorSpec{{2, 3}}, -1});
  s.refuse({TensorSpec{{}}}, "rank 0");
}
void sample_windows(Samples& s) {
  s.add({TensorSpec{{2, 7}}, 1, 3, 2});
  s.add({TensorSpec{{5, 2}}, 0, 2, 1});
  s.refuse({TensorSpec{{2, 3}}, 1, 4, 1}, "do not fit");
  s.refuse({TensorSpec{{}}, 0, 2, 1}, "does not fit");
}
void sample_cuts(Samples& s) {
  s.add({TensorSpec{{7, 2}}, 3});
  s.add({TensorSpec{{2, 7}}, Ints{2, 5}, 1});
  s.refuse({TensorSpec{{4}}, 0}, "positive");
}
void sample_halves(Samples& s) {
  s.add({TensorSpec{{4, 6, 2}}, 2});
  s.add({TensorSpec{{4, 6, 4}}, Ints{1, 3}});
}
void sample_few_dims(Samples& s) {
  s.add({TensorSpec{{}}});
  s.add({TensorSpec{{3}}});
  s.add({TensorSpec{{2, 3}}});
}
void sample_joined(Samples& s) {
  s.add({std::vector<TensorSpec>{{{2, 3}}, {{2, 3}}}});
  s.add({std::vector<TensorSpec>{{{3}}, {{3}}}});
  s.refuse({std::vector<TensorSpec>{}}, "at least one");
}
void sample_broadcasts(Samples& s) {
  s.add({std::vector<TensorSpec>{{{2, 1}}, {{3}}}});
  s.refuse({std::vector<TensorSpec>{{{2}}, {{3}}}}, "broadcast");
}
void sample_grids(Samples& s) {
  s.add({std::vector<TensorSpec>{{{2}}, {{3}}}});
  s.add({std::vector<TensorSpec>{{{2}}, {{3}}, {{4}}}, "xy"});
  s.refuse({std::vector<TensorSpec>{{{2}}}, "yx"}, "'yx'");
}

constexpr OpRow kRows[] = {
    composite("unbind(tensor input, int dim=0) -> tensor[]", CastPolicy::none,
              "Views of each index of dim, which vanishes.", unbind, sample_unbound, kView),
    composite("unfold(tensor input, int dimension, int size, int step) -> tensor", CastPolicy::none,
              "The windows of a dim as a view, whose elements form a new last dim.", unfold, sample_windows, kView),
    composite("tensor_split(tensor input, int[] indices_or_sections, int dim=0) -> tensor[]", CastPolicy::none,
              "Views of a number of nearly equal parts along dim, or of those between indices.", tensor_split,
              sample_cuts, kView),
    composite("hsplit(tensor input, int[] indices_or_sections) -> tensor[]", CastPolicy::none,
              "tensor_split along the second dim, of a vector along its only one.", split_along<1>, sample_halves,
              kView),
    composite("vsplit(tensor input, int[] indices_or_sections) -> tensor[]", CastPolicy::none,
              "tensor_split along the first dim.", split_along<0>, sample_halves, kView),
    composite("dsplit(tensor input, int[] indices_or_sections) -> tensor[]", CastPolicy::none,
              "tensor_split along the third dim.", split_along<2>, sample_halves, kView),
    composite("atleast_1d(tensor input) -> tensor", CastPolicy::none, "The input with at least one dim.", atleast<1>,
              sample_few_dims, kView),
    composite("atleast_2d(tensor input) -> tensor", CastPolicy::none,
              "The input with at least two dims; those that are missing come first.", atleast<2>, sample_few_dims,
              kView | kReturnsSelf),
    composite("atleast_3d(tensor input) -> tensor", CastPolicy::none,
              "The input with at least three dims; a vector is the middle one.", atleast<3>, sample_few_dims,
              kView | kReturnsSelf),
    composite("hstack(tensor[] tensors) -> tensor", CastPolicy::none,
              "The tensors side by side along the second dim, vectors along their only one.", concat_with_rank<1, 1>,
              sample_joined),
    composite("vstack(tensor[] tensors) -> tensor", CastPolicy::none,
              "The tensors below each other along the first dim, vectors as rows.", concat_with_rank<2, 0>,
              sample_joined),
    composite("dstack(tensor[] tensors) -> tensor", CastPolicy::none,
              "The tensors behind each other along the third dim.", concat_with_rank<3, 2>, sample_joined),
    composite("column_stack(tensor[] tensors) -> tensor", CastPolicy::none,
              "Vectors as the columns of a matrix, matrices side by side.", column_stack, sample_joined),
    composite("row_stack(tensor[] tensors) -> tensor", CastPolicy::none, "Another name.", concat_with_rank<2, 0>,
              sample_joined, 0, {.alias_of = "vstack"}),
    composite("broadcast_tensors(tensor[] tensors) -> tensor[]", CastPolicy::none,
              "Views of the tensors under the shape to which they broadcast.", broadcast_tensors, sample_broadcasts,
              kView | kReturnsSelf),
    composite("meshgrid(tensor[] tensors, str indexing='ij') -> tensor[]", CastPolicy::none,
              "The coordinates of a grid: each vector along its own dim, repeated along the others.", meshgrid,
              sample_grids, kView),
};

}  // namespace

extern const OpRows pieces_ops = kRows;

}  // namespace thunder
