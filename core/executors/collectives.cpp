#include "executors/collectives.h"

#include "base/thrown.h"
#include "ops/world_collectives.h"

namespace thunder {
namespace {

// Nodes live as long as the program, which holds their store.
class CollectiveKernel : public Kernel {
 public:
  const char* unrecordable() const override {
    return "is a collective, of which a graph would not tell when a rank does not come: the host waits for it";
  }

 protected:
  template <class K>
  CollectiveKernel(const K* self, const Node& node) : Kernel(self), node_(node) {
    add_flags(kMayFail);
  }
  KernelArgs arguments(const Launch* launch) const {
    return {{launch->inputs, launch->n_inputs},
            {launch->outputs, launch->n_outputs},
            node_.args,
            &def(node_),
            launch->threads};
  }
  const Node& node_;
};

class StartKernel final : public CollectiveKernel {
 public:
  StartKernel(const Node& node, Devices& devices) : CollectiveKernel(this, node), devices_(devices) {
    add_flags(kStarts);
  }
  Status* run(const Launch* launch) const {
    const Device device = launch->inputs[0].device;
    if (device == Device::cpu) return start_collective(arguments(launch), nullptr, node_.where);
    return catch_as_status(
        [&] { return start_collective(arguments(launch), &devices_.accelerator(device), node_.where); });
  }
  Status* end(const Launch* launch, bool done) const {
    const Arg as_wait[] = {Arg::none(), Arg::none(), Arg::boolean(done)};
    const std::span<const Buffer> result(launch->outputs, launch->n_outputs);
    return run_wait({result, result, as_wait, &def(node_), launch->threads});
  }

 private:
  Devices& devices_;
};

class WaitKernel final : public CollectiveKernel {
 public:
  explicit WaitKernel(const Node& node) : CollectiveKernel(this, node) { add_flags(kStrided); }
  Status* run(const Launch* launch) const { return run_wait(arguments(launch)); }
};

bool claim(const NodeView& view, void*) {
  if (!runs_collective(def(view.node))) return false;
  if (is_on_cpu(view)) return true;
  return is_on_one_device(view, kCudaKind) &&
         view.store.type(view.node.results[0]).device == device_of_ranks(def(view.node));
}

KernelPtr prepare(const NodeView& view, void* user) {
  if (waits_for_collective(def(view.node))) return std::make_unique<WaitKernel>(view.node);
  auto kernel = std::make_unique<StartKernel>(view.node, *static_cast<Devices*>(user));
  if (is_on_cpu(view)) kernel->add_flags(kStrided);
  return kernel;
}

}  // namespace

Status* end_started(const Kernel& kernel, const Launch* launch, bool done) {
  const auto* const start = kernel.has(kStarts) ? dynamic_cast<const StartKernel*>(&kernel) : nullptr;
  return start ? start->end(launch, done) : nullptr;
}

ExecutorDesc collectives_executor(Devices& devices) {
  return {.name = std::string(kCollectivesExecutor),
          .any_device = true,
          .claims_any_size = true,
          .user = &devices,
          .claim = claim,
          .prepare = prepare};
}

}  // namespace thunder
