// Lowers slices and concatenations: finds the indices at which operands are read, and selects an operand by the index.
#include "executors/fusion/lowering.h"
#include "ir/prim.h"
#include "ops/kernels.h"

namespace thunder::fusion {

// The indices of a slice's operand.
Lowering::Indices Lowering::slice_operand_indices(const Node& node, Indices indices) const {
  const Coordinates from = coordinates(node.args[0].v), to = coordinates(node.results[0]);
  const auto at = slice_starts(node, view_.store, 0);
  for (size_t i = 0; i < from.size(); i++) {
    if (from[i].empty() || from[i] == to[i]) continue;
    Index whole{from[i][0], std::nullopt, at[i]};
    if (!to[i].empty()) {
      const Index part = index(to[i][0], indices);
      whole.loop = part.loop, whole.offset += part.offset;
    }
    indices.push_back(whole);
  }
  return indices;
}

// The indices of an operand of a concatenation.
Lowering::Indices Lowering::concat_operand_indices(const Node& node, size_t number, const Indices& indices) const {
  const ValueId v = operands(node)[number];
  const Coordinates part = group_.has(v) ? coordinates(v) : group_.read_coordinates(node, number),
                    whole = coordinates(node.results[0]);
  const auto at = slice_starts(node, view_.store, number);
  Indices out = indices;
  for (size_t i = 0; i < part.size(); i++) {
    if (part[i].empty() || part[i] == whole[i]) continue;
    Index inside = index(whole[i][0], indices);
    inside.axis = part[i][0], inside.offset -= at[i];
    out.push_back(inside);
  }
  return out;
}

// A select by the index of an axis: the first expression below a bound, otherwise the second.
template <class First, class Second>
ExprId Lowering::add_select(DType dtype, Index along, Size bound, const First& first, const Second& second) {
  bound -= along.offset;
  if (along.loop ? bound >= group_.space().extent(*along.loop) : bound > 0) return first();
  if (bound <= 0) return second();
  Expr e;
  e.fn = Fn::select, e.dtype = dtype;
  e.in = {first(), second()}, e.count = 2;
  e.axis = number_axis(*along.loop), e.bound = bound;
  return add_expr(e);
}

ExprId Lowering::lower_concat(const Node& node, const Indices& indices) {
  const ValueId result = node.results[0];
  const DType dtype = view_.store.type(result).dtype;
  const Coordinates whole = coordinates(result);
  if (node.op->id != Prim::cat) return lower_pad_or_scatter(node, indices);
  const Dimension select_axis = group_.select_axis_of(node);
  const size_t dim = normalize_axis(node.args[1].i, whole.size());
  const auto part = [&](size_t k) {
    return [&, k] {
      return lower_operand(node, k, select_axis.empty() ? concat_operand_indices(node, k, indices) : indices);
    };
  };
  ExprId selected = 0;
  if (operands(node).size() == 1) return part(0)();
  // Selects the first operand up to its end, then the second one, and so on.
  for (size_t i = 1; i < operands(node).size(); i++) {
    const Size bound = select_axis.empty() ? slice_starts(node, view_.store, i)[dim] : Size(i);
    const Index along = index(select_axis.empty() ? whole[dim][0] : select_axis[0], indices);
    selected = i == 1 ? add_select(dtype, along, bound, part(0), part(1))
                    : add_select(
                          dtype, along, bound, [&] { return selected; }, part(i));
  }
  return selected;
}

// Selects one operand where every index is in its interval, and another one elsewhere.
ExprId Lowering::lower_pad_or_scatter(const Node& node, const Indices& indices) {
  const DType dtype = view_.store.type(node.results[0]).dtype;
  const Coordinates whole = coordinates(node.results[0]);
  const bool pads = node.op->id == Prim::pad;
  const size_t within = pads ? 0 : 1;
  const Shape &shape = view_.store.type(node.results[0]).shape, &inner = view_.store.type(operands(node)[within]).shape;
  const auto around = [&] {
    if (!pads) return lower_operand(node, 0, indices);
    return add_constant(dtype, node.args[3].f);
  };
  const auto at = slice_starts(node, view_.store, within);
  ExprId selected = lower_operand(node, within, concat_operand_indices(node, within, indices));
  for (size_t i = 0; i < whole.size(); i++) {
    if (Size(inner[i]) == shape[i]) continue;
    const Index along = index(whole[i][0], indices);
    const auto so_far = [&] { return selected; };
    if (at[i] > 0) selected = add_select(dtype, along, at[i], around, so_far);
    if (const Size end = at[i] + inner[i]; end < shape[i])
      selected = add_select(dtype, along, end, so_far, around);
  }
  return selected;
}

// A constant, rounded as an element of this type holds it.
ExprId Lowering::add_constant(DType dtype, double value) {
  Expr e;
  e.fn = Fn::number, e.dtype = dtype;
  by_element(dtype, [&](auto zero) {
    using T = decltype(zero);
    const T stored = converted<T>(value);
    e.number = as_double(&stored);
  });
  return add_expr(e);
}

}  // namespace thunder::fusion
