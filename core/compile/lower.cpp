#include "compile/lower.h"

#include <algorithm>

#include "base/text.h"
#include "compile/claim.h"
#include "compile/region_passes.h"
#include "passes/waits.h"

namespace thunder {
namespace {

// Makes kernels of claimed nodes. Its references to executors stay valid as long as the program lives.
class KernelMaker : public ViewKernels {
 public:
  KernelMaker(const Executors& executors, const CompileSettings& settings)
      : executors_(executors), settings_(settings) {}

  struct Made {
    KernelPtr kernel;  // null: all declined
    const Executor* by = nullptr;
  };
  // Asks the node's claimant, then the executors after it. `state`: the claimant's, of a region.
  Made make_kernel(const Node& node, const Store& store, RegionState state) const {
    NodeView view{node, store, settings_};
    view.state = std::move(state);
    const auto first = claimant(node);
    for (auto it = first; it != executors_.end(); ++it) {
      // `claims` does not know regions, so the claimant is not asked again; executors after it must claim the node too.
      if (it != first) view.state = nullptr;
      if (it != first && !(*it)->claims(view)) continue;
      try {
        return {(*it)->prepare(view), it->get()};
      } catch (const Error& e) {
        if (e.code() != Code::declined) fail_to_prepare((*it)->name(), node, e);
      }
    }
    return {};
  }

  // The value may be given to a later executor, so all executors that could get it must take strided inputs.
  bool takes_strided(const Node& view) const override {
    return std::all_of(claimant(view), executors_.end(),
                       [&](auto& e) { return e->desc().flags & kStrided || !e->may_claim(view.op->name()); });
  }
  KernelPtr prepare(const Node& view, const Store& store) const override {
    KernelPtr made = make_kernel(view, store, nullptr).kernel;
    if (!made) fail_unclaimed(view);
    return made;
  }

  // The body of a node that was declined, claimed anew. What a fusion executor cannot run as one region it may run as
  // several, so it is asked again; other bodies go to the executors after the claimant.
  std::vector<const Node*> reclaim_body(const Trace& claimed, const Node& node, Compilation& c) const {
    if (node.body.empty()) fail_unclaimed(node);
    const auto first = claimant(node);
    Trace part = claimed;
    part.nodes.assign(node.body.begin(), node.body.end());
    part.outputs.assign(node.results.begin(), node.results.end());
    part.writes.clear();
    const auto claimed_by = [&](const Executors& asked) {
      Trace again = claim(descend(part, asked, settings_), asked, settings_);
      if (auto both = waits(again, c.pass)) again = std::move(*both);
      for (const RegionPass& regroup : kRegionPasses)
        if (!settings_.leaves_out(regroup.name)) regroup.run(again, asked, c.region(), c.states);
      return again.nodes;
    };
    if (node.op == &c.region()) {
      std::vector<const Node*> parts = claimed_by({first, executors_.end()});
      // Regions must get smaller for this to end: with rematerialized nodes, a part may be as large as the whole.
      const auto smaller = [&](const Node* n) { return n->body.size() < node.body.size(); };
      if (std::all_of(parts.begin(), parts.end(), smaller)) return parts;
    }
    return claimed_by({first == executors_.end() ? first : first + 1, executors_.end()});
  }

 private:
  Executors::const_iterator claimant(const Node& node) const {
    return std::find_if(executors_.begin(), executors_.end(),
                        [&](auto& e) { return node.executor && e->name() == node.executor; });
  }
  [[noreturn]] static void fail_unclaimed(const Node& node) {
    fail(Code::unimplemented, node.op->name(), ": every executor that claimed it declined to prepare it",
         node.where ? cat(" [at ", node.where, "]") : "");
  }

  const Executors executors_;
  const CompileSettings settings_;
};

}  // namespace

namespace {

// Whether the program has the plan that its class shares, so that lines which are alike need one kernel.
bool shares_plan(const Compilation& c) {
  const SizesOfClass& of = c.of_class;
  return of.plan && of.plan->derived() && of.plan->holds_for(of.symbols, c.inputs);
}

// Kernels of all lines but those that follow another one. False: a line is not taken as its class has it.
bool make_leaders(const KernelMaker& by, Compilation& c, Kernels& kernels) {
  Trace& claimed = c.traces.back();
  const std::span<const uint32_t> leaders = c.of_class.plan->leaders();
  for (uint32_t i = 0; i < claimed.nodes.size(); i++) {
    if (leaders[i] != i) continue;
    if (KernelPtr kernel = c.of_class.plan->kernel_for(i, c.of_class.symbols)) {
      kernels.add_laid_out(*claimed.nodes[i], std::move(kernel));
      continue;
    }
    if (def(*claimed.nodes[i]).view) continue;
    c.check.throw_if_interrupted();
    const Node& node = *(claimed.nodes[i] = (*c.of_class.specialise)(claimed.nodes[i]));
    KernelMaker::Made made = by.make_kernel(node, *claimed.store, nullptr);
    if (!made.kernel || made.by->name() != node.executor) return false;
    kernels.add(node, std::move(made.kernel));
  }
  return c.of_class.plan->suits(kernels, claimed);
}

// Its kernels and its plan are made for its sizes alone.
void leave_class(Compilation& c) {
  c.traces.back() = (*c.of_class.specialise)(c.trace());
  c.of_class = {};
}

}  // namespace

void lower(Compilation& c) {
  auto maker = std::make_unique<const KernelMaker>(c.executors, c.settings());
  const KernelMaker& by = *maker;
  Kernels kernels(std::move(maker));
  if ((c.of_class.shares_plan = shares_plan(c))) {
    if (make_leaders(by, c, kernels)) return void(c.builder.emplace(c.trace(), std::move(kernels), *c.devices));
    leave_class(c);
    return lower(c);
  }
  if (c.of_class.specialise) c.traces.back() = (*c.of_class.specialise)(c.trace());
  const Trace& claimed = c.trace();
  std::vector<const Node*> nodes, todo(claimed.nodes.rbegin(), claimed.nodes.rend());
  while (!todo.empty()) {
    c.check.throw_if_interrupted();
    const Node* node = todo.back();
    todo.pop_back();
    if (!def(*node).view) {
      KernelMaker::Made made = by.make_kernel(*node, *claimed.store, std::move(c.states[node]));
      if (!made.kernel) {
        const auto inner = by.reclaim_body(claimed, *node, c);
        todo.insert(todo.end(), inner.rbegin(), inner.rend());
        continue;
      }
      if (made.by->name() != node->executor)
        node = claimed.store->claimed(node, claimed.store->text(made.by->name()));
      kernels.add(*node, std::move(made.kernel));
    }
    nodes.push_back(node);
  }
  if (nodes != claimed.nodes) {
    Trace accepted = claimed;
    accepted.nodes = std::move(nodes);
    c.append_trace(std::move(accepted));
    c.of_class = {};  // it has other lines
  }
  c.builder.emplace(c.trace(), std::move(kernels), *c.devices);
}

}  // namespace thunder
