#include "onnx/node.h"

#include <algorithm>

#include "base/text.h"
#include "onnx/importer.h"
#include "tracer/tracing.h"

namespace thunder::onnx {
namespace {

// Whether a tensor has data. If it has none yet, its scope may compute it now.
bool has_data(Scope&, Tensor& t, const char* place) {
  if (t.concrete()) return true;
  return t.kind() == Tensor::Kind::proxy && t.owner() && t.owner()->give_data(t, place) && t.concrete();
}

}  // namespace

Node::Node(Importer& importer, Frame& frame, const NodeProto& proto, int64_t opset)
    : scope(importer.scope()), proto(proto), opset(opset), importer_(importer), frame_(frame) {}

Value& Node::input(size_t i) {
  require(i < proto.inputs.size() && !proto.inputs[i].empty(), "its input ", i + 1, " is missing");
  return importer_.find(frame_, proto.inputs[i]);
}

bool Node::has(size_t i) const {
  if (i >= proto.inputs.size() || proto.inputs[i].empty()) return false;
  return importer_.find(frame_, proto.inputs[i]).is_present();  // a function may be called without it
}

const Value& Node::value(size_t i) {
  const Value& v = input(i);
  require(v.is_present(), "its input ", i + 1, " is missing");
  return v;
}

Tensor* Node::tensor(size_t i) {
  Value& v = input(i);
  require(v.is_present(), "its input ", i + 1, " is missing");
  require(!v.list, "its input ", i + 1, ", '", proto.inputs[i], "', is a sequence; a tensor is needed");
  Tensor* t = importer_.materialize(v);
  if (t->kind() == Tensor::Kind::failed) throw Error(t->failure());
  return t;
}

const TensorType& Node::type(size_t i) {
  return tensor(i)->type();
}

DType Node::dtype(size_t i) {
  const Value& v = value(i);
  return v.host ? v.host->dtype : type(i).dtype;
}

size_t Node::rank(size_t i) {
  const Value& v = value(i);
  return v.host ? v.host->shape.size() : type(i).rank();
}

Dim dim_of(const Tensor* t, int64_t d) {
  const Shape& shape = t->type().shape;
  const auto rank = static_cast<int64_t>(shape.size());
  require(d < rank && d >= -rank, "a tensor is ", thunder::name(t->type()), ", its dim ", d, " is needed");
  return shape[static_cast<size_t>(d < 0 ? d + rank : d)];
}
size_t dim_at(int64_t axis, size_t rank) {
  require(rank > 0, "dim ", axis, " is needed of a tensor without dims");
  return normalize_axis(axis, rank);
}
Dim Node::dim(size_t i, int64_t d) {
  const auto of = static_cast<int64_t>(rank(i));
  require(d < of, "its input ", i + 1, " is of rank ", of, ", it needs more than ", d);
  return dim_of(tensor(i), d);
}

const Host& Node::require_known(size_t i, const char* what) {
  Value& v = input(i);
  require(v.is_present(), "its input ", i + 1, ", the ", what, ", is missing");
  if (v.host) return *v.host;
  Tensor* t = tensor(i);
  // A weight is what the module holds, whose data is guarded by nothing: it may not be written any more.
  if (const Program::Weight* w = importer_.weight(frame_, proto.inputs[i])) {
    t = importer_.program().module()->find_tensor(w->path)->tensor.get();
    check_size(*t, what);
    t->set_read_only();
    v.host = host_of(*t);
    return *v.host;
  }
  if (!has_data(scope, *t, importer_.node_location()))
    refuse("its input ", i + 1, ", the ", what,
           ", must be known while the model is traced, and is computed from data ('", proto.inputs[i].substr(0, 200),
           "', ", thunder::name(t->type()), "); run it op by op, or compile it with fullgraph = false");
  return *known_value(v, what);
}

const Host* Node::known_value(Value& v, const char* what) {
  if (v.host) return v.host.get();
  Tensor* t = importer_.materialize(v);
  if (!has_data(scope, *t, importer_.node_location()))
    refuse("the ", what, " must be known while the model is traced, and is computed from data");
  check_size(*t, what);
  v.host = host_of(*t);
  return v.host.get();
}

void Node::check_size(const Tensor& t, const char* what) const {
  require(t.elements() <= kMostHostElements, "the ", what, " has ", t.elements(), " elements; at most ",
          kMostHostElements, " are allowed");
}

std::vector<Dim> Node::dims(size_t i, const char* what) {
  const Host& h = require_known(i, what);
  require(!h.holds_reals() && h.shape.size() <= 1, "its input ", i + 1, ", the ", what, ", is ", thunder::name(h.dtype),
          " of rank ", h.shape.size(), "; a list of integers is needed");
  return h.ints;
}

std::vector<int64_t> Node::numbers(size_t i, const char* what) {
  std::vector<int64_t> out;
  for (Dim d : dims(i, what)) out.push_back(hint(d));
  return out;
}

double Node::number(size_t i, const char* what) {
  const Host& h = require_known(i, what);
  require(h.size() == 1, "its input ", i + 1, ", the ", what, ", has ", h.size(), " elements, one is needed");
  return h.holds_reals() ? h.reals[0] : static_cast<double>(hint(h.ints[0]));
}

int64_t Node::whole(size_t i, const char* what) {
  const Host& h = require_known(i, what);
  require(h.size() == 1 && !h.holds_reals(), "its input ", i + 1, ", the ", what, ", is ", thunder::name(h.dtype),
          " with ", h.size(), " elements, one integer is needed");
  return hint(h.ints[0]);
}

std::vector<int64_t> Node::list(const char* name, size_t i, int64_t since) {
  if (opset < since) return integers(name);
  return has(i) ? numbers(i, name) : std::vector<int64_t>();
}

// Lists must not move while they are pointed to.
std::vector<Any> Node::arguments(std::initializer_list<Operand> args, std::vector<const char*>& names) {
  size_t sizes = 0;
  for (const Operand& o : args) sizes += o.dims.size();
  words_.clear();
  words_.reserve(sizes);
  std::vector<Any> out;
  bool any_name = false;
  for (const Operand& o : args) {
    Any a = o.any;
    if (a.kind == ArgKind::integer) a.i = importer_.word(o.dim);
    if (a.kind == ArgKind::dims && !o.dims.empty()) {
      a.count = static_cast<uint32_t>(o.dims.size()), a.d = words_.data() + words_.size();
      for (Dim d : o.dims) words_.push_back(importer_.word(d));
    }
    out.push_back(a);
    names.push_back(o.name);
    any_name |= o.name != nullptr;
  }
  if (!any_name) names.clear();
  return out;
}

Tensor* Node::op(std::string_view name, std::initializer_list<Operand> args) {
  std::vector<const char*> names;
  const std::vector<Any> given = arguments(args, names);
  Tensor* t = scope.invoke(name, given, names.empty() ? nullptr : names.data(), nullptr, 0, importer_.node_location());
  importer_.check();
  return t;
}

std::vector<Tensor*> Node::ops(std::string_view name, std::initializer_list<Operand> args) {
  std::vector<const char*> names;
  const std::vector<Any> given = arguments(args, names);
  const Values* all = scope.invoke_all(name, given, names.empty() ? nullptr : names.data(), importer_.node_location());
  importer_.check();
  std::vector<Tensor*> out;
  for (size_t i = 0; i < all->size(); i++) out.push_back((*all)[i].tensor.get());
  return out;
}

Tensor* Node::constant(double value, DType dtype) {
  auto h = std::make_shared<Host>();
  h->dtype = dtype;
  if (h->holds_reals())
    h->reals = {value};
  else
    h->ints = {static_cast<int64_t>(value)};
  return constant(std::move(h));
}

// A list with formulas is assembled element by element when the trace is specialised to sizes.
Tensor* Node::constant(HostRef host) {
  const Device device = importer_.device;
  if (host->constant()) {
    Tensor* t = scope.own(tensor_of(*host, scope.environment().allocator));
    return device == Device::cpu ? t : op("to", {t, nullptr, device});
  }
  const auto one = [&](Dim d, const Sizes& shape) { return op("full", {shape, d, host->dtype, device}); };
  if (host->shape.empty()) return one(host->ints[0], {});
  std::vector<Tensor*> parts;
  for (Dim d : host->ints) parts.push_back(one(d, {1}));
  Tensor* list = parts.size() == 1 ? parts[0] : op("cat", {parts, 0});
  return host->shape.size() == 1 ? list : op("reshape", {list, host->shape});
}

void Node::give(std::vector<Value> list) {
  give(Value{nullptr, nullptr, std::make_shared<const std::vector<Value>>(std::move(list))});
}

namespace {
Value value_on_device(Node& n, const Program::Weight& w) {
  if (n.importer().device == Device::cpu) return {w.constant.get(), w.host, nullptr};
  return {n.op("to", {w.constant.get(), nullptr, n.importer().device}), w.host, nullptr};
}
}  // namespace

Value Node::import_constant(const TensorProto& t) {
  return value_on_device(*this, importer_.program().constant(t));
}
Value Node::import_constant(const SparseProto& t) {
  return value_on_device(*this, importer_.program().constant(t));
}

std::vector<Value> Node::run(const Graph& graph, std::span<const Value> inputs) {
  return importer_.run(graph, frame_, inputs);
}

}  // namespace thunder::onnx
