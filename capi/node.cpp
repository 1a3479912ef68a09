// thunder_node_*: a line of a trace for executors, meta functions and passes.
#include "capi/node.h"

using namespace thunder;
using namespace thunder::capi;

namespace {

// Tensors in the schema's order, lists flattened, absent ones counted: the wanted one. `count` gets how many there are.
Arg find_tensor_argument(const NodeHandle& n, size_t wanted, size_t* count = nullptr) {
  size_t at = 0;
  Arg found = Arg::none();
  for (size_t i = 0; i < n.args.size(); i++) {
    const Arg& a = n.args[i];
    const ParamKind kind = n.op.schema.params[i].kind;
    if (kind == ParamKind::tensors) {
      if (wanted >= at && wanted < at + a.count) found = Arg::value(a.value_list()[wanted - at]);
      at += a.count;
    } else if (kind == ParamKind::tensor && wanted == at++) {
      found = a;
    }
  }
  if (count) *count = at;
  return found;
}

Tensor* input(const NodeHandle& n, size_t wanted) {
  const Arg a = find_tensor_argument(n, wanted);
  return !a.present() ? nullptr : a.kind == ArgKind::value ? n.metadata(a.v) : n.keep(Tensor::number(a));
}

// NULL means an absent input, so that missing memory is a failed tensor.
template <class F>
Tensor* make_or_failed(const NodeHandle& n, F&& make) {
  Tensor* const failed = lasting_failure(Lasting::no_memory);
  Tensor* made = value_or(failed, make);
  n.without_memory |= made == failed;
  return made;
}

// Only a region shows its executor the nodes inside it; the decomposition of another op is not shown.
std::span<const Node* const> lines_of(const NodeHandle& n) {
  return n.op.schema.name == "region" ? n.body : std::span<const Node* const>();
}

const NodeHandle* line_handle(const NodeHandle& n, size_t index) {
  const auto body = lines_of(n);
  n.lines.resize(body.size());
  if (!n.lines[index]) n.lines[index] = std::make_unique<NodeHandle>(*body[index], *n.store);
  return n.lines[index].get();
}

Any argument(const NodeHandle& n, std::string_view name) {
  const Schema& schema = n.op.schema;
  const int found = schema.find(name);
  std::vector<std::string_view> known;
  for (auto& p : schema.params) known.push_back(p.name);
  check(found >= 0, schema.name, " has no argument '", name, "'", suggest(name, known), "; ", schema.text);
  const Arg a = n.args[static_cast<size_t>(found)].plain();
  check(a.kind != ArgKind::value && a.kind != ArgKind::values, "argument '", name, "' of ", schema.name,
        " is a tensor; see thunder_node_input");
  Any out;
  out.kind = a.kind, out.count = a.count, out.i = a.i;
  if (a.kind == ArgKind::dims) {
    auto& list = n.lists.emplace_back();
    for (Dim d : a.dim_list()) list.push_back(hint(d));
    out.d = list.data();
  }
  return out;
}

}  // namespace

extern "C" {

const char* thunder_node_op(const thunder_node* node) noexcept {
  const auto* const object = core(node);
  return object ? object->op.schema.name.c_str() : "";
}

thunder_tensor* thunder_node_input(const thunder_node* node, size_t index) noexcept {
  const NodeHandle* const n = core(node);
  return n ? handle(make_or_failed(*n, [&] { return input(*n, index); })) : nullptr;
}

thunder_tensor* thunder_node_output(const thunder_node* node, size_t index) noexcept {
  const NodeHandle* const n = core(node);
  if (!n || index >= n->results.size()) return nullptr;
  return handle(make_or_failed(*n, [&] { return n->metadata(n->results[index]); }));
}

uint32_t thunder_node_input_value(const thunder_node* node, size_t index) noexcept {
  const NodeHandle* const n = core(node);
  if (!n) return kNoValue;
  const Arg a = find_tensor_argument(*n, index);
  return a.kind == ArgKind::value ? a.v : kNoValue;
}

uint32_t thunder_node_output_value(const thunder_node* node, size_t index) noexcept {
  const NodeHandle* const n = core(node);
  return n && index < n->results.size() ? n->results[index] : kNoValue;
}

size_t thunder_node_line_count(const thunder_node* node) noexcept {
  const NodeHandle* const n = core(node);
  return n ? lines_of(*n).size() : 0;
}

const thunder_node* thunder_node_line(const thunder_node* node, size_t index) noexcept {
  const NodeHandle* const n = core(node);
  if (!n || index >= lines_of(*n).size()) return nullptr;
  const auto* made = value_or<const NodeHandle*>(nullptr, [&] { return line_handle(*n, index); });
  n->without_memory |= !made;
  return handle(made);
}

thunder_status* thunder_node_arg(const thunder_node* node, const char* name, thunder_any* out) noexcept {
  return given(guarded(__func__, [&] {
    need(node, "node"), need(name, "name"), need(out, "out");
    *core(out) = argument(*core(node), name);  // which has no tensors
  }));
}

size_t thunder_node_input_count(const thunder_node* node) noexcept {
  size_t count = 0;
  if (const NodeHandle* const n = core(node)) find_tensor_argument(*n, SIZE_MAX, &count);
  return count;
}

size_t thunder_node_output_count(const thunder_node* node) noexcept {
  const auto* const object = core(node);
  return object ? object->results.size() : 0;
}
size_t thunder_node_arg_count(const thunder_node* node) noexcept {
  const auto* const object = core(node);
  return object ? object->args.size() : 0;
}

const char* thunder_node_arg_name(const thunder_node* node, size_t index) noexcept {
  const NodeHandle* const n = core(node);
  return n && index < n->args.size() ? n->op.schema.params[index].name.c_str() : "";
}

const char* thunder_node_where(const thunder_node* node) noexcept {
  const NodeHandle* const n = core(node);
  return n && n->where ? n->where : "";
}

const char* thunder_node_executor(const thunder_node* node) noexcept {
  const NodeHandle* const n = core(node);
  return n && n->executor ? n->executor : "";
}

}  // extern "C"
