// A fusion executor for tests: it takes elementwise lines and views in pieces, and runs each piece by reference
// kernels.
#pragma once

#include <unordered_map>

#include "executors/executor.h"
#include "ops/widened.h"

namespace thunder::test {

// Which of the lines that it is offered it takes, which it runs together though they need nothing of each other, and
// which regions it declines to prepare. Null: all, none, none. And an op that it claims beside elementwise ones.
struct Pieces {
  bool (*takes)(const Node&) = nullptr;
  bool (*fits)(std::span<const Node* const> nodes) = nullptr;
  bool (*declines)(const Node& region) = nullptr;
  std::string_view claims_more = {};
  std::vector<size_t> prepared = {};  // the number of lines of each region that it did not decline
  std::vector<size_t> offered = {};   // of each question: how many lines
  size_t known = 0, other = 0;        // regions prepared with what was kept of just their lines, and of others
};

namespace pieces {

inline bool claim(const NodeView& view, void* user) {
  const bool more = view.node.op->name() == static_cast<Pieces*>(user)->claims_more;
  return more || (view.node.op->prim && (def(view.node).has(kElementwise) || def(view.node).view));
}

// What a region's lines are, as the state that is kept for prepare.
using Lines = std::vector<const Node*>;

inline bool claim_region(std::span<const Node* const> nodes, const Store&, uint8_t* taken, RegionState& state,
                         void* user) {
  auto& p = *static_cast<Pieces*>(user);
  p.offered.push_back(nodes.size());
  for (size_t i = 0; i < nodes.size(); i++) taken[i] = i == 0 || !p.takes || p.takes(*nodes[i]);
  auto lines = std::make_shared<Lines>();
  for (size_t i = 0; i < nodes.size(); i++)
    if (taken[i]) lines->push_back(nodes[i]);
  state = lines;
  return true;
}

inline bool fits(std::span<const Node* const> nodes, const Store&, RegionState& state, void* user) {
  auto& p = *static_cast<Pieces*>(user);
  if (!p.fits(nodes)) return false;
  state = std::make_shared<Lines>(nodes.begin(), nodes.end());
  return true;
}

struct Piece {
  const Node& node;
  const Store& store;
};

inline Status* prepare(const NodeView& view, void** state, size_t*, void* user) {
  auto& p = *static_cast<Pieces*>(user);
  if (p.declines && p.declines(view.node)) return make<Status>(Code::declined, "not this one").detach();
  if (!view.node.body.empty()) p.prepared.push_back(view.node.body.size());
  if (view.state) {
    const Lines& kept = *static_cast<const Lines*>(view.state.get());
    (std::equal(kept.begin(), kept.end(), view.node.body.begin(), view.node.body.end()) ? p.known : p.other)++;
  }
  *state = new Piece{view.node, view.store};
  return nullptr;
}

inline Status* run(const Launch* launch, void* state) {
  const auto& [node, store] = *static_cast<const Piece*>(state);
  if (node.body.empty()) return run_reference(def(node), {{launch->inputs, launch->n_inputs}, {launch->outputs, launch->n_outputs}, node.args});
  std::unordered_map<ValueId, Buffer> at;
  std::vector<Ref<Tensor>> kept;
  size_t next = 0;
  for_each_value(node.args, [&](ValueId v) { at[v] = launch->inputs[next++]; });
  for (size_t i = 0; i < node.results.size(); i++) at[node.results[i]] = launch->outputs[i];
  for (const Node* n : node.body) {
    std::vector<Buffer> in, out;
    for_each_value(n->args, [&](ValueId v) { in.push_back(at.at(v)); });
    for (ValueId r : n->results) {
      if (!at.contains(r)) at[r] = kept.emplace_back(Tensor::empty(default_allocator(), store.type(r)))->buffer();
      out.push_back(at[r]);
    }
    if (Status* failed = run_reference(def(*n), {in, out, n->args})) return failed;
  }
  return nullptr;
}

}  // namespace pieces

// `choice` must outlive the programs.
inline Ref<Executor> pieces_executor(Pieces& choice) {
  ExecutorDesc d;
  d.name = "pieces";
  d.flags = kStrided;
  d.user = &choice;
  d.claim = pieces::claim;
  d.claim_region = pieces::claim_region;
  if (choice.fits) d.fits = pieces::fits;
  d.prepare = pieces::prepare;
  d.run = pieces::run;
  d.drop = [](void* state) { delete static_cast<pieces::Piece*>(state); };
  return make<Executor>(d);
}

}  // namespace thunder::test
