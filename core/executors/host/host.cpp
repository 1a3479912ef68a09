#include "executors/host/host.h"

#include "ops/widened.h"

namespace thunder {
namespace {

// Nodes live as long as the program, which holds their store.
class HostKernel : public Kernel {
 public:
  explicit HostKernel(const Node& node) : Kernel(this), node_(node) {}
  KernelPtr another() const override { return std::make_unique<HostKernel>(node_); }
  Status* run(const Launch* launch) const {
    return run_reference(def(node_), {{launch->inputs, launch->n_inputs},
                                      {launch->outputs, launch->n_outputs},
                                      node_.args,
                                      &def(node_),
                                      launch->threads});
  }

 private:
  const Node& node_;
};

// Claims every prim, and composites that bring a kernel.
bool claim(const NodeView& view, void*) { return def(view.node).has_kernel() && !def(view.node).has(kHidden); }

KernelPtr prepare(const NodeView& view, void*) { return std::make_unique<HostKernel>(view.node); }

}  // namespace

ExecutorDesc host_executor() {
  return {.name = "host", .flags = kStrided, .claim = claim, .prepare = prepare};
}

}  // namespace thunder
