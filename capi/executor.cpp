// thunder_executor_* and thunder_node_*: executors of the caller behind the descriptor that ours use too.
#include <cstring>
#include <deque>

#include "capi/options.h"

using namespace thunder;
using namespace thunder::capi;

namespace thunder::capi {

// A node while a callback looks at it. What the callback asks for is made then, and lives as long.
struct NodeHandle {
  NodeHandle(const Node& n, const Store& s) : node(n), store(s) {}
  const Node& node;
  const Store& store;
  mutable std::deque<Ref<Tensor>> tensors;
  mutable std::deque<std::vector<int64_t>> lists;
  mutable std::vector<std::unique_ptr<NodeHandle>> lines;  // of the body, made when the first one is asked for

  Tensor* keep(Ref<Tensor> t) const { return tensors.emplace_back(std::move(t)).get(); }
  Tensor* metadata(ValueId v) const { return keep(Tensor::proxy(store.type(v), this, v)); }
};
THUNDER_HANDLE(thunder_node, NodeHandle)

}  // namespace thunder::capi

namespace {

// Tensors in the schema's order, lists flattened, absent ones counted. None beyond the last.
Arg tensor_argument(const NodeHandle& n, size_t wanted) {
  size_t at = 0;
  for (size_t i = 0; i < n.node.args.size(); i++) {
    const Arg& a = n.node.args[i];
    const ParamKind kind = n.node.op->schema.params[i].kind;
    if (kind == ParamKind::tensors) {
      if (wanted < at + a.count) return Arg::value(a.value_list()[wanted - at]);
      at += a.count;
    } else if (kind == ParamKind::tensor && wanted == at++) {
      return a;
    }
  }
  return Arg::none();
}

Tensor* input(const NodeHandle& n, size_t wanted) {
  const Arg a = tensor_argument(n, wanted);
  return !a.present() ? nullptr : a.kind == ArgKind::value ? n.metadata(a.v) : n.keep(Tensor::number(a));
}

// Only a region has lines for its executor; the decomposition of another op is not its business.
std::span<const Node* const> lines_of(const NodeHandle& n) {
  return n.node.op->schema.name == "region" ? std::span<const Node* const>(n.node.body) : std::span<const Node* const>();
}

const NodeHandle* line(const NodeHandle& n, size_t index) {
  const auto body = lines_of(n);
  if (index >= body.size()) return nullptr;
  n.lines.resize(body.size());
  if (!n.lines[index]) n.lines[index] = std::make_unique<NodeHandle>(*body[index], n.store);
  return n.lines[index].get();
}

Any argument(const NodeHandle& n, std::string_view name) {
  const Schema& schema = n.node.op->schema;
  const int found = schema.find(name);
  std::vector<std::string_view> known;
  for (auto& p : schema.params) known.push_back(p.name);
  check(found >= 0, schema.name, " has no argument '", name, "'", suggest(name, known), "; ", schema.text);
  const Arg& a = n.node.args[static_cast<size_t>(found)];
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

// The caller's descriptor, and ours over it.
struct CExecutor {
  thunder_executor_desc desc{};

  ~CExecutor() {
    if (desc.destroy) desc.destroy(desc.user);
  }
  static CExecutor& of(void* user) { return *static_cast<CExecutor*>(user); }

  static bool claim(const NodeView& view, void* user) {
    const NodeHandle node(view.node, view.store);
    return of(user).desc.claim(handle(&node), of(user).desc.user) != 0;
  }
  static bool claim_region(std::span<const Node* const> nodes, const Store& store, uint8_t* taken, void* user) {
    std::deque<NodeHandle> made;
    std::vector<const thunder_node*> handles;
    for (const Node* n : nodes) handles.push_back(handle(&std::as_const(made.emplace_back(*n, store))));
    return of(user).desc.claim_region(handles.data(), handles.size(), taken, of(user).desc.user) != 0;
  }
  static Status* prepare(const NodeView& view, void** state, size_t* scratch_bytes, void* user) {
    const NodeHandle node(view.node, view.store);
    return core(of(user).desc.prepare(handle(&node), state, scratch_bytes, of(user).desc.user));
  }
  static Status* lay_out(const NodeView& view, void* state, size_t* scratch_bytes, void* user) {
    const NodeHandle node(view.node, view.store);
    thunder_launch layout{};
    layout.size = sizeof layout;
    layout.inputs = reinterpret_cast<const thunder_buffer*>(view.inputs.data()), layout.n_inputs = view.inputs.size();
    layout.outputs = reinterpret_cast<const thunder_buffer*>(view.outputs.data()), layout.n_outputs = view.outputs.size();
    return core(of(user).desc.lay_out(handle(&node), &layout, state, scratch_bytes, of(user).desc.user));
  }
  static void destroy(void* user) { delete static_cast<CExecutor*>(user); }
};

ExecutorDesc ours(std::unique_ptr<CExecutor> made) {
  const thunder_executor_desc& d = made->desc;
  check(d.name && *d.name, "the descriptor has no name");
  check(d.prepare != nullptr, "executor '", d.name, "' has no prepare");
  check(d.run != nullptr, "executor '", d.name, "' has no run");
  check(d.n_ops == 0 || d.ops, "ops of executor '", d.name, "' is NULL");
  ExecutorDesc desc;
  desc.name = d.name;
  for (size_t i = 0; i < d.n_ops; i++) {
    check(d.ops[i] != nullptr, "op ", i, " of executor '", d.name, "' is NULL");
    desc.ops.emplace_back(d.ops[i]);
  }
  check(d.claim || !desc.ops.empty(), "executor '", d.name, "' has neither ops nor claim");
  desc.flags = d.flags;
  if (d.claim) desc.claim = CExecutor::claim;
  if (d.claim_region) desc.claim_region = CExecutor::claim_region;
  desc.prepare = CExecutor::prepare;
  if (d.lay_out) desc.lay_out = CExecutor::lay_out;
  // The hot path goes straight to the caller's function: the structures and the handles are the same.
  desc.run = reinterpret_cast<Status* (*)(const Launch*, void*)>(d.run);
  desc.drop = d.drop ? d.drop : [](void*) {};
  desc.destroy = CExecutor::destroy;
  desc.user = made.release();
  return desc;
}

}  // namespace

extern "C" {

const char* thunder_node_op(const thunder_node* node) noexcept {
  return node ? core(node)->node.op->schema.name.c_str() : "";
}

thunder_tensor* thunder_node_input(const thunder_node* node, size_t index) noexcept {
  return node ? handle(value_or<Tensor*>(nullptr, [&] { return input(*core(node), index); })) : nullptr;
}

thunder_tensor* thunder_node_output(const thunder_node* node, size_t index) noexcept {
  if (!node || index >= core(node)->node.results.size()) return nullptr;
  return handle(value_or<Tensor*>(nullptr, [&] { return core(node)->metadata(core(node)->node.results[index]); }));
}

uint32_t thunder_node_input_value(const thunder_node* node, size_t index) noexcept {
  if (!node) return kNoValue;
  const Arg a = tensor_argument(*core(node), index);
  return a.kind == ArgKind::value ? a.v : kNoValue;
}

uint32_t thunder_node_output_value(const thunder_node* node, size_t index) noexcept {
  return node && index < core(node)->node.results.size() ? core(node)->node.results[index] : kNoValue;
}

size_t thunder_node_line_count(const thunder_node* node) noexcept { return node ? lines_of(*core(node)).size() : 0; }

const thunder_node* thunder_node_line(const thunder_node* node, size_t index) noexcept {
  return node ? handle(value_or<const NodeHandle*>(nullptr, [&] { return line(*core(node), index); })) : nullptr;
}

thunder_status* thunder_node_arg(const thunder_node* node, const char* name, thunder_any* out) noexcept {
  return handle(guarded(__func__, [&] {
    need(node, "node"), need(name, "name"), need(out, "out");
    *core(out) = argument(*core(node), name);
  }));
}

thunder_status* thunder_executor_create(thunder_context* context, const thunder_executor_desc* desc,
                                        thunder_executor** out) noexcept {
  return handle(guarded(__func__, [&] {
    need(desc, "desc");
    thunder_executor_desc copy{};
    std::memcpy(&copy, desc, std::min(desc->size, sizeof copy));
    UserGuard guard(copy.destroy, copy.user);
    auto made = std::make_unique<CExecutor>();
    made->desc = copy;
    guard.dismiss();
    need(context, "context"), need(out, "out");
    *out = given(make<Executor>(ours(std::move(made))));
  }));
}

thunder_status* thunder_context_add_executor(thunder_context* context, thunder_executor* executor) noexcept {
  return handle(guarded(__func__, [&] {
    need(context, "context"), need(executor, "executor");
    core(context)->add_executor(Ref<Executor>(core(executor)));
  }));
}

void thunder_executor_release(thunder_executor* executor) noexcept { released(executor); }

}  // extern "C"
