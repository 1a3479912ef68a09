#include "ops/formulas.h"

namespace thunder {
namespace {

Var kept(Var reduced, Var x, std::span<const Dim> axes) {
  Shape shape = x.shape();
  for (Dim axis : axes) shape[static_cast<size_t>(axis.value())] = 1;
  return reshape_to(reduced, shape);
}

}  // namespace

Shape axis_list(int64_t axis, size_t rank) {
  const size_t at = normalize_axis(axis, rank);
  return rank ? Shape{static_cast<int64_t>(at)} : Shape{};
}

Shape last_axes(size_t count, size_t rank) {
  Shape axes;
  for (size_t i = rank - count; i < rank; i++) axes.push_back(static_cast<int64_t>(i));
  return axes;
}

Shape all_but(size_t axis, size_t rank) {
  Shape axes;
  for (size_t i = 0; i < rank; i++)
    if (i != axis) axes.push_back(static_cast<int64_t>(i));
  return axes;
}

Var sum_kept(Var x, std::span<const Dim> axes) {
  return axes.empty() ? x : kept(x.builder->call(Prim::sum, {x, axes}), x, axes);
}

Var max_kept(Var x, std::span<const Dim> axes) {
  return axes.empty() ? x : kept(x.builder->call(Prim::amax, {x, axes}), x, axes);
}

Var mean_kept(Var x, std::span<const Dim> axes) {
  Shape dims;
  for (Dim axis : axes) dims.push_back(x.shape()[static_cast<size_t>(axis.value())]);
  return sum_kept(x, axes) / count(x, dims);
}

Var variance_kept(Var x, Var mean, std::span<const Dim> axes) {
  Var centred = x - mean;
  return mean_kept(centred * centred, axes);
}

Var count(Var like, std::span<const Dim> dims) {
  const Dim n = elements(dims);
  const bool constant = n.constant();
  Var one = full(*like.builder, {}, constant ? static_cast<double>(n.value()) : 1, like.dtype(), like.type().device);
  return constant ? one : like.builder->call(Prim::sum, {expand_to(one, dims), Shape{}});
}

Var loss_weight(const Call& c, size_t param, Var loss) {
  if (!c.has(param)) return {};
  c.require(c.type(param).shape == loss.shape(), "weight must have the shape of the loss ", name(loss.shape()), "; ",
            c.types());
  return convert(c.var(param), loss.dtype());
}
Reduction reduction_of(const Call& c, size_t param) {
  const std::string_view text = c.text(param);
  c.require(text == "none" || text == "mean" || text == "sum", "reduction must be 'none', 'mean' or 'sum', got '", text,
            "'");
  return text == "none" ? Reduction::none : text == "mean" ? Reduction::mean : Reduction::sum;
}

Var counted_along(Builder& b, Dim size, size_t axis, size_t rank, Device device) {
  return along_axis(b.call(Prim::iota, {Shape{size}, DType::i64, device}), axis, rank);
}

Var along_axis(Var vector, size_t axis, size_t rank) {
  Shape shape(rank, 1);
  shape[axis] = vector.size(0);
  return reshape_to(vector, shape);
}

Var to_second(Var x, size_t axis) {
  Shape order{0, static_cast<int64_t>(axis)};
  for (size_t i = 1; i < x.rank(); i++)
    if (i != axis) order.push_back(static_cast<int64_t>(i));
  return permute_to(x, order);
}

Var from_second(Var x, size_t axis) {
  Shape order{0};
  for (size_t i = 1; i < x.rank(); i++) order.push_back(static_cast<int64_t>(i == axis ? 1 : i < axis ? i + 1 : i));
  return permute_to(x, order);
}

Var swap_last_two(Var x) {
  Shape order = last_axes(x.rank(), x.rank());
  std::swap(order[x.rank() - 1], order[x.rank() - 2]);
  return permute_to(x, order);
}

}  // namespace thunder
