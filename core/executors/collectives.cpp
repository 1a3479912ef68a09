#include "executors/collectives.h"

#include "ops/world_collectives.h"

namespace thunder {
namespace {

// Nodes live as long as the program, which holds their store.
class CollectiveKernel : public Kernel {
 public:
  explicit CollectiveKernel(const Node& node) : Kernel(this), node_(node) {}
  Status* run(const Launch* launch) const {
    const KernelArgs k{{launch->inputs, launch->n_inputs},
                       {launch->outputs, launch->n_outputs},
                       node_.args,
                       &def(node_),
                       launch->threads};
    return run_collective_at(k, node_.where);
  }

 private:
  const Node& node_;
};

}  // namespace

ExecutorDesc collectives_executor() {
  return {.name = "collectives",
          .flags = kStrided,
          .claim = [](const NodeView& view, void*) { return is_on_cpu(view) && runs_collective(def(view.node)); },
          .prepare = [](const NodeView& view, void*) -> KernelPtr {
            return std::make_unique<CollectiveKernel>(view.node);
          }};
}

}  // namespace thunder
