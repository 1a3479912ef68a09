// One line of a trace while it is written, as the row of its op sees it.
#pragma once

#include "ir/trace.h"
#include "onnx/export/graph.h"

namespace thunder::onnx_export {

// The graph's counterparts of the trace's values and sizes.
class Scope {
 public:
  virtual Val value(ValueId v) = 0;
  // The value before its dims of size 1 were expanded, or itself.
  virtual Val value_before_expand(ValueId v, Shape& shape) = 0;
  virtual Val size(Dim d) = 0;  // i64 [1]
  Scope() = default;
  Scope(const Scope&) = delete;

 protected:
  ~Scope() = default;
};

class Line {
 public:
  Line(Graph& to, Scope& scope, const Store& store, const Node& node)
      : graph(to), node(node), scope_(scope), store_(store) {}

  Graph& graph;
  const Node& node;

  // Arguments are counted as in the schema.
  const Arg& arg(size_t i) const { return node.args[i]; }
  bool has(size_t i) const { return node.args[i].present(); }
  Val in(size_t i) const { return in_value(node.args[i].v); }
  std::vector<Val> list(size_t i) const;
  // An argument as a tensor of this dtype; a plain number becomes a constant.
  Val operand(size_t i, DType dtype) const;
  const TensorType& type(size_t i) const { return store_.type(node.args[i].v); }
  const TensorType& type_of(ValueId v) const { return store_.type(v); }
  const TensorType& result(size_t i = 0) const { return store_.type(node.results[i]); }
  size_t axis(size_t i, size_t rank) const { return normalize_axis(arg(i).plain().i, rank); }
  // Whether all numbers of a list argument are known while tracing.
  bool has_constant_dims(size_t i) const;
  std::vector<int64_t> ints(size_t i) const;

  // i64 tensors: of rank 1.
  Val shape(std::span<const Dim> dims) const;
  Val size(Dim d) const { return scope_.size(d); }
  Val repeat_number(int64_t value, size_t count) const { return graph.integers(std::vector<int64_t>(count, value)); }

  // Shorthand.
  Val make(std::string_view op, const std::vector<Val>& inputs, Attrs attrs = {}) const {
    return graph.node(op, inputs, std::move(attrs));
  }
  Val reshape(Val v, std::span<const Dim> to) const;
  Val unsqueeze(Val v, int64_t axis) const { return make("Unsqueeze", {v, graph.integers({axis})}); }
  Val transpose(Val v, std::vector<int64_t> order) const { return make("Transpose", {v}, {attr("perm", order)}); }
  // Axes of the input, which stay with size 1 if `keep`.
  Val reduce(std::string_view op, Val v, const std::vector<int64_t>& axes, bool keep) const;

  void give(Val v) { given_.push_back(v); }
  const std::vector<Val>& given() const { return given_; }
  // The operands of elementwise rows: operands as they were before they were repeated to the result's shape.
  void use_unexpanded() { unexpanded_ = true; }
  const Shape& broadcast_shape() const { return broadcast_; }

 private:
  Val in_value(ValueId v) const;

  Scope& scope_;
  const Store& store_;
  std::vector<Val> given_;
  bool unexpanded_ = false;
  mutable Shape broadcast_;
};

}  // namespace thunder::onnx_export
