#include "executors/fusion/grow.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "executors/fusion/structural_hash.h"
#include "ir/prim.h"

namespace thunder::fusion {
namespace {

// How many producers may be added together with one node.
constexpr size_t kMaxPulledIn = 32;

class Growth {
 public:
  // `allowed`: which nodes it may take.
  Growth(std::span<const Node* const> nodes, const Store& store, const Capabilities& can,
         std::span<const uint8_t> allowed, std::span<uint8_t> taken)
      : nodes_(nodes), store_(store), can_(can), allowed_(allowed), taken_(taken), group_(store, can) {}

  // `pulls_in`: a node may be added together with producers that no node of the group reads yet.
  bool run(bool pulls_in) {
    std::fill(taken_.begin(), taken_.end(), uint8_t{0});
    if (!group_.add(*nodes_[0])) return false;
    mark_taken(0);
    for (size_t i = 0; i < nodes_.size(); i++) {
      for (ValueId r : nodes_[i]->results) producer_[r] = i;
      if (i == 0 || !allowed_[i]) continue;
      const bool sibling = !reads_group(*nodes_[i]);
      if (sibling && (!pulls_in || find_prim(*nodes_[i]->op)->role != Role::reduction)) continue;
      if (pulls_in && (try_with_producers(i, Views::fused, sibling) || try_with_producers(i, Views::read, sibling)))
        continue;
      if (!sibling || shares_large_operand(*nodes_[i])) add_with_producers({}, i);
    }
    drop_unread_views();
    return is_valid_in_order();
  }
  // The group of the nodes that were taken, in their order. Requires: run() returned true.
  Group group() && { return std::move(group_); }

 private:
  // The kernel would store a view that no node of the group reads; outside of the kernel a view costs nothing.
  void drop_unread_views() {
    std::unordered_set<ValueId> read;
    for (size_t i = nodes_.size(); i-- > 0;) {
      if (!taken_[i]) continue;
      const Node& node = *nodes_[i];
      if (find_prim(*node.op)->role == Role::view && !read.count(node.results[0]))
        taken_[i] = 0;
      else
        for_each_value(node.args, [&](ValueId v) { read.insert(v); });
    }
  }

  // Whether the nodes also form a group in trace order, in which they will be lowered. The nodes before a reduction
  // decide how it is lowered.
  bool is_valid_in_order() {
    Group group(store_, can_);
    for (size_t i = 0; i < nodes_.size(); i++)
      if (taken_[i] && !group.extend(*nodes_[i])) return false;
    group_ = std::move(group);
    return group_.check_consistency();
  }

  bool reads_group(const Node& node) const {
    bool reads = false;
    for_each_value(node.args, [&](ValueId v) { reads |= group_.has(v); });
    return reads;
  }

  // Whether views of values outside are fused together with what they view, or read from memory.
  enum class Views { fused, read };
  bool try_with_producers(size_t node, Views views, bool sibling) {
    std::vector<size_t> with;
    collect_producers(*nodes_[node], views, with);
    const auto reads = [this](size_t i) { return shares_large_operand(*nodes_[i]); };
    if (sibling && !reads(node) && std::none_of(with.begin(), with.end(), reads)) return false;
    return !with.empty() && with.size() <= kMaxPulledIn && add_with_producers(with, node);
  }
  // Whether the node reads a large operand that the group reads as well. Then joining is profitable: reading the
  // operand once saves more than storing the small result of a reduction costs. The operand of a broadcast is not
  // large.
  bool shares_large_operand(const Node& node) const {
    bool reads = false;
    for_each_value(node.args, [&](ValueId v) {
      const auto it = producer_.find(v);
      const bool broadcast = it != producer_.end() && nodes_[it->second]->op->id == Prim::expand;
      reads |= read_.count(v) != 0 && !broadcast && is_large_operand(store_.type(v));
    });
    return reads;
  }
  // Collects the producers outside of the group that this node needs, in the trace's order, except views of values that
  // the group cannot compute.
  void collect_producers(const Node& node, Views views, std::vector<size_t>& with) const {
    // An op that draws random numbers reads its state from memory.
    if (find_prim(*node.op)->role == Role::create) return;
    for_each_value(node.args, [&](ValueId v) {
      auto it = producer_.find(v);
      if (it == producer_.end() || taken_[it->second] || !allowed_[it->second] || with.size() > kMaxPulledIn) return;
      const Node& made_by = *nodes_[it->second];
      if (find_prim(*made_by.op)->role == Role::view && (views == Views::read || !views_fusible_value(made_by))) return;
      if (std::find(with.begin(), with.end(), it->second) != with.end()) return;
      collect_producers(made_by, views, with);
      with.push_back(it->second);
    });
  }
  // Whether a view is a view of a value that could be computed in the group.
  bool views_fusible_value(const Node& view) const {
    auto it = producer_.find(view.args[0].v);
    if (it == producer_.end() || taken_[it->second] || !allowed_[it->second]) return false;
    const Node& from = *nodes_[it->second];
    return find_prim(*from.op)->role != Role::view || views_fusible_value(from);
  }

