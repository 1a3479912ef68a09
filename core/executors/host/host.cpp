#include "executors/host/host.h"

#include "ops/widened.h"

namespace thunder {
namespace {

// The state is the node itself: nodes live as long as the program, which holds their store.
// Claims every prim, and composites that bring a kernel.
bool claim(const NodeView& view, void*) { return def(view.node).has_kernel() && !def(view.node).has(kHidden); }

Status* prepare(const NodeView& view, void** state, size_t* scratch, void*) {
  *state = const_cast<Node*>(&view.node);
  *scratch = 0;
  return nullptr;
}

Status* run(const Launch* launch, void* state) {
  const Node& node = *static_cast<const Node*>(state);
  return run_reference(def(node), {{launch->inputs, launch->n_inputs},
                                   {launch->outputs, launch->n_outputs},
                                   node.args,
                                   &def(node),
                                   launch->threads});
}

}  // namespace

ExecutorDesc host_executor() {
  ExecutorDesc d;
  d.name = "host";
  d.flags = kStrided;
  d.claim = claim;
  d.prepare = prepare;
  d.run = run;
  return d;
}

}  // namespace thunder
