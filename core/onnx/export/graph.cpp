#include "onnx/export/graph.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "onnx/export/op_types.h"
#include "ops/convert_elements.h"

namespace thunder::onnx_export {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

std::string bytes_of(const std::vector<int64_t>& list) {
  return {reinterpret_cast<const char*>(list.data()), list.size() * sizeof(int64_t)};
}

}  // namespace

std::string Graph::make_name_unique(std::string name) {
  const int before = names_[name]++;
  if (!before) return name;
  return make_name_unique(cat(name, "_", before));
}

Val Graph::value(DType dtype, const std::string& name) {
  Value made;
  made.dtype = dtype, made.name = make_name_unique(name);
  values_.push_back(std::move(made));
  return static_cast<Val>(values_.size() - 1);
}

std::vector<Val> Graph::emit(std::string_view op, std::vector<Val> inputs, const std::vector<DType>& results,
                             Attrs attrs) {
  std::vector<Val> out;
  for (const DType dtype : results) out.push_back(value(dtype, cat(lower(op), "_", nodes_.size() + 1)));
  while (!inputs.empty() && inputs.back() == kAbsent) inputs.pop_back();
  nodes_.push_back({op, std::move(inputs), out, std::move(attrs), where_});
  return out;
}

std::vector<Val> Graph::nodes(std::string_view op, const std::vector<Val>& given, Attrs attrs) {
  const OpTypes& types = op_types(op, opset_);
  std::vector<Val> inputs = given;
  DType dtype = DType::none;
  for (size_t i = 0; i < inputs.size(); i++)
    if (types.operands >> std::min<size_t>(i, 31) & 1 && inputs[i] != kAbsent) {
      dtype = values_[inputs[i]].dtype;
      break;
    }
  const bool reduces = std::any_of(attrs.begin(), attrs.end(), [](auto& a) { return a.name == "reduction"; });
  const std::optional<DType> as = choose_compute_dtype(types, dtype, reduces);
  if (!as)
    fail(Code::unimplemented, "it takes ONNX's ", op, " of ", thunder::name(dtype), ", which runtimes do not have");
  for (size_t i = 0; i < inputs.size(); i++)
    if (types.operands >> std::min<size_t>(i, 31) & 1 && inputs[i] != kAbsent) inputs[i] = cast(inputs[i], *as);
  switch (types.result) {
    case ResultType::boolean:
      return emit(op, std::move(inputs), {DType::boolean}, std::move(attrs));
    case ResultType::i64:
      return emit(op, std::move(inputs), {DType::i64}, std::move(attrs));
    case ResultType::same:
      break;
    case ResultType::same_and_i64: {
      std::vector<Val> out = emit(op, std::move(inputs), {*as, DType::i64}, std::move(attrs));
      return {cast(out[0], dtype), out[1]};
    }
  }
  return {cast(emit(op, std::move(inputs), {*as}, std::move(attrs))[0], dtype)};
}

Val Graph::node(std::string_view op, const std::vector<Val>& inputs, Attrs attrs) {
  return nodes(op, inputs, std::move(attrs))[0];
}

Val Graph::cast(Val v, DType to) {
  const Value& from = values_[v];
  if (from.dtype == to) return v;
  if (from.scalar) return add_scalar(from.f, from.i, from.whole, to);
  return emit("Cast", {v}, {to}, {attr("to", static_cast<int64_t>(number_of(to)))})[0];
}

Val Graph::constant(DType dtype, std::vector<int64_t> dims, std::string bytes) {
  std::string key = cat(static_cast<int32_t>(dtype), "/") + bytes_of(dims) + "/" + bytes;
  Val& known = constants_[key];
  if (known == kAbsent) {
    known = value(dtype, "const");
    initializers_.push_back({known, std::move(dims), std::move(bytes), nullptr});
  }
  return known;
}

Val Graph::add_scalar(double f, int64_t i, bool whole, DType dtype) {
  std::string bytes(size_of(dtype), '\0');
  Buffer to;
  to.data = reinterpret_cast<std::byte*>(bytes.data()), to.dtype = dtype, to.rank = 0;
  fill_elements(to, whole ? Arg::integer(i) : Arg::real(f));
  const Val made = constant(dtype, {}, std::move(bytes));
  Value& v = values_[made];
  // The rounded number is what a later cast sees.
  v.scalar = true, v.whole = !is_real(dtype), v.i = 0, v.f = 0;
  Buffer from = to, seen;
  seen.rank = 0;
  for (const Initializer& known : initializers_)
    if (known.value == made) from.data = const_cast<char*>(known.bytes.data());
  seen.dtype = v.whole ? DType::i64 : DType::f64;
  seen.data = v.whole ? static_cast<void*>(&v.i) : static_cast<void*>(&v.f);
  convert_elements(from, seen);
  return made;
}
Val Graph::scalar(double f, DType dtype) {
  return add_scalar(f, 0, false, dtype);
}
Val Graph::scalar(int64_t i, DType dtype) {
  return add_scalar(0, i, true, dtype);
}

Val Graph::integers(const std::vector<int64_t>& list) {
  return constant(DType::i64, {static_cast<int64_t>(list.size())}, bytes_of(list));
}

Val Graph::add_weight(const Ref<Tensor>& tensor, const std::string& name) {
  const Val made = value(tensor->type().dtype, name);
  const Sizes sizes = concrete(tensor->type().shape);
  initializers_.push_back({made, {sizes.begin(), sizes.end()}, {}, tensor});
  return made;
}
Val Graph::add_outside_weight(const TensorType& type, const std::string& name) {
  const Val made = value(type.dtype, name);
  const Sizes sizes = concrete(type.shape);
  initializers_.push_back({made, {sizes.begin(), sizes.end()}, {}, nullptr, true});
  return made;
}

Val Graph::give_name(Val v, const std::string& name) {
  const bool made = std::any_of(nodes_.begin(), nodes_.end(), [&](const GraphNode& n) {
    return std::find(n.outputs.begin(), n.outputs.end(), v) != n.outputs.end();
  });
  if (!made || values_[v].taken) v = emit("Identity", {v}, {values_[v].dtype}, {})[0];
  values_[v].name = make_name_unique(name);
  values_[v].taken = true;
  return v;
}

void Graph::drop_unused() {
  std::vector<bool> used(values_.size(), false);
  for (const GraphPort& out : outputs) used[out.value] = true;
  for (size_t n = nodes_.size(); n-- > 0;) {
    GraphNode& node = nodes_[n];
    if (std::none_of(node.outputs.begin(), node.outputs.end(), [&](Val v) { return used[v]; })) {
      node.outputs.clear();
      continue;
    }
    // The only op here whose results at the end are optional.
    while (node.op == "MaxPool" && !used[node.outputs.back()]) node.outputs.pop_back();
    for (const Val v : node.inputs) used[v] = true;
  }
  std::erase_if(nodes_, [](const GraphNode& n) { return n.outputs.empty(); });
  for (const GraphPort& in : inputs) used[in.value] = true;
  std::erase_if(initializers_, [&](const Initializer& i) { return !used[i.value]; });
}

}  // namespace thunder::onnx_export