  bool add_with_producers(const std::vector<size_t>& with, size_t node) {
    Group grown = group_;
    for (size_t i : with)
      if (!grown.extend(*nodes_[i])) return false;
    if (!grown.add(*nodes_[node])) return false;
    group_ = std::move(grown);
    for (size_t i : with) mark_taken(i);
    mark_taken(node);
    return true;
  }

  void mark_taken(size_t node) {
    taken_[node] = 1;
    for_each_value(nodes_[node]->args, [this](ValueId v) { read_.insert(v); });
  }

  std::span<const Node* const> nodes_;
  const Store& store_;
  const Capabilities& can_;
  std::span<const uint8_t> allowed_;
  std::span<uint8_t> taken_;
  Group group_;
  std::unordered_map<ValueId, size_t> producer_;  // by result: the node, among those seen so far
  std::unordered_set<ValueId> read_;              // by the group
};

// Finds dependence cycles: paths that leave the group and come back to it. Nodes on such a path would have to run both
// after and before the kernel. False: there are none. Otherwise removes nodes from `allowed`, so that the next attempt
// has fewer cycles: the nodes that lead to such a path form a group of their own, which is this one if the first node
// is among them.
bool forbid_cycles(std::span<const Node* const> nodes, std::span<const uint8_t> taken, std::span<uint8_t> allowed) {
  // `made`: results of the group or of nodes that depend on it. `wanted`: operands of the group or of nodes that lead
  // to it.
  std::unordered_set<ValueId> made, wanted;
  std::vector<uint8_t> outside(nodes.size(), 0), begins(nodes.size(), 0);
  const auto reads = [&](const Node& node, const std::unordered_set<ValueId>& values) {
    bool any = false;
    for_each_value(node.args, [&](ValueId v) { any |= values.count(v) != 0; });
    return any;
  };
  const auto insert_args = [](const Node& node, std::unordered_set<ValueId>& values) {
    for_each_value(node.args, [&](ValueId v) { values.insert(v); });
  };
  for (size_t i = 0; i < nodes.size(); i++) {
    outside[i] = !taken[i] && reads(*nodes[i], made);
    if (taken[i] || outside[i]) made.insert(nodes[i]->results[0]);
  }
  bool any = false;
  for (size_t i = nodes.size(); i-- > 0;) {
    outside[i] = outside[i] && wanted.count(nodes[i]->results[0]);
    any |= outside[i];
    if (taken[i] || outside[i]) insert_args(*nodes[i], wanted);
  }
  if (!any) return false;
  wanted.clear();
  for (size_t i = nodes.size(); i-- > 0;) {
    begins[i] = taken[i] && wanted.count(nodes[i]->results[0]);
    if (begins[i] || outside[i]) insert_args(*nodes[i], wanted);
  }
  for (size_t i = 0; i < nodes.size(); i++)
    allowed[i] = allowed[i] && (begins[0] ? begins[i] || outside[i] : !begins[i]);
  return true;
}

}  // namespace

namespace {

bool search_group(std::span<const Node* const> nodes, const Store& store, const Capabilities& can,
                  std::span<uint8_t> taken, std::shared_ptr<Group>& group) {
  std::vector<uint8_t> allowed(nodes.size(), 1);
  do {
    const auto run = [&](bool pulls_in) {
      Growth growth(nodes, store, can, allowed, taken);
      if (!growth.run(pulls_in)) return false;
      group = std::make_shared<Group>(std::move(growth).group());
      return true;
    };
    if (!run(true) && !run(false)) return false;
  } while (forbid_cycles(nodes, taken, allowed));
  return true;
}

// A memoized result of `grow` for nodes of some structure, and for those that differ in sizes alone. Layers of a model
// repeat, and programs are compiled again.
struct Answer {
  bool grows;
  std::vector<uint8_t> taken;
};
using Answers = std::unordered_map<StructuralHash, Answer, HashOfHash>;
constexpr size_t kMaxAnswers = 4096;  // of a thread, whose cache is then cleared

Answer answer_for_any_size(std::span<const Node* const> nodes, const Store& store, const Capabilities& can,
                           std::span<uint8_t> taken, std::shared_ptr<Group>& group, Answers& answers) {
  const StructuralHash of = hash_for_any_size(nodes, store, can);
  if (const auto known = answers.find(of); known != answers.end()) return known->second;
  const bool grows = search_group(nodes, store, can, taken, group);
  return answers[of] = {grows, std::vector<uint8_t>(taken.begin(), taken.end())};
}

}  // namespace

bool grow(std::span<const Node* const> nodes, const Store& store, const Capabilities& can, std::span<uint8_t> taken,
          std::shared_ptr<Group>& group) {
  thread_local Answers answers;
  const StructuralHash of = structural_hash(nodes, store, can);
  auto known = answers.find(of);
  if (known == answers.end()) {
    if (answers.size() >= kMaxAnswers) answers.clear();
    known = answers.emplace(of, answer_for_any_size(nodes, store, can, taken, group, answers)).first;
  }
  std::copy(known->second.taken.begin(), known->second.taken.end(), taken.begin());
  return known->second.grows;
}

}  // namespace thunder::fusion
