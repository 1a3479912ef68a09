// Lowers the nodes of each role to expressions.
#include <algorithm>

#include "executors/fusion/lowering.h"
#include "ir/prim.h"
#include "tensor/tensor.h"

namespace thunder::fusion {

// A value of the group at these indices of its axes.
ExprId Lowering::lower_value(ValueId v, const Indices& indices) {
  Indices own;
  for (AxisId a : group_.space().flatten(group_.value(v).coordinates))
    if (const Index at = index(a, indices); at.loop != a || at.offset != 0) own.push_back(at);
  std::sort(own.begin(), own.end());
  const auto key = std::pair(v, std::move(own));
  if (const auto it = exprs_.find(key); it != exprs_.end()) return it->second;
  const ExprId expr = lower_node(*producers_.at(v), key.second);
  exprs_.emplace(key, expr);
  return expr;
}

// An operand of a node, by its number.
ExprId Lowering::lower_operand(const Node& node, size_t number, const Indices& indices) {
  const ValueId v = operands(node)[number];
  if (group_.has(v)) return lower_value(v, indices);
  const uint32_t buffer = input_number(v);
  return add_load(buffer, make_access(group_.read_coordinates(node, number), view_.inputs[buffer].strides, indices));
}

ExprId Lowering::lower_node(const Node& node, const Indices& indices) {
  const PrimRow& row = *find_prim(*node.op);
  const ValueId result = node.results[0];
  Expr e;
  e.fn = row.fn;
  e.dtype = view_.store.type(result).dtype;
  switch (row.role) {
    case Role::view:
      return lower_value(node.args[0].v,
                         node.op->id == Prim::slice ? slice_operand_indices(node, indices) : indices);
    case Role::reduction:
      e.in[e.count++] = lower_operand(node, 0, indices);
      // The output of a sum over the outer axes adds up each element that is stored to it; this also holds for a total
      // of a value that is known for each row.
      if (group_.value(result).kind == Kind::column ||
          (group_.value(result).kind == Kind::total && is_constant_over_reduced(node)))
        return e.in[0];
      if (e.fn == Fn::argmax) e.in[e.count++] = reduced_index(node);
      break;
    case Role::create: lower_create(node, indices, e); break;
    case Role::gather: lower_gather(node, indices, e); break;
    case Role::scan:
      e.in[e.count++] = lower_operand(node, 0, indices);
      e.axis = number_axis(group_.nest_reduced_axes()[0]);
      break;
    case Role::concat: return lower_concat(node, indices);
    case Role::elementwise:
      for (size_t i = 0; i < operands(node).size(); i++) e.in[e.count++] = lower_operand(node, i, indices);
      break;
  }
  const ExprId expr = add_expr(e);
  if (may_fail(e)) add_check(node, expr);
  return expr;
}

// The coordinates of a node's first operand.
Coordinates Lowering::operand_coordinates(const Node& node) const {
  const ValueId v = node.args[0].v;
  return group_.has(v) ? coordinates(v) : group_.read_coordinates(node, 0);
}

// The index of an element of argmax's operand along the reduced dim. It has 32 bits where they suffice, since a vector
// holds one index for each lane.
ExprId Lowering::reduced_index(const Node& node) {
  const Coordinates source = operand_coordinates(node);
  const size_t dim = reduced_dims(node, source.size())[0];
  const Size each[] = {1};
  Expr iota;
  iota.fn = Fn::iota;
  iota.dtype = Size(view_.store.type(node.args[0].v).shape[dim]) <= INT32_MAX ? DType::i32 : DType::i64;
  iota.map = make_access({source[dim]}, each, {}).map;
  return add_expr(iota);
}

// Whether the operand is constant along the axes that the nest reduces.
bool Lowering::is_constant_over_reduced(const Node& node) {
  const Dimension axes = group_.space().flatten(operand_coordinates(node));
  return lowered_.reduced && std::none_of(axes.begin(), axes.end(),
                                          [this](AxisId a) { return lowered_.reduced & axis_bit(number_axis(a)); });
}

// Strides of dense row-major memory, in elements.
static std::vector<Size> dense_strides_of(const Shape& shape) {
  std::vector<Size> out(shape.size());
  Size stride = 1;
  for (size_t i = shape.size(); i-- > 0;) out[i] = stride, stride *= shape[i];
  return out;
}

// iota and random draws are functions of an element's index in row-major order.
void Lowering::lower_create(const Node& node, const Indices& at, Expr& e) {
  const Access dense =
      make_access(coordinates(node.results[0]), dense_strides_of(view_.store.type(node.results[0]).shape), at);
  Expr iota;
  iota.fn = Fn::iota;
  iota.map = dense.map, iota.offset = dense.offset;
  if (e.fn == Fn::iota) {
    iota.dtype = e.dtype;
    e = iota;
    return;
  }
  iota.dtype = DType::i64;
  const uint32_t state = input_number(node.args[0].v), no_axes = add_map(Map(axes_.size(), 0));
  e.in = {add_expr(iota), add_load(state, {no_axes, 0}), add_load(state, {no_axes, view_.inputs[state].strides[0]})};
  e.count = 3;
  e.offset = node.args[1].i;
}

void Lowering::lower_gather(const Node& node, const Indices& indices, Expr& e) {
  const Shape& shape = view_.store.type(node.args[0].v).shape;
  const size_t dim = normalize_axis(node.args[1].i, shape.size());
  e.in[0] = lower_operand(node, 0, indices), e.in[1] = lower_operand(node, 1, indices), e.count = 2;
  e.axis = number_axis(operand_coordinates(node)[dim][0]);
}

void Lowering::add_check(const Node& node, ExprId id) {
  lowered_.checks.resize(std::max(lowered_.checks.size(), static_cast<size_t>(id) + 1));
  if (find_prim(*node.op)->role != Role::gather) return;
  const Shape& shape = view_.store.type(node.args[0].v).shape;
  const size_t dim = normalize_axis(node.args[1].i, shape.size());
  lowered_.checks[id] = {std::string(node.op->name()), static_cast<int64_t>(dim), shape[dim]};
}

}  // namespace thunder::fusion
