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
    std::vector<const Node*> nodes, todo(claimed.nodes.rbegin(), claimed.nodes.rend());
    ready_.reserve(todo.size());
    while (!todo.empty()) {
      check.look_and_throw();
      const Node* node = todo.back();
      todo.pop_back();
      if (!def(*node).view) {
        PreparedNode made = prepare_node(*node, *claimed.store, states.take(node));
        if (!made.by && node->body.empty()) fail_unclaimed(*node);
        if (!made.by) {
          const auto inner = reclaim_body(claimed, *node, region, states);
          todo.insert(todo.end(), inner.rbegin(), inner.rend());
          continue;
        }
        if (made.by->name() != node->executor)
          node = claimed.store->claimed(node, claimed.store->text(made.by->name()));
        ready_[node] = std::move(made);
      }
      nodes.push_back(node);
    }
    return nodes;
  }

  bool takes_strided(const Node& node) const override {
    if (const PreparedNode* ready = find(node)) return ready->flags & kStrided;
    // A view may be handed to a later executor, so all executors that could get it must take strided inputs.
    return std::all_of(claimant(node), executors_.end(),
                       [&](auto& e) { return e->desc().flags & kStrided || !e->asks_for(node.op->name()); });
  }

  bool may_fail(const Node& node) const override { return has_flag(node, kMayFail); }

  bool in_place(const Node& node) const override {
    if (node.body.empty()) return def(node).has(kElementwise);
    std::vector<ValueId> own;  // of no input of the region, such as the numbers of a dim: they lie nowhere
    const auto is_own = [&](ValueId v) { return std::find(own.begin(), own.end(), v) != own.end(); };
    const auto is_pointwise = [&](const Node* n) {
      bool of_none = true;
      for_each_value(n->args, [&](ValueId v) { of_none = of_none && is_own(v); });
      if (of_none) own.insert(own.end(), n->results.begin(), n->results.end());
      return of_none || def(*n).has(kElementwise);
    };
    return has_flag(node, kInPlace) && std::all_of(node.body.begin(), node.body.end(), is_pointwise);
  }

  bool runs_epilogue(const Node& node) const override { return has_flag(node, kRunsEpilogue); }

  bool may_be_epilogue(const Node& node) const override {
    const PreparedNode* ready = find(node);
    return ready && ready->by->desc().run_tile;
  }

  std::string explain(const Node& node, const void* state) const override {
    const PreparedNode* ready = find(node);
    return ready && ready->by->desc().explain ? ready->by->desc().explain(state) : "";
  }

  const loops::Launcher* launcher(const Node& node, const void* state) const override {
    const PreparedNode* ready = find(node);
    return ready && ready->by->desc().launcher ? ready->by->desc().launcher(state) : nullptr;
  }

  void finish(const Node& node, void* state, Finished& finished) override {
    const Executor& by = *ready_.at(&node).by;
    if (!by.desc().finish) return;
    if (const Ref<Status> failed = Ref<Status>::adopt(by.desc().finish(state, &finished)))
      fail_to_prepare(by, node, failed);
  }

  Joinable joinable(const Node& node, const void* state) const override {
    const auto asked = ready_.at(&node).by->desc().joinable;
    return asked ? asked(state) : Joinable();
  }

  void join(std::span<const Node* const> nodes, std::span<void* const> states) override {
    const Executor& by = *ready_.at(nodes[0]).by;
    if (const Ref<Status> failed = Ref<Status>::adopt(by.desc().join(states))) fail_to_prepare(by, *nodes[0], failed);
  }

  Prepared prepare(const Node& node, const Store& store, std::span<const Buffer> inputs,
                   std::span<const Buffer> outputs, int32_t epilogue_input) override {
    auto it = ready_.find(&node);
    if (it == ready_.end()) {
      PreparedNode made = prepare_node(node, store, nullptr);
      if (!made.by) fail_unclaimed(node);
      it = ready_.emplace(&node, std::move(made)).first;
    }
    PreparedNode& ready = it->second;
    ready.prepared.prepack = ready.by->desc().prepack;
    EpilogueRequest epilogue_request{static_cast<size_t>(epilogue_input)};
    if (auto* lay_out = ready.by->desc().lay_out) {
      Prepared& made = ready.prepared;
      const NodeView view{node, store, inputs, outputs, epilogue_input >= 0 ? &epilogue_request : nullptr};
      Ref<Status> failed = Ref<Status>::adopt(lay_out(view, made.state, &made.scratch_bytes, ready.by->desc().user));
      if (failed) fail_to_prepare(*ready.by, node, failed);
    }
    Prepared made = ready.prepared;
    if (epilogue_request.accepted) made.run_tile = ready.by->desc().run_tile;
    ready.prepared.drop = nullptr;
    return made;
  }

 private:
  // Owns the state until a step takes it.
  struct PreparedNode {
    Prepared prepared;
    const Executor* by = nullptr;
    uint32_t flags = 0;  // of the node, by that executor

    PreparedNode() = default;
    PreparedNode(const Prepared& p, const Executor* e, uint32_t f) : prepared(p), by(e), flags(f) {}
    PreparedNode(PreparedNode&& o) noexcept { *this = std::move(o); }
    PreparedNode& operator=(PreparedNode&& o) noexcept {
      std::swap(prepared, o.prepared), std::swap(by, o.by), std::swap(flags, o.flags);
      return *this;
    }
    ~PreparedNode() {
      if (prepared.drop) prepared.drop(prepared.state);
    }
  };

  const PreparedNode* find(const Node& node) const {
    const auto it = ready_.find(&node);
    return it == ready_.end() ? nullptr : &it->second;
  }

  bool has_flag(const Node& node, uint32_t flag) const {
    const PreparedNode* ready = find(node);
    return ready && ready->flags & flag;
  }

  Executors::const_iterator claimant(const Node& node) const {
    return std::find_if(executors_.begin(), executors_.end(),
                        [&](auto& e) { return node.executor && e->name() == node.executor; });
  }

  // Asks the node's claimant, then the executors after it. `by` is null when all declined. `state`: the claimant's.
  PreparedNode prepare_node(const Node& node, const Store& store, RegionState state) const {
    NodeView view{node, store};
    view.state = std::move(state);
    const auto first = claimant(node);
    for (auto it = first; it != executors_.end(); ++it) {
      const ExecutorDesc& d = (*it)->desc();
      // `claims` does not know regions, so the claimant is not asked again; executors after it must claim the node too.
      if (it != first) view.state = nullptr;
      if (it != first && !(*it)->claims(view)) continue;
      Prepared p{d.run, nullptr, d.drop, 0};
      Ref<Status> failed = Ref<Status>::adopt(d.prepare(view, &p.state, &p.scratch_bytes, d.user));
      if (!failed) return {p, it->get(), (*it)->flags(view)};
      if (failed->code() == Code::declined) continue;
      fail_to_prepare(**it, node, failed);
    }
    return {};
  }

  [[noreturn]] static void fail_to_prepare(const Executor& executor, const Node& node, const Ref<Status>& failed) {
    const Code code = failed->code();
    if (failed->has_foreign() || code == Code::out_of_memory || code == Code::declined) throw Error(failed);
    fail(Code::backend, "executor '", executor.name(), "' could not prepare ", node.op->name(), ": ", failed->message(),
         at(node));
  }

  // The body of a node that was declined, claimed anew. What a fusion executor cannot run as one region it may run as
  // several, so it is asked again; other bodies go to the executors after the claimant.
  std::vector<const Node*> reclaim_body(const Trace& claimed, const Node& node, const Op& region,
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
      // Regions must get smaller for this to end: with rematerialized nodes, a part may be as large as the whole.
      const auto smaller = [&](const Node* n) { return n->body.size() < node.body.size(); };
      if (std::all_of(parts.begin(), parts.end(), smaller)) return parts;
    }
    return claimed_by({first == executors_.end() ? first : first + 1, executors_.end()});
  }

  static std::string at(const Node& node) { return node.where ? cat(" [at ", node.where, "]") : ""; }
  [[noreturn]] static void fail_unclaimed(const Node& node) {
    fail(Code::unimplemented, node.op->name(), ": every executor that claimed it declined to prepare it", at(node));
  }

  Executors executors_;
  std::unordered_map<const Node*, PreparedNode> ready_;
};

}  // namespace

PreparedTrace prepare(const Trace& claimed, Executors executors, const Op& region, RegionStates& states,
                      InterruptCheck& check) {
  auto preparer = std::make_unique<ExecutorPreparer>(std::move(executors));
  std::vector<const Node*> nodes = preparer->prepare_all(claimed, region, states, check);
  PreparedTrace out;
  if (nodes != claimed.nodes) {
    out.trace = claimed;
    out.trace->nodes = std::move(nodes);
    out.trace->pass = "prepare";
  }
  out.preparer = std::move(preparer);
  return out;
}

}  // namespace thunder
