#include "onnx/export/export.h"

#include <unordered_map>

#include "base/text.h"
#include "ir/prim.h"
#include "ir/spelling.h"
#include "onnx/export/rows.h"

namespace thunder::onnx_export {
namespace {

class Exporter final : Scope {
 public:
  explicit Exporter(const ExportRequest& request) : request_(request), trace_(request.trace), graph_(request.opset) {}

  bool writes_by_row(const Node& n) {
    take_inputs();
    const Row* row = find_row(*n.op);
    return row && write_row(n, *row);
  }

  Graph run() {
    take_inputs();
    for (const Node* n : trace_.nodes) write(*n);
    for (const ExportOutput& out : request_.outputs)
      graph_.outputs.push_back({graph_.give_name(value(out.value), out.name), sizes_of(trace_.type(out.value).shape)});
    graph_.drop_unused();
    return std::move(graph_);
  }

 private:
  // A value whose dims of size 1 were repeated, and the shape that it had before.
  struct Expanded {
    Val before;
    Shape shape;
  };

  void take_inputs() {
    for (size_t i = 0; i < trace_.inputs.size(); i++) {
      const ExportInput& in = request_.inputs[i];
      const ValueId v = trace_.inputs[i].value;
      const TensorType& type = trace_.type(v);
      const Val made = in.tensor    ? graph_.add_weight(in.tensor, in.name)
                       : in.outside ? graph_.add_outside_weight(type, in.name)
                                    : graph_.value(type.dtype, in.name);
      values_[v] = made;
      if ((!in.tensor && !in.outside) || in.written) graph_.inputs.push_back({made, sizes_of(type.shape)});
      for (size_t axis = 0; axis < type.rank(); axis++)
        if (const Dim d = type.shape[axis]; !d.constant() && d.expr()->op == DimOp::symbol && !dims_.count(d.expr()))
          dims_[d.expr()] =
              graph_.node("Shape", {made},
                          {attr("start", static_cast<int64_t>(axis)), attr("end", static_cast<int64_t>(axis) + 1)});
    }
    for (const ExportInteger& in : request_.integers) {
      const Val made = graph_.value(DType::i64, in.name);
      graph_.inputs.push_back({made, {}});
      integers_[in.symbol] = graph_.node("Reshape", {made, graph_.integers({1})});
    }
  }

  std::vector<GraphPort::Size> sizes_of(const Shape& shape) const {
    std::vector<GraphPort::Size> out;
    for (const Dim d : shape) {
      out.push_back(d.constant() ? GraphPort::Size{d.value(), ""} : GraphPort::Size{0, ""});
      if (!d.constant()) spelling::append_dim(out.back().name, d, request_.symbol_names);
    }
    return out;
  }

  void write(const Node& n) {
    const Row* row = find_row(*n.op);
    graph_.set_where(n.where);
    if (row && write_row(n, *row)) return;
    if (n.body.empty()) refuse(n, why_not(*n.op));
    for (const Node* inner : n.body) write(*inner);
  }

  bool write_row(const Node& n, const Row& row) {
    Line line(graph_, *this, *trace_.store, n);
    if (row.elementwise) line.use_unexpanded();
    try {
      if (!row.write)
        line.give(graph_.node(row.onnx, tensor_operands(line)));
      else if (!row.write(line))
        return false;
    } catch (const Error& e) {
      if (e.code() != Code::unimplemented) throw;
      if (!n.body.empty()) return false;
      refuse(n, e.message());
    }
    for (size_t i = 0; i < line.given().size(); i++) values_[n.results[i]] = line.given()[i];
    if (row.elementwise && !(line.broadcast_shape() == line.result().shape)) expand(line);
    if (n.op->id == Prim::expand) {
      Shape shape;
      const Val before = value_before_expand(n.args[0].v, shape);
      expanded_[n.results[0]] = {before, shape};
    }
    return true;
  }

  // Repeats the result of a line whose operands were all repeated from smaller ones.
  void expand(Line& line) {
    const ValueId result = line.node.results[0];
    const Val before = values_[result];
    values_[result] = graph_.node("Expand", {before, line.shape(line.result().shape)});
    expanded_[result] = {before, line.broadcast_shape()};
  }

  static std::vector<Val> tensor_operands(const Line& line) {
    std::vector<Val> out;
    for (size_t i = 0; i < line.node.args.size(); i++)
      if (line.arg(i).kind == ArgKind::value) out.push_back(line.in(i));
    return out;
  }

  [[noreturn]] void refuse(const Node& n, std::string_view why) const {
    fail(Code::unimplemented, "export_onnx: ", n.op->name(), " cannot be written: ", why, n.where ? "; " : "",
         n.where ? n.where : "");
  }

  Val value(ValueId v) override {
    const auto found = values_.find(v);
    if (found == values_.end()) fail(Code::internal, "export_onnx: a line reads a value that no line made");
    return found->second;
  }
  Val value_before_expand(ValueId v, Shape& shape) override {
    const auto found = expanded_.find(v);
    shape = found == expanded_.end() ? trace_.type(v).shape : found->second.shape;
    return found == expanded_.end() ? value(v) : found->second.before;
  }

  Val size(Dim d) override {
    if (d.constant()) return graph_.integers({d.value()});
    if (const auto found = dims_.find(d.expr()); found != dims_.end()) return found->second;
    const DimExpr& e = *d.expr();
    if (e.op == DimOp::symbol) {
      const auto integer = integers_.find(e.a.value());
      if (integer == integers_.end())
        fail(Code::unimplemented, "the size ", thunder::name(d), " is none of an input's");
      return dims_[&e] = integer->second;
    }
    const Val a = size(e.a), b = size(e.b);
    const auto made = [&] {
      switch (e.op) {
        case DimOp::add:
          return graph_.node("Add", {a, b});
        case DimOp::sub:
          return graph_.node("Sub", {a, b});
        case DimOp::mul:
          return graph_.node("Mul", {a, b});
        // Rounded down, which Mod is about by its sign: x - x mod y is a multiple of y.
        case DimOp::div:
          return graph_.node("Div", {graph_.node("Sub", {a, graph_.node("Mod", {a, b})}), b});
        default:
          return graph_.node("Mod", {a, b});
      }
    };
    return dims_[&e] = made();
  }

  const ExportRequest& request_;
  const Trace& trace_;
  Graph graph_;
  std::unordered_map<ValueId, Val> values_;
  std::unordered_map<ValueId, Expanded> expanded_;
  std::unordered_map<const DimExpr*, Val> dims_;
  std::unordered_map<int64_t, Val> integers_;
};

}  // namespace

Graph export_graph(const ExportRequest& request) {
  return Exporter(request).run();
}

bool has_row(const Node& node, const std::shared_ptr<Store>& store, int64_t opset) {
  if (!find_row(*node.op)) return false;
  Trace alone;
  alone.store = store;
  ExportRequest request{alone, {}, {}, {}, opset};
  for_each_value(node.args, [&](ValueId v) {
    alone.inputs.push_back({v, Source::argument, 0, "", false});
    request.inputs.push_back({"in", nullptr, false, false});
  });
  try {
    return Exporter(request).writes_by_row(node);
  } catch (const Error& e) {
    if (e.code() != Code::unimplemented) throw;
    return false;
  }
}

}  // namespace thunder::onnx_export
