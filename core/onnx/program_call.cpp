// A call of a model: its inputs by place or by name, and its outputs in their order.
#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "onnx/importer.h"

namespace thunder::onnx {
namespace {

Tensor* checked_input(Importer& importer, const ValueInfo& info, Tensor* t) {
  if (t->kind() == Tensor::Kind::failed) throw Error(t->failure());
  const ElementType* wanted = find_element_type(info.type);
  const DType dtype = wanted ? wanted->dtype : DType::none;
  if (t->kind() == Tensor::Kind::number || t->type().weak) {
    const NodeProto none;
    Frame frame;
    t = Node(importer, frame, none, 1).op("to", {t, dtype});
  }
  const TensorType& type = t->type();
  require(!wanted || type.dtype == dtype, "input '", info.name, "' is ", name(type), ", the model takes ",
          wanted && dtype == DType::none ? wanted->name : name(dtype));
  if (!info.dims || info.kind != ValueInfo::Kind::tensor) return t;
  require(type.rank() == info.dims->size(), "input '", info.name, "' is ", name(type), ", the model takes one of ",
          info.dims->size(), " dims");
  for (size_t d = 0; d < type.rank(); d++) {
    const int64_t size = (*info.dims)[d].value;
    // Looked at as a number only where the model says one: other sizes may vary.
    require(size <= 0 || hint(type.shape[d]) == size, "input '", info.name, "' is ", name(type), ", the model takes ",
            size, " in dim ", d);
  }
  return t;
}

bool digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

// "2", "0.name" in a map, or behind either the place in a sequence.
size_t Program::input_at(const std::string& path) const {
  const auto named = [&](std::string_view name) {
    const auto it = std::find_if(inputs_.begin(), inputs_.end(), [&](auto& i) { return i.name == name; });
    return static_cast<size_t>(it - inputs_.begin());
  };
  const size_t dot = path.find('.');
  if (dot != path.npos) {
    const std::string_view rest = std::string_view(path).substr(dot + 1);
    if (const size_t at = named(rest); at < inputs_.size()) return at;
    const size_t last = rest.rfind('.');
    if (last != rest.npos && digits(rest.substr(last + 1)))
      if (const size_t at = named(rest.substr(0, last)); at < inputs_.size()) return at;
  }
  size_t at = inputs_.size();
  const std::string_view first = std::string_view(path).substr(0, dot);
  std::from_chars(first.data(), first.data() + first.size(), at);
  const bool in_list = dot != path.npos && digits(std::string_view(path).substr(dot + 1));
  const bool fits =
      at < inputs_.size() && (dot == path.npos || (in_list && inputs_[at].kind == ValueInfo::Kind::sequence));
  require(fits, "there is no input '", dot == path.npos ? path : path.substr(dot + 1), "'; the model has ",
          inputs_.size(), ": ", join(inputs_, ", ", [](auto& i) { return i.name; }));
  return at;
}

void Program::set_input(Importer& importer, const std::string& path, Tensor* t, std::vector<Value>& inputs) const {
  const size_t at = input_at(path);
  const ValueInfo& info = inputs_[at];
  t = checked_input(importer, info, t);
  if (info.kind == ValueInfo::Kind::sequence) {
    auto list = inputs[at].list ? *inputs[at].list : std::vector<Value>();
    list.push_back({t, nullptr, nullptr});
    inputs[at].list = std::make_shared<const std::vector<Value>>(std::move(list));
  } else {
    require(!inputs[at].is_present(), "input '", info.name, "' is given twice");
    inputs[at].tensor = t;
  }
}

Ref<Status> Program::call(Scope& scope, const Values& in, Values& out) {
  std::vector<Value> inputs(inputs_.size());
  Importer importer(scope, *this);
  const std::vector<std::string> paths = in.paths();
  for (size_t leaf = 0; leaf < in.size(); leaf++) {
    if (in[leaf].kind == ArgKind::none && !in[leaf].tensor) continue;
    Tensor* t = in.tensor(leaf);
    if (leaf == 0) importer.device = t->type().device;
    set_input(importer, paths[leaf], t, inputs);
  }
  for (size_t i = 0; i < inputs.size(); i++) {
    if (inputs_[i].kind == ValueInfo::Kind::sequence && !inputs[i].list)
      inputs[i].list = std::make_shared<const std::vector<Value>>();
    const bool may_miss = i >= required_ || inputs_[i].kind == ValueInfo::Kind::optional;
    require(inputs[i].is_present() || may_miss, name(), ": input '", inputs_[i].name, "' is missing");
  }
  for (const Value& v : importer.run(inputs, outputs_)) {
    if (!v.is_present())
      out.push(Any());
    else if (!v.list)
      out.push(Ref<Tensor>(v.tensor));
    if (!v.list) continue;
    out.open(false, "");
    for (Value item : *v.list) out.push(Ref<Tensor>(importer.materialize(item)));
    out.close();
  }
  return {};
}

}  // namespace thunder::onnx
