#include "executors/prepare.h"

#include <algorithm>
#include <unordered_map>

#include "base/text.h"

namespace thunder {
namespace {

class ExecutorPreparer : public Preparer {
 public:
  explicit ExecutorPreparer(Executors executors) : executors_(std::move(executors)) {}

  // Prepares all nodes but views; a view may need no step at all.
  std::vector<const Node*> prepare_all(const Trace& claimed, const Op& region, RegionStates& states,
                                       InterruptCheck& check) {
    std::vector<const Node*> lines, todo(claimed.nodes.rbegin(), claimed.nodes.rend());
    ready_.reserve(todo.size());
    while (!todo.empty()) {
      check.look_and_throw();
      const Node* node = todo.back();
      todo.pop_back();
      if (!def(*node).view) {
        Ready made = ask(*node, *claimed.store, states.take(node));
        if (!made.by && node->body.empty()) nobody(*node);
        if (!made.by) {
          const auto inner = inside(claimed, *node, region, states);
          todo.insert(todo.end(), inner.rbegin(), inner.rend());
          continue;
        }
        if (made.by->name() != node->executor)
          node = claimed.store->claimed(node, claimed.store->text(made.by->name()));
        ready_[node] = std::move(made);
      }
      lines.push_back(node);
    }
    return lines;
  }

  bool takes_strided(const Node& node) const override {
    if (auto it = ready_.find(&node); it != ready_.end()) return it->second.flags & kStrided;
    // A view may be handed to a later executor, so all executors that could get it must take strided inputs.
    return std::all_of(claimant(node), executors_.end(),
                       [&](auto& e) { return e->desc().flags & kStrided || !e->asks_for(node.op->name()); });
  }

  bool may_fail(const Node& node) const override {
    const auto it = ready_.find(&node);
    return it != ready_.end() && it->second.flags & kMayFail;
  }

  bool in_place(const Node& node) const override {
    if (node.body.empty()) return def(node).has(kElementwise);
    auto it = ready_.find(&node);
    return it != ready_.end() && it->second.flags & kInPlace &&
           std::all_of(node.body.begin(), node.body.end(), [](const Node* n) { return def(*n).has(kElementwise); });
  }

  bool runs_epilogue(const Node& node) const override {
    const auto it = ready_.find(&node);
    return it != ready_.end() && it->second.flags & kRunsEpilogue;
  }

  bool may_be_epilogue(const Node& node) const override {
    const auto it = ready_.find(&node);
    return it != ready_.end() && it->second.by->desc().run_tile;
  }

  std::string explain(const Node& node, const void* state) const override {
    const auto it = ready_.find(&node);
    const auto says = it == ready_.end() ? nullptr : it->second.by->desc().explain;
    return says ? says(state) : "";
  }

  const loops::Launcher* launcher(const Node& node, const void* state) const override {
    const auto it = ready_.find(&node);
    const auto gives = it == ready_.end() ? nullptr : it->second.by->desc().launcher;
    return gives ? gives(state) : nullptr;
  }

  void finish(const Node& node, void* state) override {
    const Executor& by = *ready_.at(&node).by;
    if (!by.desc().finish) return;
    if (const Ref<Status> failed = Ref<Status>::adopt(by.desc().finish(state))) could_not(by, node, failed);
  }

  Prepared prepare(const Node& node, const Store& store, std::span<const Buffer> inputs,
                   std::span<const Buffer> outputs, int32_t epilogue_input) override {
    auto it = ready_.find(&node);
    if (it == ready_.end()) {
      Ready made = ask(node, store, nullptr);
      if (!made.by) nobody(node);
      it = ready_.emplace(&node, std::move(made)).first;
    }
    Ready& ready = it->second;
    ready.prepared.prepack = ready.by->desc().prepack;
    EpilogueRequest epilogue_request{static_cast<size_t>(epilogue_input)};
    if (auto* lay_out = ready.by->desc().lay_out) {
      Prepared& made = ready.prepared;
      const NodeView view{node, store, inputs, outputs, epilogue_input >= 0 ? &epilogue_request : nullptr};
      Ref<Status> failed = Ref<Status>::adopt(lay_out(view, made.state, &made.scratch_bytes, ready.by->desc().user));
      if (failed) could_not(*ready.by, node, failed);
    }
    Prepared made = ready.prepared;
    if (epilogue_request.accepted) made.run_tile = ready.by->desc().run_tile;
    ready.prepared.drop = nullptr;
    return made;
  }

