// Writing by index under PyTorch's names: scatter, index_add and their relatives, and reading by flat index.
#include "ops/bounds.h"
#include "ops/builder.h"
#include "ops/extremes.h"
#include "ops/indices.h"
#include "ops/tables.h"

namespace thunder {
namespace {

// ---- scatter ----

// src as large as index: a number, or the front of a tensor.
Var checked_source(const Call& c, size_t param, Var x, Var index) {
  if (is_plain_number(c, param)) return expand_to(convert_checked(c, param, x.dtype()), index.shape());
  Var src = c.var(param);
  c.require(src.dtype() == x.dtype(), "input and src must have one dtype; ", c.types());
  c.require(src.rank() == index.rank(), "src must have the rank of index; ", c.types());
  for (size_t i = 0; i < index.rank(); i++)
    c.require(hint(index.shape()[i]) <= hint(src.shape()[i]), "src must be at least as large as index; ", c.types());
  return c.builder.call(Prim::slice, {src, Shape(index.rank(), 0), index.shape(), Shape(index.rank(), 1)});
}
// The places of an index along dim as an index for every dim.
ValueList indices_of_all_dims(Var index, size_t dim) {
  ValueList ids;
  for (size_t i = 0; i < index.rank(); i++)
    ids.push_back(i == dim
                      ? index.id
                      : expand_to(counted_along(*index.builder, index.shape()[i], i, index.rank(), index.type().device),
                                  index.shape())
                            .id);
  return ids;
}
// The index itself, of which what is out of range is refused: what writes by several indices counts negative ones from
// the end.
Var checked_index(const Call& c, Var index, Dim size) {
  Var all = c.builder.call(Prim::iota, {Shape{size}, DType::i64, index.type().device});
  return c.builder.call(Prim::take, {all, 0, index});
}
In added_source(const Call& c, Var x, Var index) {
  if (!is_plain_number(c, 3)) return c.args[3];
  return checked_source(c, 3, x, index);
}
Results scatter(Call& c) {
  Var x = c.var(0), index = c.var(2);
  const size_t dim = c.axis(1, x.rank());
  if (c.has(4))
    return c.builder.call("scatter_reduce", {x, c.integer(1), index, added_source(c, x, index),
                                             c.text(4) == "add"        ? "sum"
                                             : c.text(4) == "multiply" ? "prod"
                                                                       : c.text(4)});
  require_index(c, 2);
  require_along(c, x.type(), index.type(), dim);
  const Shape shape = x.shape();
  index = convert(index, DType::i64);
  Var src = checked_source(c, 3, x, index);
  x = at_least_one_dim(x), index = at_least_one_dim(index), src = at_least_one_dim(src);
  index = checked_index(c, index, x.shape()[dim]);
  return reshape_to(c.builder.call(Prim::index_put, {x, indices_of_all_dims(index, dim), src, false}), shape);
}
Results scatter_reduce(Call& c) {
  Var x = c.var(0), index = c.var(2);
  const std::string_view how = c.text(4);
  const bool known = how == "sum" || how == "mean" || how == "prod" || how == "amax" || how == "amin";
  c.require(known, "reduce must be 'sum', 'mean', 'prod', 'amax' or 'amin', got '", how, "'");
  const DType dtype = x.dtype(), wide = compute_dtype(dtype);
  require_index(c, 2);
  require_along(c, x.type(), index.type(), c.axis(1, x.rank()));
  Var src = convert(checked_source(c, 3, x, index), wide);
  x = convert(x, wide);
  const auto added = [&](Var to, Var what) {
    return c.builder.call(Prim::scatter_add, {to, c.integer(1), index, what});
  };
  // How many meet in a place may be more than a narrow integer counts to.
  const DType counts = is_integer(wide) ? DType::i64 : wide;
  const auto one = [&](Var like, double value) {
    return full(c.builder, like.shape(), value, counts, like.type().device);
  };
  Var hits;
  if (how == "mean" || !c.flag(5)) hits = added(one(x, 0), one(src, 1));
  if (!c.flag(5)) {
    // Elements that are overwritten start from the neutral element.
    const double start = how == "prod" ? 1 : how == "amax" ? least_of(wide) : how == "amin" ? greatest_of(wide) : 0;
    x = where(gt(hits, 0), full_like(x, start), x);
  }
  Var y;
  if (how == "sum" || how == "mean")
    y = added(x, src);
  else
    y = c.builder.call(Prim::scatter_reduce, {x, c.integer(1), index, src, how});
  if (how == "mean") {
    Var n = maximum(c.flag(5) ? hits + full_like(hits, 1) : hits, full_like(hits, 1));
    y = is_integer(wide) ? c.builder.call("div", {convert(y, counts), n, "floor"}) : y / n;
  }
  return convert(y, dtype);
}

// ---- parts stored ----

Results select_scatter(Call& c) {
  Var x = c.var(0), src = c.var(1);
  const size_t dim = c.axis(2, x.rank());
  c.require(x.rank() > 0, "input must have at least one dim");
  const Dim n = x.shape()[dim], given = c.integer_dim(3), at = hint(given) < 0 ? given + n : given;
  if (hint(at) < 0 || hint(at) >= hint(n)) fail_out_of_range(c, given, dim, n);
  Shape starts(x.rank(), 0), ends = x.shape(), part = x.shape();
  starts[dim] = at, ends[dim] = at + 1, part[dim] = 1;
  c.require(hint(elements(part)) == hint(elements(src.shape())), "src must have the shape of what select gives; ",
            c.types());
  return c.builder.call(Prim::slice_scatter,
                        {x, reshape_to(convert(src, x.dtype()), part), starts, ends, Shape(x.rank(), 1)});
}
Results slice_scatter(Call& c) {
  Var x = c.var(0);
  const size_t dim = c.axis(2, x.rank());
  c.require(x.rank() > 0, "input must have at least one dim");
  c.require(c.integer(5) > 0, "step must be positive, got ", c.integer(5));
  const Dim n = x.shape()[dim], start = c.has(3) ? bound(c.integer_dim(3), n) : Dim(0);
  const Dim stop = c.has(4) ? bound(c.integer_dim(4), n) : n, end = hint(stop) < hint(start) ? start : stop;
  Shape starts(x.rank(), 0), ends = x.shape(), steps(x.rank(), 1);
  starts[dim] = start, ends[dim] = end, steps[dim] = c.integer(5);
  return c.builder.call(Prim::slice_scatter, {x, convert(c.var(1), x.dtype()), starts, ends, steps});
}
// The next element of source for each place where the mask holds.
Results masked_scatter(Call& c) {
  Var x = c.var(0), mask = c.var(1), src = c.var(2);
  c.require(mask.dtype() == DType::boolean && src.dtype() == x.dtype(),
            "mask must be bool, and source of input's dtype; ", c.types());
  const Shape shared = broadcast(x.shape(), mask.shape());
  x = expand_to(x, shared), mask = expand_to(mask, shared);
  const Shape flat{elements(shared)};
  Var before = c.builder.call("cumsum", {convert(reshape_to(mask, flat), DType::i64), 0});
  Var taken = c.builder.call(Prim::take, {reshape_to(src, Shape{elements(src.shape())}), 0, maximum(before - 1, 0)});
  return where(mask, reshape_to(taken, shared), x);
}

// ---- reading ----

Results take(Call& c) {
  Var x = c.var(0), index = c.var(1);
  require_index(c, 1);
  const Dim n = elements(x.shape());
  Var from_front = where(lt(index, 0), index + hint(n), index);
  return c.builder.call(Prim::take, {reshape_to(x, Shape{n}), 0, from_front});
}
Results take_along_dim(Call& c) {
  Var x = c.var(0), index = c.var(1);
  require_index(c, 1);
  if (!c.has(2))
    return c.builder.call(Prim::gather, {reshape_to(x, Shape{elements(x.shape())}), 0,
                                           reshape_to(index, Shape{elements(index.shape())})});
  const size_t dim = c.axis(2, x.rank());
  c.require(x.rank() == index.rank(), "input and indices must have one rank; ", c.types());
  if (is_signed(index.dtype())) index = where(lt(index, 0), index + hint(x.shape()[dim]), index);
  Shape a = x.shape(), b = index.shape();
  a[dim] = b[dim] = 1;
  const Shape shared = broadcast(a, b);
  Shape to_x = shared, to_index = shared;
  to_x[dim] = x.shape()[dim], to_index[dim] = index.shape()[dim];
  return c.builder.call(Prim::gather, {expand_to(x, to_x), static_cast<int64_t>(dim), expand_to(index, to_index)});
}

// ---- samples ----

// Rows that differ, so that it does not matter which comes last.
void sample_scatters(Samples& s) {
  s.add({TensorSpec{{3, 4}}, 1, TensorSpec{{3, 1}, DType::i64, 0, 3}, TensorSpec{{3, 1}}});
  s.add({TensorSpec{{3, 4}}, 0, TensorSpec{{1, 3}, DType::i64, 0, 2}, TensorSpec{{2, 4}}});
  s.add({TensorSpec{{3, 4}}, -1, TensorSpec{{3, 2}, DType::i64, 0, 3}, 1.5});
  s.refuse({TensorSpec{{3, 4}}, 1, below({3, 2}, 4), TensorSpec{{3, 1}}}, "at least as large");
  s.refuse({TensorSpec{{3}}, 0, TensorSpec{{2}, DType::i64, 3, 3}, 1.0}, "out of range");
  s.refuse({TensorSpec{{3}}, 0, TensorSpec{{2}, DType::i64, -1, -1}, 1.0}, "index -1 is out of range for dim 0");
}
void sample_reductions(Samples& s) {
  for (const char* how : {"sum", "mean", "prod", "amax", "amin"}) {
    s.add({TensorSpec{{3, 4}}, 1, below({3, 2}, 4), TensorSpec{{3, 2}}, how});
    s.add({TensorSpec{{3, 4}}, 0, below({2, 4}, 3), TensorSpec{{2, 4}}, how, false});
  }
  s.refuse({TensorSpec{{3}}, 0, below({2}, 3), TensorSpec{{2}}, "median"}, "'median'");
}
void sample_selected(Samples& s) {
  s.add({TensorSpec{{4, 3}}, TensorSpec{{3}}, 0, -1});
  s.refuse({TensorSpec{{4, 3}}, TensorSpec{{3}}, 0, 4}, "index 4");
  s.refuse({TensorSpec{{}}, TensorSpec{{}}, 0, 0}, "at least one dim");
}
void sample_sliced(Samples& s) {
  s.add({TensorSpec{{5, 3}}, TensorSpec{{2, 3}}, 0, 1, 5, 2});
  s.add({TensorSpec{{2, 4}}, TensorSpec{{2, 2}}, 1, -2});
  s.refuse({TensorSpec{{}}, TensorSpec{{}}}, "at least one dim");
}
void sample_masked(Samples& s) {
  s.add({TensorSpec{{2, 3}}, TensorSpec{{2, 3}, DType::boolean, 0, 1}, TensorSpec{{6}}});
}
void sample_flat(Samples& s) {
  s.add({TensorSpec{{4, 3}}, TensorSpec{{2, 2}, DType::i64, -12, 11}});
  s.refuse({TensorSpec{{4}}, TensorSpec{{1}, DType::i64, 4, 4}}, "out of range");
}
void sample_along(Samples& s) {
  s.add({TensorSpec{{4, 3}}, below({1, 3}, 4), 0});
  s.add({TensorSpec{{4, 1}}, below({4, 2}, 1), 1});
  s.add({TensorSpec{{4, 3}}, below({5}, 12)});
}

constexpr OpRow kRows[] = {
    composite(
        "scatter(tensor input, int dim, tensor index, tensor|number src, str? reduce=None) -> tensor", CastPolicy::none,
        "input with src stored at index along dim; of equal indices the last one stays, or reduce 'add' or 'multiply' "
        "joins them.",
        scatter, sample_scatters, kInplace),
    composite(
        "scatter_reduce(tensor input, int dim, tensor index, tensor src, str reduce, bool include_self=True) -> tensor",
        CastPolicy::none,
        "input with the sum, mean, product or extremum of itself (unless include_self is false) and src at index along "
        "dim.",
        scatter_reduce, sample_reductions, kInplace),
    composite("select_scatter(tensor input, tensor src, int dim, int index) -> tensor", CastPolicy::none,
              "A copy of input with src at one index of dim.", select_scatter, sample_selected),
    composite(
        "slice_scatter(tensor input, tensor src, int dim=0, int? start=None, int? end=None, int step=1) -> tensor",
        CastPolicy::none, "A copy of input with src at start:end:step of dim.", slice_scatter, sample_sliced),
    composite("masked_scatter(tensor input, tensor mask, tensor source) -> tensor", CastPolicy::none,
              "input with the elements of source, one after the other, where mask holds.", masked_scatter,
              sample_masked, kInplace),
    composite("take(tensor input, tensor index) -> tensor", CastPolicy::none,
              "The elements at index of the flattened input.", take, sample_flat),
    composite("take_along_dim(tensor input, tensor indices, int? dim=None) -> tensor", CastPolicy::none,
              "The elements at indices along dim; the other dims broadcast.", take_along_dim, sample_along),
};

}  // namespace

extern const OpRows scatter_ops = kRows;

}  // namespace thunder
