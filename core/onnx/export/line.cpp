#include "onnx/export/line.h"

#include <algorithm>

#include "base/text.h"

namespace thunder::onnx_export {

Val Line::in_value(ValueId v) const {
  if (!unexpanded_) return scope_.value(v);
  Shape shape;
  const Val found = scope_.value_before_expand(v, shape);
  broadcast_ = broadcast(broadcast_, shape);
  return found;
}

std::vector<Val> Line::list(size_t i) const {
  std::vector<Val> out;
  for (const ValueId v : arg(i).value_list()) out.push_back(in_value(v));
  return out;
}

Val Line::operand(size_t i, DType dtype) const {
  const Arg& a = arg(i);
  if (a.kind == ArgKind::value) return graph.cast(in(i), dtype);
  if (a.kind == ArgKind::symbolic) return graph.cast(make("Squeeze", {size(a.dim())}), dtype);
  return a.kind == ArgKind::real ? graph.scalar(a.f, dtype) : graph.scalar(a.i, dtype);
}

bool Line::has_constant_dims(size_t i) const {
  const auto dims = arg(i).dim_list();
  return std::all_of(dims.begin(), dims.end(), [](Dim d) { return d.constant(); });
}

std::vector<int64_t> Line::ints(size_t i) const {
  std::vector<int64_t> out;
  for (const Dim d : arg(i).dim_list()) {
    if (!d.constant())
      fail(Code::unimplemented, "ONNX has ", node.op->schema.params[i].name, " as plain numbers, here it is ",
           thunder::name(d), ", which varies; compile with dynamic = false");
    out.push_back(d.value());
  }
  return out;
}

Val Line::shape(std::span<const Dim> dims) const {
  std::vector<Val> parts;
  std::vector<int64_t> known;
  const auto flush = [&] {
    if (!known.empty()) parts.push_back(graph.integers(known));
    known.clear();
  };
  for (const Dim d : dims) {
    if (d.constant())
      known.push_back(d.value());
    else
      flush(), parts.push_back(size(d));
  }
  flush();
  if (parts.empty()) return graph.integers({});
  return parts.size() == 1 ? parts[0] : make("Concat", parts, {attr("axis", int64_t{0})});
}

Val Line::reshape(Val v, std::span<const Dim> to) const {
  const auto varies = std::count_if(to.begin(), to.end(), [](Dim d) { return !d.constant(); });
  const bool empty = std::any_of(to.begin(), to.end(), [](Dim d) { return d == Dim(0); });
  std::vector<int64_t> sizes;
  for (const Dim d : to) sizes.push_back(d.constant() ? d.value() : -1);
  const Attrs zeros = empty ? Attrs{attr("allowzero", int64_t{1})} : Attrs{};
  // With a single varying size, Reshape infers it.
  if (varies <= 1 && (!empty || !varies)) return make("Reshape", {v, graph.integers(sizes)}, zeros);
  return make("Reshape", {v, shape(to)}, {attr("allowzero", int64_t{1})});
}

Val Line::reduce(std::string_view op, Val v, const std::vector<int64_t>& axes, bool keep) const {
  if (axes.empty()) return v;
  const Attr kept = attr("keepdims", int64_t{keep});
  if (op == "ReduceSum" || graph.opset() >= 18) return make(op, {v, graph.integers(axes)}, {kept});
  return make(op, {v}, {attr("axes", axes), kept});
}

}  // namespace thunder::onnx_export
