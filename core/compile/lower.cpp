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

// Throws where one of these lines of a class is taken at these sizes by another executor than it has: they are then of
// another class. (Code::declined would ask the other executors for this line alone.)
void require_same_claims(Compilation& c, std::span<const uint32_t> lines) {
  if (lines.empty()) return;
  Specialisation& with_numbers = c.of_class.lines->get();
  for (const uint32_t line : lines) {
    const Node& node = *with_numbers(c.trace().nodes[line]);
    const std::span<const Node* const> all = node.op == &c.region() ? node.body : std::span(&c.trace().nodes[line], 1);
    for (const Node* n : all)
      if (!is_claimed_as_before(*with_numbers(n), with_numbers.store(), c.executors, c.settings()))
        fail(Code::invalid_argument, "for these sizes another executor takes a line");
  }
}

// Puts the kernels of a plan's leaders that need their lines into `kernels`. False: such a line is not taken as its
// class has it, or not by a kernel as the plan was made for.
bool make_leaders(const KernelMaker& by, Compilation& c, const Plan& plan, Kernels& kernels) {
  const ClassPlan& of = *c.of_class.plan;
  Trace& claimed = c.traces.back();
  bool all = true;
  for (const Step& step : plan.steps) {
    const auto line = static_cast<uint32_t>(step.line);
    if (!step.node || step.kernel || of.leaders()[line] != line || def(*step.node).view) continue;
    c.check.throw_if_interrupted();
    Specialisation& with_numbers = c.of_class.lines->get();
    const Node& node = *(claimed.nodes[line] = with_numbers(claimed.nodes[line]));
    const bool fused = node.op == &c.region();
    if (!fused && !is_claimed_as_before(node, with_numbers.store(), c.executors, c.settings())) return false;
    KernelMaker::Made made = by.make_kernel(node, with_numbers.store(), nullptr);
    if (!made.kernel || made.by->name() != node.executor) return false;
    kernels.add(node, std::move(made.kernel));
    all = false;
  }
  return all || of.suits(plan, kernels, claimed);
}

// The plan and kernels that sizes of a class have in common. False: the class has no plan, or that does not hold.
bool lower_by_class(Compilation& c, const std::shared_ptr<const KernelMaker>& by) {
  ClassPlan& of = *c.of_class.plan;
  std::optional<Plan> plan = of.plan_for(c.of_class.symbols, c.inputs);
  if (!plan) return false;
  require_same_claims(c, of.asked_again());
  Kernels kernels(by);
  if (!make_leaders(*by, c, *plan, kernels)) return false;
  c.of_class.shares_plan = true;
  c.builder.emplace(c.trace(), std::move(kernels), *c.devices, std::move(*plan));
  return true;
}

// Numbers take the symbols' place in all lines.
void put_numbers(Compilation& c) {
  ClassPlan& of = *c.of_class.plan;
  const auto is_first = [&](uint32_t line) { return of.alike()[line] == line; };
  if (!of.derived()) {
    std::vector<uint32_t> asked = lines_to_ask_again(c.trace(), c.executors, c.region());
    std::erase_if(asked, [&](uint32_t line) { return !is_first(line); });
    of.ask_again(std::move(asked));
  }
  std::vector<uint32_t> asked(of.asked_again().begin(), of.asked_again().end());
  for (uint32_t i = 0; i < c.trace().nodes.size(); i++)
    if (is_first(i) && c.trace().nodes[i]->op != &c.region() && !def(*c.trace().nodes[i]).view) asked.push_back(i);
  require_same_claims(c, asked);
  c.traces.back() = c.of_class.lines->get()(c.trace());
}

}  // namespace

void lower(Compilation& c) {
  auto maker = std::make_shared<const KernelMaker>(c.executors, c.settings());
  const KernelMaker& by = *maker;
  c.of_class.shares_plan = false;  // it may run again
  if (c.of_class.plan) {
    if (lower_by_class(c, maker)) return;
    put_numbers(c);
  }
  Kernels kernels(std::move(maker));
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
