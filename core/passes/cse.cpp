#include "passes/cse.h"

#include <bit>

#include "base/hash.h"
#include "passes/inside.h"
#include "passes/rewrite.h"

namespace thunder {
namespace {

uint64_t hash(const Node& n) {
  uint64_t h = reinterpret_cast<uintptr_t>(n.op);
  for (const Arg& a : n.args) h = hash(a, h);
  return h;
}

bool equal(const Node& a, const Node& b) {
  if (a.op != b.op || a.results.size() != b.results.size() || a.executor != b.executor) return false;
  for (size_t i = 0; i < a.args.size(); i++)
    if (!same(a.args[i], b.args[i])) return false;
  return true;
}

// A hash set of nodes by content, with open addressing in a table that never grows. A slot has the hash beside the
// pointer, so that most comparisons need not load the node.
class NodeSet {
 public:
  explicit NodeSet(size_t max_nodes) : slots_(std::bit_ceil(2 * max_nodes + 2)) {}
  // Returns an equal node added earlier; null if there was none, and this one has been added.
  const Node* find_or_add(const Node* node) {
    const uint64_t h = hash(*node);
    for (size_t at = h;; at++) {
      Slot& slot = slots_[at & (slots_.size() - 1)];
      if (slot.node && (slot.hash != h || !equal(*slot.node, *node))) continue;
      if (slot.node) return slot.node;
      slot = {h, node};
      return nullptr;
    }
  }

 private:
  struct Slot {
    uint64_t hash = 0;
    const Node* node = nullptr;
  };
  std::vector<Slot> slots_;
};

// Whether a decomposition reads only the node's arguments and values that it computes itself.
class Closed {
 public:
  explicit Closed(size_t values) : known_by_(values, 0) {}

  bool operator()(const Node& node) {
    if (node.body.empty()) return true;
    current_++;
    for_each_value(node.args, [&](ValueId v) { mark_known(v); });
    return is_closed_body(node);
  }

 private:
  void mark_known(ValueId v) {
    if (v >= known_by_.size()) known_by_.resize(v + 1, 0);
    known_by_[v] = current_;
  }
  bool is_closed_body(const Node& node) {
    bool closed = true;
    for (const Node* inner : node.body) {
      for_each_value(inner->args, [&](ValueId v) { closed &= v < known_by_.size() && known_by_[v] == current_; });
      if (!is_closed_body(*inner)) return false;
      for (ValueId r : inner->results) mark_known(r);
    }
    return closed;
  }

  std::vector<uint32_t> known_by_;
  uint32_t current_ = 0;
};

}  // namespace

std::optional<Trace> cse(const Trace& trace, PassContext& context) {
  Rewriter rewriter(trace, context.registry);
  NodeSet nodes(trace.nodes.size());
  Closed closed(trace.store->size());
  for (const Node* old : trace.nodes) {
    const Node* node = rewriter.substituted(old);
    const Node* first = is_pure(*node) && closed(*node) ? nodes.find_or_add(node) : nullptr;
    bool merged = first && !node->results.empty();
    for (size_t i = 0; merged && i < node->results.size(); i++)
      merged = rewriter.type(first->results[i]) == rewriter.type(node->results[i]);
    if (!merged) {
      rewriter.keep(node);
      continue;
    }
    for (size_t i = 0; i < node->results.size(); i++) rewriter.replace(node->results[i], first->results[i]);
  }
  return rewriter.finish();
}

}  // namespace thunder
