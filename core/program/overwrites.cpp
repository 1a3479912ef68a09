// On devices, elementwise results reuse the memory of an operand that is not read again.
#include <algorithm>

#include "program/locations.h"

namespace thunder {
namespace {

class Overwrites {
 public:
  Overwrites(const Trace& trace, const Kernels& kernels, std::span<const InputPlan> inputs, Locations& locations)
      : trace_(trace), kernels_(kernels), inputs_(inputs), all_(locations), into_(trace.store->size(), kNoValue) {}

  void run() {
    for (size_t i = 0; i < trace_.nodes.size(); i++) {
      const Node& n = *trace_.nodes[i];
      if (all_.is_view[i] || all_.constant[i] || !kernels_.can_run_in_place(n)) continue;
      for (ValueId r : n.results) overwrite_operand(n, r, static_cast<int64_t>(i));
    }
    for (Location& l : all_.at)
      if (l.root != kNoValue) l.root = root_of(l.root);
  }

 private:
  // The root whose memory a root has been moved to so far.
  ValueId root_of(ValueId root) const {
    while (into_[root] != kNoValue) root = into_[root];
    return root;
  }

  void overwrite_operand(const Node& n, ValueId result, int64_t at) {
    if (all_.at[result].root != result || !is_unplaced(result)) return;
    for_each_value(n.args, [&](ValueId v) {
      const ValueId root = root_of(all_.at[v].root);
      if (into_[result] != kNoValue || !same_type(trace_.type(v), trace_.type(result)) || !may_overwrite(root)) return;
      if (all_.roots[root].last_use != at || !have_same_layout(n, root, result)) return;
      into_[result] = root;
      all_.roots[root].last_use = std::max(all_.roots[result].last_use, at + 1);
    });
  }

  bool is_unplaced(ValueId root) const { return all_.roots[root].place == Place::arena && !all_.roots[root].placed; }

  // On the CPU the next result gets memory that is in the caches in any case.
  bool may_overwrite(ValueId root) const {
    const Root& r = all_.roots[root];
    if (r.place == Place::input) return inputs_[r.index].donated;
    return trace_.type(root).device != Device::cpu && is_unplaced(root);
  }

  // Whether all operands in this memory have the result's layout, element by element.
  bool have_same_layout(const Node& n, ValueId root, ValueId result) const {
    bool alike = true;
    for_each_value(n.args, [&](ValueId v) {
      const Location& l = all_.at[v];
      if (root_of(l.root) == root)
        alike = alike && is_equal(l.offset, 0) && same_strides(l.strides, all_.at[result].strides) &&
                same_type(trace_.type(v), trace_.type(result));
    });
    return alike;
  }

  const Trace& trace_;
  const Kernels& kernels_;
  const std::span<const InputPlan> inputs_;
  Locations& all_;
  std::vector<ValueId> into_;  // by root that was moved: the root whose memory it has
};

}  // namespace

void overwrite_operands(const Trace& trace, const Kernels& kernels, std::span<const InputPlan> inputs,
                        Locations& locations) {
  Overwrites(trace, kernels, inputs, locations).run();
}

}  // namespace thunder
