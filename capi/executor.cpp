// thunder_executor_*: executors of the caller behind the descriptor that ours use too.
#include "base/nesting.h"
#include "capi/callback.h"
#include "capi/lent.h"
#include "capi/node.h"
#include "capi/options.h"

using namespace thunder;
using namespace thunder::capi;

namespace {

constexpr size_t kMostScratch = size_t{1} << 48;

// The caller's descriptor, and ours over it.
struct CExecutor {
  thunder_executor_desc desc{};

  ~CExecutor() {
    if (desc.destroy) desc.destroy(desc.user);
  }
  static CExecutor& of(void* user) { return *static_cast<CExecutor*>(user); }
  static std::string who(const char* callback) { return cat("its ", callback); }

  // Null, or why no memory holds so much scratch: sums of it must fit in 64 bits.
  static Status* too_much(size_t scratch_bytes) {
    if (scratch_bytes <= kMostScratch) return nullptr;
    return make<Status>(Code::invalid_argument, cat("it asks for ", scratch_bytes, " bytes of scratch")).detach();
  }
  static bool claim(const NodeView& view, void* user) {
    const NodeHandle node(view.node, view.store);
    const bool claimed =
        answered(of(user).who("claim"), [&] { return of(user).desc.claim(handle(&node), of(user).desc.user) != 0; });
    node.require_memory();
    return claimed;
  }
  static bool claim_region(std::span<const Node* const> nodes, const Store& store, uint8_t* taken, RegionState&,
                           void* user) {
    std::deque<NodeHandle> made;
    std::vector<const thunder_node*> handles;
    for (const Node* n : nodes) handles.push_back(handle(&std::as_const(made.emplace_back(*n, store))));
    const thunder_executor_desc& desc = of(user).desc;
    const auto form = [&] { return desc.claim_region(handles.data(), handles.size(), taken, desc.user) != 0; };
    const bool formed = answered(of(user).who("claim_region"), form);
    for (const NodeHandle& node : made) node.require_memory();
    return formed;
  }
  static Status* prepare(const NodeView& view, void** state, size_t* scratch_bytes, void* user) {
    const NodeHandle node(view.node, view.store);
    const Nesting inside(view.node.op->name());
    const thunder_executor_desc& desc = of(user).desc;
    Status* failed = called(of(user).who("prepare"), [&] {
                       return desc.prepare(handle(&node), state, scratch_bytes, desc.user);
                     }).detach();
    if (failed || !(failed = too_much(*scratch_bytes))) return failed;
    if (of(user).desc.drop) of(user).desc.drop(*state);
    return failed;
  }
  static Status* lay_out(const NodeView& view, void* state, size_t* scratch_bytes, void* user) {
    const NodeHandle node(view.node, view.store);
    thunder_launch layout{};
    layout.size = sizeof layout;
    layout.inputs = reinterpret_cast<const thunder_buffer*>(view.inputs.data()), layout.n_inputs = view.inputs.size();
    layout.outputs = reinterpret_cast<const thunder_buffer*>(view.outputs.data()),
    layout.n_outputs = view.outputs.size();
    const thunder_executor_desc& desc = of(user).desc;
    Status* failed = called(of(user).who("lay_out"), [&] {
                       return desc.lay_out(handle(&node), &layout, state, scratch_bytes, desc.user);
                     }).detach();
    return failed ? failed : too_much(*scratch_bytes);
  }
  static bool transform(const NodeView& view, BuilderScope& scope, Results& results, void* user) {
    const thunder_executor_desc& desc = of(user).desc;
    const NodeHandle node(view.node, view.store);
    const Nesting inside(view.node.op->name());
    const auto given = make<Values>(), made = make<Values>();
    Values &in = *given, &out = *made;
    const Lent lent_in(in), lent_out(out);
    for (size_t i = 0; i < node.args.size(); i++) push_argument(scope, in, node.op.schema.params[i], node.args[i]);
    const Live lent_scope(scope);
    thunder_scope* lent = handle(static_cast<Scope*>(&scope));
    auto failed = called(of(user).who("execution_transform"), [&] {
      return desc.execution_transform(lent, handle(&node), handle(&std::as_const(in)), handle(&out), desc.user);
    });
    if (failed && failed->code() == Code::declined) return false;
    if (failed) throw Error(failed);
    if (in.status()) throw Error(in.status());
    results = scope.results(out);
    return true;
  }
};

ExecutorDesc ours(const std::shared_ptr<CExecutor>& made) {
  const thunder_executor_desc& d = made->desc;
  check(d.name && *d.name, "the descriptor has no name");
  check(d.prepare != nullptr, "executor '", d.name, "' has no prepare");
  check(d.run != nullptr, "executor '", d.name, "' has no run");
  ExecutorDesc desc;
  desc.name = d.name;
  desc.ops = texts_of(d.ops, d.n_ops, "op", cat("executor '", d.name, "'"));
  check(d.claim || !desc.ops.empty(), "executor '", d.name, "' has neither ops nor claim");
  desc.flags = d.flags | kMayFail;
  if (d.claim) desc.claim = CExecutor::claim;
  if (d.claim_region) desc.claim_region = CExecutor::claim_region;
  desc.prepare = CExecutor::prepare;
  if (d.lay_out) desc.lay_out = CExecutor::lay_out;
  if (d.execution_transform) desc.transform = CExecutor::transform;
  // The hot path goes straight to the caller's function: the structures and the handles are the same.
  desc.run = reinterpret_cast<Status* (*)(const Launch*, void*)>(d.run);
  desc.drop = d.drop ? d.drop : [](void*) {};
  desc.user = made.get();
  desc.owner = made;
  return desc;
}

}  // namespace

extern "C" {

thunder_status* thunder_executor_create(thunder_context* context, const thunder_executor_desc* desc,
                                        thunder_executor** out) noexcept {
  return handle(guarded(__func__, [&] {
    const auto made = kept<CExecutor>(desc);
    need(context, "context"), need(out, "out");
    *out = given(make<Executor>(ours(made)));
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
