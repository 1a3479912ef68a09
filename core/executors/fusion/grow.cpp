#include "executors/fusion/grow.h"

#include <algorithm>
#include <unordered_set>

#include "executors/fusion/growth_cache.h"

namespace thunder::fusion {
namespace {

// How many producers may be pulled in for the sake of one node.
constexpr size_t kMaxPulledIn = 16;

class Growth {
 public:
  // `allowed`: which nodes it may take.
  Growth(std::span<const Node* const> lines, const Store& store, const Capabilities& can,
         std::span<const uint8_t> allowed, std::span<uint8_t> taken)
      : lines_(lines), store_(store), can_(can), allowed_(allowed), taken_(taken), group_(store, can) {}

  // `pulls_in`: a node may be added together with producers that no node of the group reads yet.
  bool run(bool pulls_in) {
    std::fill(taken_.begin(), taken_.end(), uint8_t{0});
    if (!group_.add(*lines_[0])) return false;
    take(0);
    for (size_t i = 0; i < lines_.size(); i++) {
      for (ValueId r : lines_[i]->results) maker_[r] = i;
      if (i == 0 || !allowed_[i]) continue;
      const bool beside = !reads_group(*lines_[i]);
      if (beside && (!pulls_in || find_prim(*lines_[i]->op)->role != Role::reduction)) continue;
      if (pulls_in && (join_with_producers(i, Views::fused, beside) || join_with_producers(i, Views::read, beside)))
        continue;
      if (!beside || reads_beside(*lines_[i])) join({}, i);
    }
    leave_views();
    return stands();
  }
  // After a run that found one: of the nodes that were taken, in their order.
  Group group() && { return std::move(group_); }

 private:
  // A view that no node of the group reads would be stored in full; outside of the kernel it costs nothing.
  void leave_views() {
    std::unordered_set<ValueId> read;
    for (size_t i = lines_.size(); i-- > 0;) {
      if (!taken_[i]) continue;
      const Node& line = *lines_[i];
      if (find_prim(*line.op)->role == Role::view && !read.count(line.results[0])) taken_[i] = 0;
      else for_each_value(line.args, [&](ValueId v) { read.insert(v); });
    }
  }

  // Whether the nodes form a group in the order in which they will be compiled: how a reduction is lowered may depend
  // on the nodes before it.
  bool stands() {
    Group group(store_, can_);
    for (size_t i = 0; i < lines_.size(); i++)
      if (taken_[i] && !group.extend(*lines_[i])) return false;
    group_ = std::move(group);
    return group_.consistent();
  }

  bool reads_group(const Node& line) const {
    bool reads = false;
    for_each_value(line.args, [&](ValueId v) { reads |= group_.has(v); });
    return reads;
  }

  // Whether views of values outside are fused together with what they view, or read from memory.
  enum class Views { fused, read };
  bool join_with_producers(size_t line, Views views, bool beside) {
    std::vector<size_t> with;
    collect_producers(*lines_[line], views, with);
    const auto reads = [this](size_t i) { return reads_beside(*lines_[i]); };
    if (beside && !reads(line) && std::none_of(with.begin(), with.end(), reads)) return false;
    return !with.empty() && with.size() <= kMaxPulledIn && join(with, line);
  }
  // Whether it reads a large operand that the group reads as well: the result of a reduction is small, so reading the
  // operand once saves more than storing the result costs. The operand of a broadcast is not large.
  bool reads_beside(const Node& line) const {
    constexpr int64_t kLarge = 1 << 14;  // elements
    bool reads = false;
    for_each_value(line.args, [&](ValueId v) {
      const auto it = maker_.find(v);
      const bool broadcast = it != maker_.end() && lines_[it->second]->op->name() == "prims.expand";
      reads |= read_.count(v) != 0 && !broadcast && elements(store_.type(v).shape).value() >= kLarge;
    });
    return reads;
  }
  // Collects the producers outside of the group that this node needs, in the trace's order; views alone need not be
  // computed.
  void collect_producers(const Node& line, Views views, std::vector<size_t>& with) const {
    for_each_value(line.args, [&](ValueId v) {
      auto it = maker_.find(v);
      if (it == maker_.end() || taken_[it->second] || !allowed_[it->second] || with.size() > kMaxPulledIn) return;
      const Node& made_by = *lines_[it->second];
      if (find_prim(*made_by.op)->role == Role::view && (views == Views::read || !makes_anything_new(made_by))) return;
      if (std::find(with.begin(), with.end(), it->second) != with.end()) return;
      collect_producers(made_by, views, with);
      with.push_back(it->second);
    });
  }
  // Whether a view is a view of a value that could be computed in the group.
  bool makes_anything_new(const Node& view) const {
    auto it = maker_.find(view.args[0].v);
    if (it == maker_.end() || taken_[it->second] || !allowed_[it->second]) return false;
    const Node& from = *lines_[it->second];
    return find_prim(*from.op)->role != Role::view || makes_anything_new(from);
  }

