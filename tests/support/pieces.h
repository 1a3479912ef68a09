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

class Piece : public Kernel {
 public:
  explicit Piece(const NodeView& view) : Kernel(this), node_(view.node), store_(view.store) {}
  Status* run(const Launch* launch) const {
    if (node_.body.empty()) return run_reference(def(node_), {{launch->inputs, launch->n_inputs}, {launch->outputs, launch->n_outputs}, node_.args});
    std::unordered_map<ValueId, Buffer> at;
    std::vector<Ref<Tensor>> kept;
    size_t next = 0;
    for_each_value(node_.args, [&](ValueId v) { at[v] = launch->inputs[next++]; });
    for (size_t i = 0; i < node_.results.size(); i++) at[node_.results[i]] = launch->outputs[i];
    for (const Node* n : node_.body) {
      std::vector<Buffer> in, out;
      for_each_value(n->args, [&](ValueId v) { in.push_back(at.at(v)); });
      for (ValueId r : n->results) {
        if (!at.contains(r)) at[r] = kept.emplace_back(Tensor::empty(default_allocator(), store_.type(r)))->buffer();
        out.push_back(at[r]);
      }
      if (Status* failed = run_reference(def(*n), {in, out, n->args})) return failed;
    }
    return nullptr;
  }

 private:
  const Node& node_;
  const Store& store_;
};

inline KernelPtr prepare(const NodeView& view, void* user) {
  auto& p = *static_cast<Pieces*>(user);
  if (p.declines && p.declines(view.node)) throw Error(Code::declined, "not this one");
  if (!view.node.body.empty()) p.prepared.push_back(view.node.body.size());
  if (view.state) {
    const Lines& kept = *static_cast<const Lines*>(view.state.get());
    (std::equal(kept.begin(), kept.end(), view.node.body.begin(), view.node.body.end()) ? p.known : p.other)++;
  }
  return std::make_unique<Piece>(view);
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
  return make<Executor>(d);
}

}  // namespace thunder::test
