#include "executors/fusion/fusion.h"

#include <optional>

#include "base/text.h"
#include "base/thrown.h"
#include "executors/fusion/grow.h"
#include "executors/fusion/laid_out_regions.h"
#include "executors/fusion/lower.h"

namespace thunder {
namespace {

using namespace fusion;

const Target* target_of(const Node& node, const Store& store, void* user) {
  return static_cast<const Targets*>(user)->find(store.type(node.results[0]).device);
}

bool claim(const NodeView& view, void* user) {
  if (!find_prim(*view.node.op)) return false;
  const Target* target = target_of(view.node, view.store, user);
  return target && computable(view.node, view.store, target->capabilities()) && target->available();
}

bool begins_region(const Node& node) {
  return find_prim(*node.op)->role != Role::view;
}

// The state of a region is its group.
bool claim_region(std::span<const Node* const> nodes, const Store& store, uint8_t* taken, RegionState& state,
                  void* user) {
  std::shared_ptr<Group> group;
  const bool grows =
      grow(nodes, store, target_of(*nodes[0], store, user)->capabilities(), {taken, nodes.size()}, group);
  if (grows) state = std::move(group);
  return grows;
}

size_t recomputed_instructions(const Node& first, const Store& store, void* user) {
  return target_of(first, store, user)->capabilities().recomputed_instructions;
}

// Whether the nodes form a group. It is made only where that is not known, or `needed`.
bool form_group(std::span<const Node* const> nodes, const Store& store, const Target& target,
                std::shared_ptr<Group>& group, bool needed = false) {
  const StructuralHash of = structural_hash(nodes, store, target.capabilities());
  FitAnswers& answers = FitAnswers::of_this_thread();
  if (const bool* known = answers.find(of); known && (!needed || !*known)) return *known;
  group = std::make_shared<Group>(store, target.capabilities());
  const bool fits = group->add_all(nodes);
  answers.add(of, fits);
  return fits;
}

bool fits(std::span<const Node* const> nodes, const Store& store, RegionState& state, void* user) {
  std::shared_ptr<Group> group;
  if (!form_group(nodes, store, *target_of(*nodes[0], store, user), group)) return false;
  state = std::move(group);
  return true;
}

// The state of a prepared node or region: a group, where it was made, until its layout is known, then a launcher.
struct State {
  std::shared_ptr<Group> group;
  const Target* target = nullptr;
  Launcher* launcher = nullptr;  // null once another's launch computes it too
  std::shared_ptr<LaidOutRegion> region = nullptr;  // has the launcher
  std::unique_ptr<Launcher> joined = nullptr;       // or this has it, which computes others too
  size_t joined_nodes = 0;                          // how many others
};

Status* declined(std::string_view why) {
  return make<Status>(Code::declined, std::string(why)).detach();
}

Status* prepare(const NodeView& view, void** state, size_t*, void* user) {
  const std::vector<const Node*> nodes = nodes_of(view.node);
  const Target* target = target_of(*nodes[0], view.store, user);
  if (!target) return declined("nothing runs kernels on its device");
  auto group = std::static_pointer_cast<Group>(view.state);
  if (!group && !form_group(nodes, view.store, *target, group))
    return declined("its nodes do not fit into one loop nest");
  *state = new State{std::move(group), target};
  return nullptr;
}

std::shared_ptr<LaidOutRegion> laid_out(const NodeView& view, State& state) {
  const std::vector<const Node*> nodes = nodes_of(view.node);
  const StructuralHash of = laid_out_hash(view, nodes, *state.target);
  LaidOutRegions& regions = LaidOutRegions::of_this_thread();
  if (auto known = regions.find(of)) return known;
  if (!state.group) ensure(form_group(nodes, view.store, *state.target, state.group, true), "a region fits no more");
  const auto input = view.epilogue_request ? std::optional(view.epilogue_request->input) : std::nullopt;
  auto made = std::make_shared<LaidOutRegion>();
  made->lowered = lower(view, *state.group, input);
  made->launcher = state.target->launcher(made->lowered);
  made->is_epilogue = input && made->launcher->runs_tiles();
  regions.add(of, made);
  return made;
}

Status* lay_out(const NodeView& view, void* prepared, size_t* scratch, void*) {
  try {
    State& state = *static_cast<State*>(prepared);
    state.region = laid_out(view, state);
    state.group.reset();
    state.launcher = state.region->launcher.get();
    if (view.epilogue_request) view.epilogue_request->accepted = state.region->is_epilogue;
    *scratch = state.launcher->scratch_bytes();
    return nullptr;
  } catch (const Error& e) {
    return Ref<Status>(e.status()).detach();
  }
}

Joinable joinable(const void* state) {
  return static_cast<const State*>(state)->launcher->joinable();
}

Status* join(std::span<void* const> states) {
  return caught([&]() -> Status* {
    std::vector<const Launcher*> launchers;
    for (void* state : states) launchers.push_back(static_cast<State*>(state)->launcher);
    std::unique_ptr<Launcher> all = launchers[0]->join(launchers);
    for (void* state : states) static_cast<State*>(state)->launcher = nullptr;
    State& first = *static_cast<State*>(states[0]);
    first.joined = std::move(all), first.launcher = first.joined.get(), first.joined_nodes = states.size() - 1;
    return nullptr;
  });
}

Status* finish(void* prepared, Finished*) {
  State& state = *static_cast<State*>(prepared);
  if (!state.launcher) return nullptr;
  if (state.joined) return state.joined->finish();
  if (state.region->finished) return nullptr;
  Status* failed = state.launcher->finish();
  state.region->finished = !failed;
  return failed;
}

Status* run(const Launch* launch, void* state) {
  Launcher* const launcher = static_cast<State*>(state)->launcher;
  return launcher ? launcher->run(*launch) : nullptr;
}
void run_tile(const Launch* launch, const void* state, const Tile& part) {
  static_cast<const State*>(state)->launcher->run_tile(*launch, part);
}
std::string explain_loops(const void* prepared) {
  const State& state = *static_cast<const State*>(prepared);
  if (!state.launcher) return "in the launch of the kernel before\n";
  return cat(state.joined ? cat("in one launch with the ", state.joined_nodes, " kernels that follow\n") : "",
             "as lowered:\n", print(state.region->lowered.nest), state.target->explain(state.region->lowered));
}
void drop(void* state) {
  delete static_cast<State*>(state);
}

}  // namespace

ExecutorDesc fusion_executor(const Targets& targets) {
  ExecutorDesc d;
  d.name = "fusion";
  d.flags = kStrided | kInPlace | kAnyDevice;
  d.user = const_cast<Targets*>(&targets);
  d.claim = claim;
  d.claim_region = claim_region;
  d.begins_region = begins_region;
  d.fits = fits;
  d.recomputed_instructions = recomputed_instructions;
  d.prepare = prepare;
  d.lay_out = lay_out;
  d.finish = finish;
  d.joinable = joinable;
  d.join = join;
  d.run = run;
  d.run_tile = run_tile;
  d.drop = drop;
  d.launcher = [](const void* state) -> const Launcher* { return static_cast<const State*>(state)->launcher; };
  d.explain = explain_loops;
  return d;
}

}  // namespace thunder
