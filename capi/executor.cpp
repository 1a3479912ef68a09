// thunder_executor_*: executors of the caller behind the descriptor that ours use too.
#include "base/nesting.h"
#include "capi/callback.h"
#include "capi/executor_kernels.h"
#include "capi/lent.h"
#include "capi/node.h"
#include "capi/options.h"

using namespace thunder;
using namespace thunder::capi;

namespace {

constexpr size_t kMostScratch = size_t{1} << 48;

struct CExecutor;

// A node that the executor's own prepare and run do, beside others that its kernels do.
class PreparedByCaller : public PreparedOp {
 public:
  PreparedByCaller(CExecutor& of, void* state) : of_(of), state_(state) {}
  ~PreparedByCaller() override;
  void lay_out(const NodeView& view, size_t* scratch_bytes) override;
  Status* run(const Launch* launch) const override;

 private:
  CExecutor& of_;
  void* const state_;
};

// The caller's descriptor, and ours over it.
struct CExecutor {
  thunder_executor_desc desc{};
  std::unique_ptr<ExecutorKernels> kernels;  // null: prepare and run do it all
  Devices* devices = nullptr;                // the context's, if there are kernels
  std::unordered_set<std::string> own_ops;   // those that prepare and run do; empty: all that are claimed

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
    if (!of(user).desc.claim) return true;
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
  // With kernels: the states are PreparedOps.
  static bool claim_with_kernels(const NodeView& view, void* user) {
    const CExecutor& self = of(user);
    return (self.kernels->find(view) || self.takes_itself(view)) && claim(view, user);
  }
  static uint32_t flags_of(const NodeView& view, void* user) {
    const kernels::DeviceKernel* const kernel = of(user).kernels->find(view);
    return kernel ? kernel->flags() : of(user).own_flags();
  }
  uint32_t own_flags() const { return (desc.flags & ~uint32_t{THUNDER_EXECUTOR_CUDA}) | kMayFail; }
  bool takes_itself(const NodeView& view) const {
    const bool named = own_ops.empty() || own_ops.contains(std::string(view.node.op->name()));
    return desc.prepare && named && (is_on_cpu(view) || desc.flags & THUNDER_EXECUTOR_CUDA);
  }
  static Status* prepare_op(const NodeView& view, void** state, size_t* scratch_bytes, void* user) {
    const CExecutor& self = of(user);
    void* own = nullptr;
    const kernels::DeviceKernel* const kernel = self.kernels->find(view);
    if (!kernel)
      if (Status* failed = prepare(view, &own, scratch_bytes, user)) return failed;
    return caught([&]() -> Status* {
      if (kernel)
        *state = kernel->prepare(view, *self.devices).release();
      else
        *state = static_cast<PreparedOp*>(new (std::nothrow) PreparedByCaller(of(user), own));
      if (*state) return nullptr;
      if (self.desc.drop) self.desc.drop(own);
      throw std::bad_alloc();
    });
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
  static bool execution_transform(const NodeView& view, BuilderScope& scope, Results& results, void* user) {
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

PreparedByCaller::~PreparedByCaller() {
  if (of_.desc.drop) of_.desc.drop(state_);
}
void PreparedByCaller::lay_out(const NodeView& view, size_t* scratch_bytes) {
  if (!of_.desc.lay_out) return;
  if (Status* failed = CExecutor::lay_out(view, state_, scratch_bytes, &of_)) throw Error(Ref<Status>::adopt(failed));
}
Status* PreparedByCaller::run(const Launch* launch) const {
  return called("its run", [&] { return of_.desc.run(handle(launch), state_); }).detach();
}

// What its own run needs holds for the nodes that it does itself.
void run_with_kernels(ExecutorDesc& desc) {
  desc.flags &= kAnyDevice;
  desc.flags_of = CExecutor::flags_of;
  desc.claim = CExecutor::claim_with_kernels;
  desc.prepare = CExecutor::prepare_op;
  use_prepared_ops(desc);
}

ExecutorDesc ours(const std::shared_ptr<CExecutor>& made) {
  const thunder_executor_desc& d = made->desc;
  check(d.name && *d.name, "the descriptor has no name");
  constexpr uint32_t kFlags =
      THUNDER_EXECUTOR_STRIDED | THUNDER_EXECUTOR_CALLER_THREAD | THUNDER_EXECUTOR_IN_PLACE | THUNDER_EXECUTOR_CUDA;
  check((d.flags & ~kFlags) == 0, "executor '", d.name, "' has unknown flags ", d.flags & ~kFlags);
  check(d.prepare || made->kernels, "executor '", d.name, "' has no prepare");
  check(d.run || (made->kernels && !d.prepare), "executor '", d.name, "' has no run");
  ExecutorDesc desc;
  desc.name = d.name;
  desc.ops = texts_of(d.ops, d.n_ops, "op", cat("executor '", d.name, "'"));
  made->own_ops.insert(desc.ops.begin(), desc.ops.end());
  if (made->kernels && (!desc.ops.empty() || !d.claim))
    for (std::string& op : made->kernels->ops()) desc.ops.push_back(std::move(op));
  check(d.claim || !desc.ops.empty(), "executor '", d.name, "' has neither ops nor claim");
  desc.flags = made->own_flags();
  if (d.flags & THUNDER_EXECUTOR_CUDA || (made->kernels && made->kernels->on_devices())) desc.flags |= kAnyDevice;
  if (d.claim) desc.claim = CExecutor::claim;
  if (d.claim_region) desc.claim_region = CExecutor::claim_region;
  desc.prepare = CExecutor::prepare;
  if (d.lay_out) desc.lay_out = CExecutor::lay_out;
  if (d.execution_transform) desc.execution_transform = CExecutor::execution_transform;
  // The hot path goes straight to the caller's function: the structures and the handles are the same.
  desc.run = reinterpret_cast<Status* (*)(const Launch*, void*)>(d.run);
  desc.drop = d.drop ? d.drop : [](void*) {};
  if (made->kernels) run_with_kernels(desc);
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
    if (made->desc.n_kernels) {
      check(made->desc.kernels != nullptr, "kernels is NULL");
      made->kernels = std::make_unique<ExecutorKernels>(made->desc, *core(context));
      made->devices = &core(context)->devices();
    }
    *out = given(make<Executor>(ours(made)));
  }));
}

thunder_status* thunder_context_add_executor(thunder_context* context, thunder_executor* executor) noexcept {
  return handle(guarded(__func__, [&] {
    need(context, "context"), need(executor, "executor");
    core(context)->add_executor(Ref<Executor>(core(executor)));
  }));
}

void thunder_executor_release(thunder_executor* executor) noexcept {
  released(executor);
}

}  // extern "C"
