// Updates in place of ops that change some elements of their first operand: index_put into a cache of keys and values,
// index_add into a gradient.
#include <algorithm>

#include "program/locations.h"

namespace thunder {
namespace {

class Updates {
 public:
  Updates(const Trace& trace, const Kernels& kernels, int64_t last_check, Locations& locations)
      : trace_(trace), kernels_(kernels), last_check_(last_check), all_(locations) {}

  void run() {
    for (size_t i = 0; i < trace_.nodes.size(); i++) {
      const Node& n = *trace_.nodes[i];
      if (def(n).has(kUpdates) && !all_.constant[i] && kernels_.takes_strided(n) && !kernels_.has(n, kMayFail) &&
          can_update_in_place(n, static_cast<int64_t>(i)))
        move_into_operand(n, i);
    }
  }

 private:
  // Whether this node may change the memory of its first operand.
  bool can_update_in_place(const Node& n, int64_t at) const {
    const ValueId first = n.args[0].v;
    const Root& root = all_.root_of(first);
    if (root.last_use != at || root.place == Place::constant ||
        has_repeated_elements(all_.at[first], trace_.type(first)))
      return false;
    size_t reads = 0;  // how many operands lie in this memory
    for_each_value(n.args, [&](ValueId v) { reads += all_.at[v].root == all_.at[first].root; });
    const bool alone = reads == 1;
    if (!alone || root.place == Place::arena) return alone;
    return at >= last_check_ && std::any_of(trace_.writes.begin(), trace_.writes.end(),
                                            [&](const Write& w) { return w.input == root.index; });
  }

  static bool has_repeated_elements(const Location& l, const TensorType& type) {
    for (size_t i = 0; i < type.shape.size(); i++)
      if (is_equal(l.strides[i], 0) && is_less(1, type.shape[i])) return true;
    return false;
  }

  // Moves the result, and the views of it, into the operand's memory, unless one of them could not be a view there.
  void move_into_operand(const Node& n, size_t at) {
    const ValueId result = n.results[0], into = all_.at[n.args[0].v].root;
    std::vector<std::pair<ValueId, Location>> moved = {{result, all_.at[n.args[0].v]}};
    for (size_t j = at + 1; j < trace_.nodes.size(); j++) {
      const Node& view = *trace_.nodes[j];
      if (!all_.is_view[j] || all_.at[view.args[0].v].root != result) continue;
      const auto in = std::find_if(moved.begin(), moved.end(), [&](auto& m) { return m.first == view.args[0].v; });
      auto there = locate_view(trace_, view, in->second);
      if (!there) return;
      moved.emplace_back(view.results[0], std::move(*there));
    }
    for (auto& [v, location] : moved) all_.at[v] = std::move(location);
    all_.roots[into].last_use = std::max(all_.roots[into].last_use, all_.roots[result].last_use);
  }

  const Trace& trace_;
  const Kernels& kernels_;
  const int64_t last_check_;
  Locations& all_;
};

}  // namespace

bool IndexChecks::has_seen_or_add(const Node& n) {
  if (!def(n).has(kUpdates)) return false;
  // A check depends on the indices, on the shape of the operand, and on the dims that are indexed.
  const auto same = [&](const Node* other) {
    std::vector<ValueId> indices[2];
    const Node* const both[] = {&n, other};
    for (size_t k = 0; k < 2; k++)
      for_each_value(both[k]->args, [&](ValueId v) {
        if (!is_real(trace_.type(v).dtype)) indices[k].push_back(v);
      });
    if (n.op != other->op || indices[0] != indices[1] ||
        trace_.type(n.args[0].v).shape != trace_.type(other->args[0].v).shape)
      return false;
    for (size_t i = 0; i < n.args.size(); i++)
      if (n.args[i].kind == ArgKind::integer && n.args[i].i != other->args[i].i) return false;
    return true;
  };
  if (std::any_of(seen_.begin(), seen_.end(), same)) return true;
  seen_.push_back(&n);
  return false;
}

void update_in_place(const Trace& trace, const Kernels& kernels, int64_t last_check, Locations& locations) {
  Updates(trace, kernels, last_check, locations).run();
}

}  // namespace thunder
