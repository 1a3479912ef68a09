#include "executors/fusion/fusion.h"

#include "base/text.h"
#include "executors/fusion/grow.h"
#include "executors/fusion/launch.h"
#include "executors/fusion/lower.h"

namespace thunder {
namespace {

using namespace fusion;

bool claim(const NodeView& view, void*) {
  const PrimRow* row = find_prim(*view.node.op);
  return row && computable(view.node, view.store) && can_compile();
}

const Machine& machine_of(void* user) { return *static_cast<const Machine*>(user); }

bool claim_region(std::span<const Node* const> lines, const Store& store, uint8_t* taken, void* user) {
  return grow(lines, store, machine_of(user), {taken, lines.size()});
}

bool fits(std::span<const Node* const> lines, const Store& store, void* user) { return Group(store, machine_of(user)).add_all(lines); }

// What a line was prepared to: nothing, until its layout is known.
using State = std::unique_ptr<Launcher>;

Status* prepare(const NodeView& view, void** state, size_t*, void* user) {
  if (!Group(view.store, machine_of(user)).add_all(lines_of(view.node))) return make<Status>(Code::declined, "its lines do not fit into one loop nest").detach();
  *state = new State;
  return nullptr;
}

Status* lay_out(const NodeView& view, void* state, size_t* scratch, void* user) {
  const Machine& machine = machine_of(user);
  try {
    auto& launcher = *static_cast<State*>(state);
    if (view.following)
      if (auto parts = lower_tiles(view, machine, view.following->input)) {
        launcher = std::make_unique<Launcher>(std::move(*parts), machine);
        view.following->can = true;
        return nullptr;
      }
    launcher = std::make_unique<Launcher>(lower(view, machine), machine);
    *scratch = launcher->scratch_bytes();
    return nullptr;
  } catch (const Error& e) {
    return Ref<Status>(e.status()).detach();
  }
}

Status* run(const Launch* launch, void* state) { return (*static_cast<State*>(state))->run(*launch); }
void run_tile(const Launch* launch, const void* state, const Tile& part) { (*static_cast<const State*>(state))->run_tile(*launch, part); }
void drop(void* state) { delete static_cast<State*>(state); }

}  // namespace

ExecutorDesc fusion_executor(const Machine& machine) {
  ExecutorDesc d;
  d.name = "fusion";
  d.flags = kStrided | kInPlace;
  d.user = const_cast<Machine*>(&machine);
  d.claim = claim;
  d.claim_region = claim_region;
  d.fits = fits;
  d.prepare = prepare;
  d.lay_out = lay_out;
  d.run = run;
  d.run_tile = run_tile;
  d.drop = drop;
  return d;
}

}  // namespace thunder
