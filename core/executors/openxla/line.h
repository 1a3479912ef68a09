// One line of a trace while it is written, as the row of its prim sees it, and the ops that rows are made of.
#pragma once

#include "executors/openxla/module.h"
#include "ir/trace.h"

namespace thunder::openxla {

class Line {
 public:
  // `values` maps values of the trace to values of the module.
  using Values = std::function<Val(ValueId)>;
  Line(Module& to, const Store& store, const Node& node, const Values& values)
      : module(to), node(node), store_(store), values_(values) {}

  Module& module;
  const Node& node;

  // Arguments are counted as in the schema.
  const Arg& arg(size_t i) const { return node.args[i]; }
  Val input(size_t i) const { return values_(node.args[i].v); }
  std::vector<Val> input_list(size_t i) const;
  // An argument as a tensor of this type; a plain number is broadcast.
  Val operand(size_t i, const TensorType& type) const;
  const TensorType& type(size_t i) const { return store_.type(node.args[i].v); }
  const TensorType& result(size_t i = 0) const { return store_.type(node.results[i]); }
  Ints shape(size_t i) const { return shape_of(type(i)); }
  Ints result_shape(size_t i = 0) const { return shape_of(result(i)); }
  size_t rank() const { return type(0).rank(); }
  size_t axis(size_t i) const { return normalize_axis(arg(i).plain().i, rank()); }
  Ints integers(size_t i) const;  // of an argument that is a list

  void add_result(Val v) { given_.push_back(v); }
  const std::vector<Val>& results() const { return given_; }

  // Elementwise, of operands of one type.
  Val unary(std::string_view op, Val a) const { return module.add_op(op, {{a}}, module.type(a)); }
  Val binary(std::string_view op, Val a, Val b) const { return module.add_op(op, {{a, b}}, module.type(a)); }
  Val add(Val a, Val b) const { return binary("stablehlo.add", a, b); }
  Val sub(Val a, Val b) const { return binary("stablehlo.subtract", a, b); }
  Val mul(Val a, Val b) const { return binary("stablehlo.multiply", a, b); }
  Val div(Val a, Val b) const { return binary("stablehlo.divide", a, b); }
  Val logical_and(Val a, Val b) const { return binary("stablehlo.and", a, b); }
  Val logical_or(Val a, Val b) const { return binary("stablehlo.or", a, b); }
  Val compare(std::string_view direction, Val a, Val b) const;  // EQ NE LT LE GT GE
  Val is_nan(Val a) const { return compare("NE", a, a); }
  Val select(Val condition, Val a, Val b) const {
    return module.add_op("stablehlo.select", {{condition, a, b}}, module.type(a));
  }
  Val convert(Val a, DType to) const;
  template <class Number>
  Val constant_like(Number number, Val v) const {
    return module.splat(number, module.type(v));
  }
  template <class Number>
  Val scalar(Number number, DType dtype) const {
    return module.splat(number, type_of(dtype, {}));
  }

  Val reshape(Val v, const Ints& shape) const;
  Val transpose(Val v, const Ints& order) const;
  Val broadcast(Val v, const Ints& shape, const Ints& dims) const;  // dims: where those of v lie
  Val slice(Val v, const Ints& starts, const Ints& ends, const Ints& steps) const;
  Val pad(Val v, Val value, const Ints& low, const Ints& high, const Ints& inside) const;
  Val iota(DType dtype, const Ints& shape, size_t dim) const;
  // The dims vanish. `combine` of scalars.
  Val reduce(Val v, Val start, const Ints& dims, std::string_view combine) const;

 private:
  const Store& store_;
  const Values& values_;
  std::vector<Val> given_;
};

}  // namespace thunder::openxla