 private:
  // Owns the state until a step takes it.
  struct Ready {
    Prepared prepared;
    const Executor* by = nullptr;
    uint32_t flags = 0;  // of the node, by that executor

    Ready() = default;
    Ready(const Prepared& p, const Executor* e, uint32_t f) : prepared(p), by(e), flags(f) {}
    Ready(Ready&& o) noexcept : prepared(o.prepared), by(o.by), flags(o.flags) { o.prepared.drop = nullptr; }
    Ready& operator=(Ready&& o) noexcept {
      std::swap(prepared, o.prepared);
      std::swap(by, o.by);
      std::swap(flags, o.flags);
      return *this;
    }
    ~Ready() {
      if (prepared.drop) prepared.drop(prepared.state);
    }
  };

  Executors::const_iterator claimant(const Node& node) const {
    return std::find_if(executors_.begin(), executors_.end(),
                        [&](auto& e) { return node.executor && e->name() == node.executor; });
  }

  // Asks executors from the node's claimant on; `by` is null when all declined. `state`: what the claimant kept of it.
  Ready ask(const Node& node, const Store& store, RegionState state) const {
    NodeView view{node, store};
    view.state = std::move(state);
    const auto first = claimant(node);
    for (auto it = first; it != executors_.end(); ++it) {
      const ExecutorDesc& d = (*it)->desc();
      // The claimant is asked without `claims`, which does not know regions; the executors after it must claim the node
      // too.
      if (it != first) view.state = nullptr;
      if (it != first && !(*it)->claims(view)) continue;
      Prepared p{d.run, nullptr, d.drop, 0};
      Ref<Status> failed = Ref<Status>::adopt(d.prepare(view, &p.state, &p.scratch_bytes, d.user));
      if (!failed) return {p, it->get(), (*it)->flags(view)};
      if (failed->code() == Code::declined) continue;
      could_not(**it, node, failed);
    }
    return {};
  }

  [[noreturn]] static void could_not(const Executor& executor, const Node& node, const Ref<Status>& failed) {
    if (failed->has_foreign() || failed->code() == Code::out_of_memory) throw Error(failed);
    fail(Code::backend, "executor '", executor.name(), "' could not prepare ", node.op->name(), ": ", failed->message(),
         at(node));
  }

  // The nodes of the body of one that was declined. What a fusion executor cannot run as one region it may run as
  // several, so it is asked again; other bodies go to the executors after the claimant.
  std::vector<const Node*> inside(const Trace& claimed, const Node& node, const Op& region,
                                  RegionStates& states) const {
    const auto first = claimant(node);
    Trace part = claimed;
    part.nodes.assign(node.body.begin(), node.body.end());
    part.outputs.assign(node.results.begin(), node.results.end());
    part.writes.clear();
    const auto claimed_by = [&](const Executors& asked) {
      return claim(descend(part, asked), asked, region, states).nodes;
    };
    if (node.op == &region) {
      std::vector<const Node*> parts = claimed_by({first, executors_.end()});
      // Only smaller ones, since nodes that are computed again may make a part as large as the whole.
      const auto smaller = [&](const Node* n) { return n->body.size() < node.body.size(); };
      if (std::all_of(parts.begin(), parts.end(), smaller)) return parts;
    }
    return claimed_by({first == executors_.end() ? first : first + 1, executors_.end()});
  }

  static std::string at(const Node& node) { return node.where ? cat(" [at ", node.where, "]") : ""; }
  [[noreturn]] static void nobody(const Node& node) {
    fail(Code::unimplemented, node.op->name(), ": every executor that claimed it declined to prepare it", at(node));
  }

  Executors executors_;
  std::unordered_map<const Node*, Ready> ready_;
};

}  // namespace

PreparedTrace prepare(const Trace& claimed, Executors executors, const Op& region, RegionStates& states,
                      InterruptCheck& check) {
  auto preparer = std::make_unique<ExecutorPreparer>(std::move(executors));
  std::vector<const Node*> lines = preparer->prepare_all(claimed, region, states, check);
  PreparedTrace out;
  if (lines != claimed.nodes) {
    out.trace = claimed;
    out.trace->nodes = std::move(lines);
    out.trace->pass = "prepare";
  }
  out.preparer = std::move(preparer);
  return out;
}

}  // namespace thunder
