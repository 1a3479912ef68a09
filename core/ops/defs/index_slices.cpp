// Whole slices at the indices of a vector stored, added and filled: index_copy, index_add and index_fill.
#include "ops/indices.h"
#include "ops/tables.h"

namespace thunder {
namespace {

// The dim in front, where index_put looks.
Var move_dim_to_front(Var x, int64_t dim) {
  return x.builder->call("movedim", {x, Shape{dim}, Shape{0}});
}
Var move_front_to_dim(Var x, int64_t dim) {
  return x.builder->call("movedim", {x, Shape{0}, Shape{dim}});
}
Var index_vector(const Call& c) {
  require_index(c, 2);
  c.require(c.type(2).rank() <= 1, "index must be a vector; ", c.types());
  return reshape_to(c.var(2), Shape{elements(c.type(2).shape)});
}
Results index_copy(Call& c) {
  const auto dim = static_cast<int64_t>(c.axis(1, c.type(0).rank()));
  Var index = index_vector(c), x = at_least_one_dim(c.var(0)), src = at_least_one_dim(c.var(3));
  c.require(x.dtype() == src.dtype() && x.rank() == src.rank(), "source must have the dtype and rank of input; ",
            c.types());
  Var put = c.builder.call(Prim::index_put,
                           {move_dim_to_front(x, dim), ValueList{index.id}, move_dim_to_front(src, dim), false});
  return reshape_to(move_front_to_dim(put, dim), c.type(0).shape);
}
Results index_add(Call& c) {
  const auto dim = static_cast<int64_t>(c.axis(1, c.type(0).rank()));
  Var index = index_vector(c), x = at_least_one_dim(c.var(0)), src = at_least_one_dim(c.var(3));
  c.require(x.dtype() == src.dtype(), "source must have the dtype of input; ", c.types());
  const DType dtype = x.dtype();
  c.require(is_real(dtype) || c.real(4) == std::trunc(c.real(4)), "alpha must be whole for operands of ", name(dtype),
            ", got ", c.real(4));
  if (dtype == DType::boolean) src = c.real(4) != 0 ? src : full_like(src, 0);
  else if (c.real(4) != 1) src = is_real(dtype) ? src * c.real(4) : src * static_cast<int64_t>(c.real(4));
  Var sum = c.builder.call(Prim::take_add, {computed(x), dim, index, computed(src)});
  return convert(reshape_to(sum, c.type(0).shape), dtype);
}
Results index_fill(Call& c) {
  const auto dim = static_cast<int64_t>(c.axis(1, c.type(0).rank()));
  Var index = index_vector(c), x = at_least_one_dim(c.var(0)), value = convert_checked(c, 3, x.dtype());
  c.require(value.rank() == 0, "value must be a number or a tensor of rank 0; ", c.types());
  Var none = full(c.builder, Shape{x.size(dim)}, 0, DType::i64, x.type().device);
  Var hits = c.builder.call(Prim::scatter_add, {none, 0, convert(index, DType::i64),
                                                  full(c.builder, index.shape(), 1, DType::i64, x.type().device)});
  Var hit = along_axis(gt(hits, 0), static_cast<size_t>(dim), x.rank());
  return reshape_to(where(hit, value, x), c.type(0).shape);
}

// ---- samples ----

void sample_copied(Samples& s) {
  s.add({TensorSpec{{4, 3}}, 0, TensorSpec{{1}, DType::i64, 0, 3}, TensorSpec{{1, 3}}});
  s.add({TensorSpec{{2, 4}}, 1, TensorSpec{{1}, DType::i64, 0, 3}, TensorSpec{{2, 1}}});
}
void sample_added(Samples& s) {
  s.add({TensorSpec{{4, 3}}, 0, below({6}, 4), TensorSpec{{6, 3}}});
  s.add({TensorSpec{{2, 4}}, -1, below({3}, 4), TensorSpec{{2, 3}}, 0.5});
  s.refuse({TensorSpec{{4, 3}}, 0, TensorSpec{{1}, DType::i64, 4, 4}, TensorSpec{{1, 3}}}, "out of range");
}
void sample_filled(Samples& s) {
  s.add({TensorSpec{{4, 3}}, 0, below({2}, 4), 1.5});
  s.add({TensorSpec{{2, 4}}, 1, below({3}, 4), TensorSpec{{}}});
}

constexpr OpRow kRows[] = {
    composite("index_copy(tensor input, int dim, tensor index, tensor source) -> tensor", CastPolicy::none,
              "input with the slices of source stored at index along dim.", index_copy, sample_copied, kInplace),
    composite("index_add(tensor input, int dim, tensor index, tensor source, float alpha=1) -> tensor",
              CastPolicy::none, "input with alpha times the slices of source added at index along dim.", index_add,
              sample_added, kInplace),
    composite("index_fill(tensor input, int dim, tensor index, tensor|number value) -> tensor", CastPolicy::none,
              "input with one value in the slices at index along dim.", index_fill, sample_filled, kInplace),
};

}  // namespace

extern const OpRows index_slices_ops = kRows;

}  // namespace thunder
