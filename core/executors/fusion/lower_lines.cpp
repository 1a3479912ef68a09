// Nodes as expressions, by role.
#include <algorithm>

#include "executors/fusion/lowering.h"

namespace thunder::fusion {

// A value of the group at these indices of its axes.
ExprId Lowering::value(ValueId v, const Indices& indices) {
  Indices own;
  for (AxisId a : group_.space().flat(group_.value(v).coordinates))
    if (const Index at = index(a, indices); at.loop != a || at.by) own.push_back(at);
  std::sort(own.begin(), own.end());
  const auto key = std::pair(v, std::move(own));
  if (const auto it = exprs_.find(key); it != exprs_.end()) return it->second;
  const ExprId made = lower_line(*makers_.at(v), key.second);
  exprs_.emplace(key, made);
  return made;
}

// An operand of a node, by its number.
ExprId Lowering::operand(const Node& line, size_t number, const Indices& indices) {
  const ValueId v = operands(line)[number];
  if (group_.has(v)) return value(v, indices);
  const uint32_t buffer = input(v);
  const Buffer& layout = view_.inputs[buffer];
  const std::span<const int64_t> strides(layout.strides, static_cast<size_t>(layout.rank));
  return load(buffer, access(group_.read_of(line, number), strides, indices));
}

ExprId Lowering::lower_line(const Node& line, const Indices& indices) {
  const PrimRow& row = *find_prim(*line.op);
  const ValueId result = line.results[0];
  Expr e;
  e.fn = row.fn;
  e.dtype = view_.store.type(result).dtype;
  switch (row.role) {
    case Role::view:
      return value(line.args[0].v, line.op->name() == "prims.slice" ? indices_of_sliced(line, indices) : indices);
    case Role::reduction:
      e.in[e.count++] = operand(line, 0, indices);
      // A sum over the outer axes adds up what is stored; so does one of a value that is known for each row.
      if (group_.value(result).kind == Kind::column || (group_.value(result).kind == Kind::total && is_row(line)))
        return e.in[0];
      if (e.fn == Fn::argmax) e.in[e.count++] = index_along(line);
      break;
    case Role::create: lower_create(line, indices, e); break;
    case Role::gather: lower_gather(line, indices, e); break;
    case Role::scan:
      e.in[e.count++] = operand(line, 0, indices);
      e.axis = axis(group_.reduced()[0]);
      break;
    case Role::concat: return lower_concat(line, indices);
    case Role::elementwise:
      for (size_t i = 0; i < operands(line).size(); i++) e.in[e.count++] = operand(line, i, indices);
      break;
  }
  const ExprId made = add(e);
  if (row.role == Role::gather) add_check(line, made);
  return made;
}

// The coordinates of a node's first operand.
Coordinates Lowering::source_of(const Node& line) const {
  const ValueId v = line.args[0].v;
  return group_.has(v) ? coordinates(v) : group_.read_of(line, 0);
}

// The index of an element of argmax's operand along the reduced dim: in few bits, since vectors hold one for each lane.
ExprId Lowering::index_along(const Node& line) {
  const Coordinates source = source_of(line);
  const size_t dim = reduced_dims(line, source.size())[0];
  const int64_t each[] = {1};
  Expr iota;
  iota.fn = Fn::iota;
  iota.dtype = view_.store.type(line.args[0].v).shape[dim].value() <= INT32_MAX ? DType::i32 : DType::i64;
  iota.map = access({source[dim]}, each, {}).map;
  return add(iota);
}

// Whether the operand is constant along the axes that the nest reduces.
bool Lowering::is_row(const Node& line) {
  const Dimension axes = group_.space().flat(source_of(line));
  return lowered_.reduced &&
         std::none_of(axes.begin(), axes.end(), [this](AxisId a) { return lowered_.reduced & bit(axis(a)); });
}

// The index of an element in row-major order, of which iota and random draws are functions.
void Lowering::lower_create(const Node& line, const Indices& at, Expr& e) {
  const Access dense = access(coordinates(line.results[0]), dense_strides(view_.store.type(line.results[0]).shape), at);
  Expr iota;
  iota.fn = Fn::iota;
  iota.map = dense.map, iota.offset = dense.offset;
  if (e.fn == Fn::iota) {
    iota.dtype = e.dtype;
    e = iota;
    return;
  }
  iota.dtype = DType::i64;
  const uint32_t state = input(line.args[0].v), nowhere = add_map(Map(axes_.size(), 0));
  e.in = {add(iota), load(state, {nowhere, 0}), load(state, {nowhere, view_.inputs[state].strides[0]})};
  e.count = 3;
  e.offset = line.args[1].i;
}

void Lowering::lower_gather(const Node& line, const Indices& indices, Expr& e) {
  const Shape& shape = view_.store.type(line.args[0].v).shape;
  const size_t dim = normalize_axis(line.args[1].i, shape.size());
  e.in[0] = operand(line, 0, indices), e.in[1] = operand(line, 1, indices), e.count = 2;
  e.axis = axis(source_of(line)[dim][0]);
}

void Lowering::add_check(const Node& line, ExprId id) {
  const Shape& shape = view_.store.type(line.args[0].v).shape;
  const size_t dim = normalize_axis(line.args[1].i, shape.size());
  lowered_.checks.resize(id + 1);
  lowered_.checks[id] = {std::string(line.op->name()), static_cast<int64_t>(dim), shape[dim].value()};
}

}  // namespace thunder::fusion
