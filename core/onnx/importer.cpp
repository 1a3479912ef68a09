#include "onnx/importer.h"

#include <algorithm>

#include "base/nesting.h"
#include "base/text.h"
#include "modules/access.h"
#include "onnx/rows.h"
#include "onnx/schema.h"
#include "tracer/recorder.h"
#include "tracer/tracing.h"

namespace thunder::onnx {
namespace {

// The most graphs and nodes that one call runs: branches and trips of loops, and the nodes of all of them and of
// functions, which may call each other many times.
constexpr size_t kMostGraphs = 100'000, kMostNodes = 1 << 20;

// No memory holds more, and loops over more, which fusion makes without memory, do not end.
constexpr int64_t kMostElements = int64_t{1} << 33;

std::string shown(std::string_view name) {
  return cat("'", name.substr(0, 200), "'");
}

// What a node gives to a function, which has it.
void check_call(const Node& n, const FunctionProto& f) {
  n.require(n.inputs() <= f.inputs.size(), "it is given ", n.inputs(), " inputs, the function has ", f.inputs.size());
  n.require(n.outputs() <= f.outputs.size(), "it has ", n.outputs(), " outputs, the function has ", f.outputs.size());
  const auto has = [&](std::string_view name) {
    return std::find(f.attributes.begin(), f.attributes.end(), name) != f.attributes.end() ||
           std::any_of(f.defaults.begin(), f.defaults.end(), [&](auto& d) { return d.name == name; });
  };
  for (const Attribute& a : n.proto.attributes)
    n.require(has(a.name), "its attribute ", shown(a.name), " is none of the function's");
}

}  // namespace

int64_t Importer::word(Dim size) {
  if (size.constant()) return size.value();
  auto* tracing = dynamic_cast<TracingScope*>(&scope_);
  return tracing ? tracing->word(size) : hint(size);
}

Value& Importer::find(Frame& frame, std::string_view name) {
  for (Frame* at = &frame; at; at = at->outer) {
    const auto it = at->values.find(name);
    if (it != at->values.end()) return it->second;
    if (!at->main) continue;
    const Program::Weight* w = program_.weight(name);
    if (!w) continue;
    Value v{w->constant.get(), w->host, nullptr};
    if (!w->path.empty()) v.tensor = module_tensor(scope_, *program_.module(), w->path);
    check();
    return at->values.emplace(name, std::move(v)).first->second;
  }
  fail(Code::data_lost, "no node before it gives ", shown(name), ", which it reads");
}

const Program::Weight* Importer::weight(const Frame& frame, std::string_view name) const {
  const Frame* at = &frame;
  while (at->outer && !at->values.contains(name)) at = at->outer;
  const Program::Weight* w = at->main ? program_.weight(name) : nullptr;
  return w && !w->path.empty() && !given_.contains(name) ? w : nullptr;
}

void Importer::set_current_node(const NodeProto& proto) {
  place_text_ = cat(program_.file(), ":", proto.number, " ", proto.op);
  if (!proto.name.empty()) place_text_ += cat(" ", proto.name.substr(0, 200));
  std::replace_if(
      place_text_.begin(), place_text_.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  place_ = nullptr;
}

// What is recorded may outlive the model, and texts of places with it. A scope that repeats a script has no store.
const char* Importer::node_location() {
  if (place_text_.empty()) return nullptr;
  auto* recorder = dynamic_cast<Recorder*>(&scope_.builder());
  const std::shared_ptr<Store> store = recorder ? recorder->shared_store() : nullptr;
  if (place_ && store == place_store_) return place_;
  place_store_ = store;
  return place_ = store ? store->text(place_text_) : place_text_.c_str();
}

std::vector<Value> Importer::run(std::span<const Value> inputs, std::span<const std::string> wanted) {
  Frame frame;
  frame.main = true;
  frame.opsets = program_.model().opsets;
  for (size_t i = 0; i < inputs.size(); i++) {
    const std::string_view name = program_.all_inputs()[i].name;
    if (i >= program_.inputs().size() && !inputs[i].is_present()) continue;
    frame.values.emplace(name, inputs[i]);
    given_.insert(name);
  }
  nodes(frame, program_.model().graph.nodes);
  std::vector<Value> out;
  for (const std::string& name : wanted) {
    out.push_back(find(frame, name));
    if (!out.back().list) materialize(out.back());
  }
  return out;
}

std::vector<Value> Importer::run(const Graph& graph, Frame& outer, std::span<const Value> inputs) {
  if (++graphs_ > kMostGraphs) fail(Code::unimplemented, "it runs more than ", kMostGraphs, " subgraphs");
  Frame frame;
  frame.outer = &outer;
  frame.opsets = outer.opsets, frame.function = outer.function, frame.call = outer.call;
  for (const TensorProto& t : graph.initializers) {
    const Program::Weight& w = program_.constant(t);
    frame.values.emplace(t.name, Value{w.constant.get(), w.host, nullptr});
  }
  if (inputs.size() > graph.inputs.size())
    fail(Code::data_lost, "its graph has ", graph.inputs.size(), " inputs, it is given ", inputs.size());
  for (size_t i = 0; i < inputs.size(); i++) frame.values.insert_or_assign(graph.inputs[i].name, inputs[i]);
  nodes(frame, graph.nodes);
  std::vector<Value> out;
  for (const ValueInfo& o : graph.outputs) out.push_back(find(frame, o.name));
  return out;
}

void Importer::nodes(Frame& frame, std::span<const NodeProto> nodes) {
  for (const NodeProto& proto : nodes) {
    if (++nodes_ > kMostNodes) fail(Code::unimplemented, "it runs more than ", kMostNodes, " nodes");
    const std::string outer = place_text_;
    set_current_node(proto);
    try {
      node(frame, proto);
    } catch (const Error& e) {
      if (!scope_.status()) scope_.fail_at(e, proto.op, node_location());
      throw Error(scope_.status());
    }
    place_text_ = outer, place_ = nullptr;
  }
}

void Importer::node(Frame& frame, const NodeProto& proto) {
  const auto it = std::find_if(frame.opsets.begin(), frame.opsets.end(),
                               [&](const OpsetImport& o) { return o.domain == proto.domain; });
  Node n(*this, frame, proto, it == frame.opsets.end() ? 1 : it->version);
  if (!call_function(n)) dispatch(n);
  check();
  for (size_t i = 0; i < proto.outputs.size(); i++) {
    if (proto.outputs[i].empty()) continue;
    if (i >= n.results.size())
      fail(Code::unimplemented, "its output ", i + 1, ", ", shown(proto.outputs[i]), ", is not computed");
    const Tensor* made = n.results[i].tensor;
    const Dim count = made ? elements(made->type().shape) : Dim(0);
    if (count.constant() && count.value() > kMostElements)
      fail(Code::unimplemented, "its output ", shown(proto.outputs[i]), " is ", name(made->type()), "; at most ",
           kMostElements, " elements are imported");
    if (!frame.values.emplace(proto.outputs[i], std::move(n.results[i])).second)
      fail(Code::data_lost, "its output ", shown(proto.outputs[i]), " has a value already");
  }
}

void Importer::dispatch(Node& n) {
  const ImportRow* row = find_row(n.proto.domain, n.proto.op, n.opset);
  if (!row) refuse_op(n.proto.domain, n.proto.op, n.opset);
  if (!row->run) fail(Code::unimplemented, "the op is not imported: ", row->note);
  check_schema(n);
  if (row->host && row->host(n)) return;
  row->run(n);
}

bool Importer::call_function(Node& n) {
  const FunctionProto* f = program_.find_function(n.proto.domain, n.proto.op, n.proto.overload);
  if (!f) return false;
  if (std::find(calls_.begin(), calls_.end(), f) != calls_.end())
    fail(Code::data_lost, "the function calls itself, which ONNX does not allow");
  const Nesting inside(f->name);
  calls_.push_back(f);
  Frame frame;
  frame.opsets = f->opsets, frame.function = f, frame.call = &n;
  check_call(n, *f);
  for (size_t i = 0; i < f->inputs.size(); i++) frame.values.emplace(f->inputs[i], n.has(i) ? n.value(i) : Value());
  nodes(frame, f->nodes);
  for (std::string_view name : f->outputs) n.give(find(frame, name));
  calls_.pop_back();
  return true;
}

Tensor* Importer::materialize(Value& v) {
  if (v.tensor) return v.tensor;
  if (v.list) fail(Code::invalid_argument, "a sequence stands where a tensor is needed");
  if (!v.host) fail(Code::invalid_argument, "an input that is left out stands where a tensor is needed");
  NodeProto none;
  Frame frame;
  Node n(*this, frame, none, 1);
  return v.tensor = n.constant(v.host);
}

}  // namespace thunder::onnx
