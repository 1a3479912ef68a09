#include "executors/collectives.h"

#include "base/thrown.h"
#include "ops/world_collectives.h"

namespace thunder {
namespace {

// Nodes live as long as the program, which holds their store.
class CollectiveKernel : public Kernel {
 public:
  CollectiveKernel(const Node& node, Devices& devices) : Kernel(this), node_(node), devices_(devices) {
    add_flags(kMayFail);  // and never in a CUDA graph: all ranks agree first
  }
  Status* run(const Launch* launch) const {
    const KernelArgs k{{launch->inputs, launch->n_inputs},
                       {launch->outputs, launch->n_outputs},
                       node_.args,
                       &def(node_),
                       launch->threads};
    const Device device = launch->inputs[0].device;
    if (device == Device::cpu) return run_collective_at(k, node_.where);
    return catch_as_status([&] { return run_collective_on(devices_.accelerator(device), k, node_.where); });
  }

 private:
  const Node& node_;
  Devices& devices_;
};

bool claim(const NodeView& view, void*) {
  if (!runs_collective(def(view.node))) return false;
  if (is_on_cpu(view)) return true;
  return is_on_one_device(view, kCudaKind) &&
         view.store.type(view.node.results[0]).device == device_of_ranks(def(view.node));
}

}  // namespace

ExecutorDesc collectives_executor(Devices& devices) {
  return {.name = "collectives",
          .any_device = true,
          .user = &devices,
          .claim = claim,
          .prepare = [](const NodeView& view, void* user) -> KernelPtr {
            auto kernel = std::make_unique<CollectiveKernel>(view.node, *static_cast<Devices*>(user));
            if (is_on_cpu(view)) kernel->add_flags(kStrided);
            return kernel;
          }};
}

}  // namespace thunder
