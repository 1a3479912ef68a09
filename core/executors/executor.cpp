#include "executors/executor.h"

#include "base/text.h"
#include "ir/dim_reads.h"
#include "ir/prim.h"

namespace thunder {

std::vector<std::string> names(std::initializer_list<Prim> prims) {
  std::vector<std::string> out;
  for (const Prim prim : prims) out.emplace_back(name(prim));
  return out;
}

Executor::Executor(ExecutorDesc desc) : desc_(std::move(desc)), ops_(desc_.ops.begin(), desc_.ops.end()) {
  const char* missing = desc_.name.empty() ? "a name" : !desc_.prepare ? "prepare" : nullptr;
  if (!missing && desc_.ops.empty() && !desc_.claim) missing = "ops or claim";
  if (missing) fail(Code::invalid_argument, "executor '", desc_.name, "' lacks ", missing);
}

bool is_on_cpu(const NodeView& view) {
  bool all = true;
  for_each_value(view.node.args, [&](ValueId v) { all = all && view.store.type(v).device == Device::cpu; });
  for (ValueId r : view.node.results) all = all && view.store.type(r).device == Device::cpu;
  return all;
}

bool is_on_one_device(const NodeView& view, int32_t device_kind) {
  bool all = true;
  Device device = Device::none;
  const auto look = [&](ValueId v) {
    const TensorType& t = view.store.type(v);
    if (device == Device::none) device = t.device;
    all = all && t.device == device && kind(device) == device_kind;
  };
  for_each_value(view.node.args, look);
  for (ValueId r : view.node.results) look(r);
  return all && device != Device::none;
}

Launch launch_on(std::span<const Buffer> inputs, std::span<const Buffer> outputs, ThreadPool* threads) {
  Launch launch;
  launch.inputs = inputs.data(), launch.n_inputs = inputs.size();
  launch.outputs = outputs.data(), launch.n_outputs = outputs.size();
  launch.threads = threads;
  launch.parallel_for = [](const Launch* l, int64_t n, int64_t grain, ThreadPool::Body body, void* arg) {
    return l->threads->parallel_for(n, grain, body, arg);
  };
  return launch;
}

bool Executor::claims(const NodeView& view) const {
  if (!may_claim(view.node.op->name())) return false;
  const DimReads::Pause choice;  // of symbols it says what it does of the sizes at hand, and is asked again for others
  if (!desc_.any_device && !is_on_cpu(view)) return false;
  return !desc_.claim || desc_.claim(view, desc_.user);
}

KernelPtr Executor::prepare(const NodeView& view) const {
  KernelPtr kernel = desc_.prepare(view, desc_.user);
  kernel->add_flags(desc_.flags);
  return kernel;
}

const Executor* claimant(const NodeView& view, const Executors& executors) {
  for (const Ref<Executor>& e : executors)
    if (e->claims(view)) return e.get();
  return nullptr;
}

}  // namespace thunder
