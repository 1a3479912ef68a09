// Reading, writing and choosing elements by tensors of indices or masks, under PyTorch's names.
#include <algorithm>

#include "base/text.h"
#include "ir/prim.h"
#include "ops/grad.h"
#include "ops/numbers.h"
#include "ops/places.h"
#include "ops/samples.h"

namespace thunder {
namespace {

Results gather(Call& c) {
  Var x = c.var(0), index = c.var(2);
  const Shape shape = index.shape();
  if (x.rank() == 0 && index.rank() == 1) x = reshape_to(x, Shape{1});
  if (x.rank() == 1 && index.rank() == 0) index = reshape_to(index, Shape{1});
  return reshape_to(c.builder.call(Prim::gather, {x, c.integer(1), index}), shape);
}

Results scatter_add(Call& c) {
  // bf16 is summed in f32 and rounded once.
  const DType dtype = c.type(0).dtype, computed = compute_dtype(dtype);
  c.require(dtype == c.type(3).dtype, "input and src must have one dtype; ", c.types());
  Var sum = c.builder.call(Prim::scatter_add,
                           {convert(c.var(0), computed), c.integer(1), c.var(2), convert(c.var(3), computed)});
  return convert(sum, dtype);
}

Results index_select(Call& c) {
  Var x = c.var(0), index = c.var(2);
  c.require(index.rank() <= 1, "index must have rank 0 or 1; ", c.types());
  const Shape shape = x.shape();
  if (x.rank() == 0) x = reshape_to(x, Shape{1});
  index = reshape_to(index, Shape{elements(index.shape())});
  Var taken = c.builder.call(Prim::take, {x, static_cast<int64_t>(c.axis(1, shape.size())), index});
  if (shape.empty()) {
    c.require(taken.shape()[0] == Dim(1), "a tensor of rank 0 can be indexed by one index, got ",
              name(taken.shape()[0]));
    return reshape_to(taken, shape);
  }
  return taken;
}

// A mask for dims of the input from `dim` on, which must be of their sizes.
void require_mask(const Call& c, Var mask, size_t dim) {
  const Shape& shape = c.type(0).shape;
  c.require(mask.rank() > 0, "a mask as index must have dims, got ", name(mask.type()));
  c.require(dim + mask.rank() <= shape.size(), "a mask of ", name(mask.shape()), " indexes dims ", dim, " to ",
            dim + mask.rank() - 1, " of ", name(c.type(0)));
  for (size_t i = 0; i < mask.rank(); i++)
    c.require(mask.shape()[i] == shape[dim + i], "a mask of ", name(mask.shape()), " does not fit dim ", dim + i,
              " of ", name(c.type(0)));
}

// The indices broadcast to one shape. A mask is as many as it has dims: the places where it holds.
ValueList aligned_indices(const Call& c) {
  std::vector<Var> indices;
  for (Var v : c.vars(1)) {
    c.require(v.dtype() != DType::u8, "an index must be of integers or a mask of booleans, got ", name(v.type()),
              "; convert a mask to bool");
    if (v.dtype() != DType::boolean) {
      indices.push_back(v);
      continue;
    }
    require_mask(c, v, indices.size());
    for (Var places : places_by_dim(c, v)) indices.push_back(places);
  }
  c.require(!indices.empty() && indices.size() <= c.type(0).rank(), "needs from 1 to ", c.type(0).rank(),
            " indices, got ", indices.size(), "; ", c.types());
  bool narrow = true;  // beside others, those of a mask are i64
  for (Var v : indices) narrow = narrow && v.dtype() == DType::i32;
  Shape shape;
  for (Var& v : indices) {
    if (!narrow && v.dtype() == DType::i32) v = convert(v, DType::i64);
    shape = broadcast(shape, v.shape());
  }
  ValueList ids;
  for (Var& v : indices) ids.push_back(expand_to(v, shape).id);
  return ids;
}

Results index(Call& c) {
  const auto given = c.vars(1);
  const bool whole = given.size() == 1 && given[0].dtype() == DType::boolean && given[0].rank() == c.type(0).rank();
  if (!whole) return c.builder.call(Prim::index, {c.var(0), aligned_indices(c)});
  require_mask(c, given[0], 0);
  return picked(c, c.var(0), given[0]);
}

// For one value and one mask, `where` does it, without counting the places.
Var write_where(const Call& c, Var mask, Var value) {
  Var x = c.var(0);
  Shape shape = mask.shape();
  while (shape.size() < x.rank()) shape.push_back(1);
  if (c.flag(3)) value = convert(convert(x, value.dtype()) + value, x.dtype());
  return c.builder.call("where", {reshape_to(mask, shape), value, x});
}

Results index_put(Call& c) {
  Var x = c.var(0);
  const bool number = is_plain_number(c, 2), accumulate = c.flag(3);
  const DType computed = accumulate ? compute_dtype(x.dtype()) : x.dtype();
  // A plain number takes the input's dtype.
  Var values = !number ? c.var(2) : accumulate ? in_dtype(c, 2, computed) : convert_checked(c, 2, computed);
  c.require(number || values.dtype() == x.dtype(), "input and values must have one dtype; ", c.types());
  if (auto given = c.vars(1); given.size() == 1 && given[0].dtype() == DType::boolean && values.rank() == 0) {
    require_mask(c, given[0], 0);
    return write_where(c, given[0], values);
  }
  const ValueList indices = aligned_indices(c);
  Shape to = c.builder.type(indices[0]).shape;
  for (size_t i = indices.size(); i < x.rank(); i++) to.push_back(x.shape()[i]);
  c.require(values.rank() <= to.size() && broadcast(to, values.shape()) == to, "values of shape ", name(values.shape()),
            " do not broadcast to the indexed shape ", name(to));
  Var put = c.builder.call(Prim::index_put,
                           {convert(x, computed), indices, expand_to(convert(values, computed), to), accumulate});
  return convert(put, x.dtype());
}

// ---- samples ----

void sample_gathers(Samples& s) {
  s.add({TensorSpec{{3, 4}}, 1, indices_below({3, 2}, 4)});
  s.add({TensorSpec{{}}, 0, indices_below({}, 1)});
  s.refuse({TensorSpec{{3, 4}}, 1, indices_below({3}, 4)}, "rank of input");
  s.refuse({TensorSpec{{3}}, 0, TensorSpec{{2}, DType::i64, -1, -1}}, "index -1 is out of range for dim 0 of size 3");
}
void sample_scatter_adds(Samples& s) {
  s.add({TensorSpec{{3, 4}}, 1, indices_below({3, 2}, 4), TensorSpec{{3, 2}}});
  s.add({TensorSpec{{3, 4}, DType::bf16}, 0, indices_below({5, 4}, 3), TensorSpec{{5, 4}, DType::bf16}});
  s.refuse({TensorSpec{{3}}, 0, indices_below({2}, 3), TensorSpec{{2}, DType::f64}}, "one dtype");
}
void index_select_samples(Samples& s) {
  s.add({TensorSpec{{4, 3}}, 0, indices_below({6}, 4)});
  s.add({TensorSpec{{4, 3}}, -1, indices_below({}, 3, DType::i32)});
  s.add({TensorSpec{{}}, 0, indices_below({1}, 1)});
  s.refuse({TensorSpec{{4, 3}}, 0, indices_below({2, 2}, 4)}, "rank 0 or 1");
  s.refuse({TensorSpec{{4}}, 0, TensorSpec{{1}, DType::i64, 4, 4}}, "index 4 is out of range for dim 0 of size 4");
}
TensorSpec mask_spec(std::vector<int64_t> shape) {
  return {std::move(shape), DType::boolean, 0, 1};
}
void index_samples(Samples& s) {
  s.add({TensorSpec{{4, 3}}, std::vector<TensorSpec>{indices_below({2, 2}, 4)}});
  s.add(
      {TensorSpec{{4, 3, 2}}, std::vector<TensorSpec>{indices_below({5, 1}, 4), TensorSpec{{3}, DType::i64, -3, -1}}});
  s.add_eager({TensorSpec{{4, 3}}, std::vector<TensorSpec>{mask_spec({4})}});
  s.add_eager({TensorSpec{{4, 3, 2}}, std::vector<TensorSpec>{mask_spec({4, 3})}});
  s.add_eager({TensorSpec{{2, 3, 4}}, std::vector<TensorSpec>{indices_below({1}, 2, DType::i32), mask_spec({3, 4})}});
  s.refuse({TensorSpec{{4}}, std::vector<TensorSpec>{mask_spec({3})}}, "a mask of [3] does not fit dim 0 of f32[4]");
  s.refuse({TensorSpec{{4}}, std::vector<TensorSpec>{mask_spec({4, 1})}}, "indexes dims 0 to 1 of f32[4]");
  s.refuse({TensorSpec{{4}}, std::vector<TensorSpec>{{{4}, DType::u8, 0, 1}}}, "convert a mask to bool");
  s.refuse({TensorSpec{{4}}, std::vector<TensorSpec>{indices_below({1}, 4), indices_below({1}, 4)}}, "from 1 to 1");
  s.refuse({TensorSpec{{4}}, std::vector<TensorSpec>{{{1}, DType::i64, -5, -5}}}, "index -5 is out of range");
}
void index_put_samples(Samples& s) {
  s.add({TensorSpec{{4, 3}}, std::vector<TensorSpec>{indices_below({2}, 4)}, TensorSpec{{3}}, true});
  s.add({TensorSpec{{4, 3}}, std::vector<TensorSpec>{indices_below({1}, 4), indices_below({1}, 3)}, TensorSpec{{}}});
  s.add({TensorSpec{{4, 3}, DType::bf16}, std::vector<TensorSpec>{indices_below({6}, 4)},
         TensorSpec{{6, 3}, DType::bf16}, true});
  s.add({TensorSpec{{4}}, std::vector<TensorSpec>{indices_below({1}, 4)}, 1.5});
  s.add({TensorSpec{{4, 3}}, std::vector<TensorSpec>{mask_spec({4})}, 1.5});
  s.add({TensorSpec{{4, 3}}, std::vector<TensorSpec>{mask_spec({4, 3})}, TensorSpec{{}}, true});
  s.add_eager({TensorSpec{{4, 3}}, std::vector<TensorSpec>{mask_spec({4})}, TensorSpec{{3}}});
  s.add_eager({TensorSpec{{2, 2}}, std::vector<TensorSpec>{mask_spec({2, 2})}, TensorSpec{{1}}, true});
  s.refuse({TensorSpec{{4}}, std::vector<TensorSpec>{mask_spec({3})}, 1.0}, "does not fit dim 0");
  s.refuse({TensorSpec{{4}}, std::vector<TensorSpec>{indices_below({2}, 4)}, TensorSpec{{3}}}, "broadcast");
}
constexpr OpRow kRows[] = {
    composite("gather(tensor input, int dim, tensor index) -> tensor", CastPolicy::none,
              "Elements of input at index along dim.", gather, sample_gathers),
    composite("scatter_add(tensor input, int dim, tensor index, tensor src) -> tensor", CastPolicy::promote,
              "input with src added at index along dim, in a fixed order.", scatter_add, sample_scatter_adds, kInplace),
    composite("index_select(tensor input, int dim, tensor index) -> tensor", CastPolicy::none,
              "The slices of input at index along dim.", index_select, index_select_samples),
    composite("index(tensor input, tensor[] indices) -> tensor", CastPolicy::none,
              "input[indices[0], indices[1], ..]: the indices broadcast, negative ones count from the end; a "
              "mask is the places where it holds.",
              index, index_samples, kEager),
    composite("index_put(tensor input, tensor[] indices, tensor|number values, bool accumulate=False) -> tensor",
              CastPolicy::promote,
              "input with values stored (or added) at input[indices[0], indices[1], ..]; of equal indices the "
              "last one stays. A mask is the places where it holds.",
              index_put, index_put_samples, kInplace | kEager),
};

}  // namespace

extern const OpRows indexing_ops = kRows;

}  // namespace thunder
