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

// A kernel that calls the caller's prepare and run.
class CallerKernel : public Kernel {
 public:
  explicit CallerKernel(const thunder_executor_desc& desc) : Kernel(KernelCall()), desc_(desc) {}
  ~CallerKernel() override {
    if (call().run && desc_.drop) desc_.drop(call().state);
  }
  void prepare(const NodeView& view) {
    const NodeHandle node(view.node, view.store);
    const Nesting inside(view.node.op->name());
    void* state = nullptr;
    throw_if_failed(
        call_with_status("its prepare", [&] { return desc_.prepare(handle(&node), &state, &scratch_, desc_.user); }));
    // The hot path goes straight to the caller's function: the structures and the handles are the same.
    set_call({reinterpret_cast<Status* (*)(const Launch*, void*)>(desc_.run), state});
    check_scratch();
  }
  void adapt_to_layouts(const NodeView& view) override {
    if (!desc_.lay_out) return;
    const NodeHandle node(view.node, view.store);
    thunder_launch layout{};
    layout.size = sizeof layout;
    layout.inputs = reinterpret_cast<const thunder_buffer*>(view.inputs.data()), layout.n_inputs = view.inputs.size();
    layout.outputs = reinterpret_cast<const thunder_buffer*>(view.outputs.data()),
    layout.n_outputs = view.outputs.size();
    throw_if_failed(call_with_status(
        "its lay_out", [&] { return desc_.lay_out(handle(&node), &layout, call().state, &scratch_, desc_.user); }));
    check_scratch();
  }
  size_t scratch() const override { return scratch_; }

 private:
  static void throw_if_failed(const Ref<Status>& failed) {
    if (failed) throw Error(failed);
  }
  // Sums of it must fit in 64 bits.
  void check_scratch() const { require(scratch_ <= kMostScratch, "it asks for ", scratch_, " bytes of scratch"); }
  const thunder_executor_desc& desc_;
  size_t scratch_ = 0;
};

// The caller's descriptor, and the internal one that calls it.
struct CExecutor {
  thunder_executor_desc desc{};
  std::unique_ptr<ExecutorKernels> kernels;  // null: prepare and run do it all
  Devices* devices = nullptr;                // the context's, if there are kernels
  std::unordered_set<std::string> own_ops;   // those that prepare and run do; empty: all that are claimed

  ~CExecutor() {
    if (desc.destroy) desc.destroy(desc.user);
  }
  static CExecutor& of(void* user) { return *static_cast<CExecutor*>(user); }
  static bool claim(const NodeView& view, void* user) {
    const NodeHandle node(view.node, view.store);
    if (!of(user).desc.claim) return true;
    const bool claimed =
        call_or_throw("its claim", [&] { return of(user).desc.claim(handle(&node), of(user).desc.user) != 0; });
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
    const bool formed = call_or_throw("its claim_region", form);
    for (const NodeHandle& node : made) node.require_memory();
    return formed;
  }
  static bool claim_with_kernels(const NodeView& view, void* user) {
    const CExecutor& self = of(user);
    return (self.kernels->find(view) || self.can_prepare_itself(view)) && claim(view, user);
  }
  uint32_t own_flags() const { return (desc.flags & ~uint32_t{THUNDER_EXECUTOR_CUDA}) | kMayFail; }
  bool can_prepare_itself(const NodeView& view) const {
    const bool named = own_ops.empty() || own_ops.contains(std::string(view.node.op->name()));
    return desc.prepare && named && (is_on_cpu(view) || desc.flags & THUNDER_EXECUTOR_CUDA);
  }
  static KernelPtr prepare(const NodeView& view, void* user) {
    const CExecutor& self = of(user);
    if (self.kernels)
      if (const kernels::DeviceKernel* const kernel = self.kernels->find(view))
        return kernel->prepare(view, *self.devices);
    auto made = std::make_unique<CallerKernel>(self.desc);
    made->add_flags(self.own_flags());
    made->prepare(view);
    return made;
  }
  static bool execution_transform(const NodeView& view, BuilderScope& scope, Results& results, void* user) {
    const thunder_executor_desc& desc = of(user).desc;
    const NodeHandle node(view.node, view.store);
    const Nesting inside(view.node.op->name());
    const auto given = make<Values>(), made = make<Values>();
    Values &in = *given, &out = *made;
    const LentValues lent_in(in), lent_out(out);
    for (size_t i = 0; i < node.args.size(); i++) push_argument(scope, in, node.op.schema.params[i], node.args[i]);
    const Live lent_scope(scope);
    thunder_scope* lent = handle(static_cast<Scope*>(&scope));
    auto failed = call_with_status("its execution_transform", [&] {
      return desc.execution_transform(lent, handle(&node), handle(&std::as_const(in)), handle(&out), desc.user);
    });
    if (failed && failed->code() == Code::declined) return false;
    if (failed) throw Error(failed);
    if (in.status()) throw Error(in.status());
    results = scope.results(out);
    return true;
  }
};

ExecutorDesc make_executor_desc(const std::shared_ptr<CExecutor>& made) {
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
  if (!made->kernels) desc.flags = made->own_flags();  // what its own run needs holds for the nodes that it does itself
  desc.any_device = d.flags & THUNDER_EXECUTOR_CUDA || (made->kernels && made->kernels->has_device_kernels());
  if (d.claim) desc.claim = CExecutor::claim;
  if (made->kernels) desc.claim = CExecutor::claim_with_kernels;
  if (d.claim_region) desc.claim_region = CExecutor::claim_region;
  desc.prepare = CExecutor::prepare;
  if (d.execution_transform) desc.execution_transform = CExecutor::execution_transform;
  desc.user = made.get();
  desc.owner = made;
  return desc;
}

}  // namespace

extern "C" {

thunder_status* thunder_executor_create(thunder_context* context, const thunder_executor_desc* desc,
                                        thunder_executor** out) noexcept {
  return given(guarded(__func__, [&] {
    const auto made = keep_descriptor<CExecutor>(desc);
    need(context, "context"), need(out, "out");
    if (made->desc.n_kernels) {
      check(made->desc.kernels != nullptr, "kernels is NULL");
      made->kernels = std::make_unique<ExecutorKernels>(made->desc, *core(context));
      made->devices = &core(context)->devices();
    }
    *out = given(make<Executor>(make_executor_desc(made)));
  }));
}

thunder_status* thunder_context_add_executor(thunder_context* context, thunder_executor* executor) noexcept {
  return given(guarded(__func__, [&] {
    need(context, "context"), need(executor, "executor");
    core(context)->add_executor(Ref<Executor>(core(executor)));
  }));
}

void thunder_executor_release(thunder_executor* executor) noexcept {
  released(executor);
}

}  // extern "C"