  bool join(const std::vector<size_t>& with, size_t line) {
    Group grown = group_;
    for (size_t i : with)
      if (!grown.extend(*lines_[i])) return false;
    if (!grown.add(*lines_[line])) return false;
    group_ = std::move(grown);
    for (size_t i : with) take(i);
    take(line);
    return true;
  }

  void take(size_t line) {
    taken_[line] = 1;
    for_each_value(lines_[line]->args, [this](ValueId v) { read_.insert(v); });
  }

  std::span<const Node* const> lines_;
  const Store& store_;
  const Capabilities& can_;
  std::span<const uint8_t> allowed_;
  std::span<uint8_t> taken_;
  Group group_;
  std::unordered_map<ValueId, size_t> maker_;  // by result: the node, among those seen so far
  std::unordered_set<ValueId> read_;  // by the group
};

// Finds paths that leave the group and come back to it: nodes on them can run neither inside nor behind the group, and
// nodes that they lead to cannot run before them. False: there are none. Otherwise removes nodes from `allowed`, so
// that the next attempt has fewer such paths: the nodes at which they begin become a group of their own, which is this
// one if the first node is among them.
bool forbid_returns(std::span<const Node* const> lines, std::span<const uint8_t> taken, std::span<uint8_t> allowed) {
  // Results of the group or of nodes that depend on it; operands of the group or of nodes that lead to it.
  std::unordered_set<ValueId> made, wanted;
  std::vector<uint8_t> outside(lines.size(), 0), begins(lines.size(), 0);
  const auto reads = [&](const Node& line, const std::unordered_set<ValueId>& values) {
    bool any = false;
    for_each_value(line.args, [&](ValueId v) { any |= values.count(v) != 0; });
    return any;
  };
  const auto insert_args = [](const Node& line, std::unordered_set<ValueId>& values) {
    for_each_value(line.args, [&](ValueId v) { values.insert(v); });
  };
  for (size_t i = 0; i < lines.size(); i++) {
    outside[i] = !taken[i] && reads(*lines[i], made);
    if (taken[i] || outside[i]) made.insert(lines[i]->results[0]);
  }
  bool any = false;
  for (size_t i = lines.size(); i-- > 0;) {
    outside[i] = outside[i] && wanted.count(lines[i]->results[0]);
    any |= outside[i];
    if (taken[i] || outside[i]) insert_args(*lines[i], wanted);
  }
  if (!any) return false;
  wanted.clear();
  for (size_t i = lines.size(); i-- > 0;) {
    begins[i] = taken[i] && wanted.count(lines[i]->results[0]);
    if (begins[i] || outside[i]) insert_args(*lines[i], wanted);
  }
  for (size_t i = 0; i < lines.size(); i++)
    allowed[i] = allowed[i] && (begins[0] ? begins[i] || outside[i] : !begins[i]);
  return true;
}

}  // namespace

namespace {

bool search(std::span<const Node* const> lines, const Store& store, const Capabilities& can, std::span<uint8_t> taken,
            std::shared_ptr<Group>& group) {
  std::vector<uint8_t> allowed(lines.size(), 1);
  do {
    const auto run = [&](bool pulls_in) {
      Growth growth(lines, store, can, allowed, taken);
      if (!growth.run(pulls_in)) return false;
      group = std::make_shared<Group>(std::move(growth).group());
      return true;
    };
    if (!run(true) && !run(false)) return false;
  } while (forbid_returns(lines, taken, allowed));
  return true;
}

}  // namespace

bool grow(std::span<const Node* const> lines, const Store& store, const Capabilities& can, std::span<uint8_t> taken,
          std::shared_ptr<Group>& group) {
  const StructuralHash of = structural_hash(lines, store, can);
  GrowthCache& cache = GrowthCache::of_this_thread();
  if (const GrowthCache::Answer* known = cache.find(of)) {
    std::copy(known->taken.begin(), known->taken.end(), taken.begin());
    return known->grows;
  }
  const bool grows = search(lines, store, can, taken, group);
  cache.add(of, {grows, std::vector<uint8_t>(taken.begin(), taken.end())});
  return grows;
}

}  // namespace thunder::fusion
