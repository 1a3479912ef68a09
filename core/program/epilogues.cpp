// Epilogues: steps that run on each tile of the step before them, while the tile is in the caches.
#include <algorithm>

#include "program/locations.h"

namespace thunder {
namespace {

class Epilogues {
 public:
  Epilogues(const Trace& trace, const Kernels& kernels, Locations& locations)
      : trace_(trace), kernels_(kernels), all_(locations) {}

  void find_producers() {
    int64_t before = kNever;
    for (size_t i = 0; i < trace_.nodes.size(); i++) {
      if (all_.is_view[i] || all_.constant[i]) continue;
      if (before != kNever && can_be_epilogue(*trace_.nodes[static_cast<size_t>(before)], *trace_.nodes[i]))
        all_.producer[i] = before;
      before = static_cast<int64_t>(i);
    }
  }

  void place_results() {
    std::vector<ValueId> moved(trace_.store->size(), kNoValue);
    for (size_t i = 0; i < trace_.nodes.size(); i++) {
      if (all_.producer[i] == kNever) continue;
      const Node &n = *trace_.nodes[i], &producer = *trace_.nodes[static_cast<size_t>(all_.producer[i])];
      if (writes_what_is_read(n, producer)) all_.producer[i] = kNever;
      else share_memory(n, producer.results[0], static_cast<int64_t>(i), moved);
    }
    for (Location& l : all_.at)
      if (l.root != kNoValue && moved[l.root] != kNoValue) l.root = moved[l.root];
  }

 private:
  // Whether of all values in the producer's memory the node reads the producer's result alone.
  bool can_be_epilogue(const Node& producer, const Node& n) const {
    if (!kernels_.has(producer, kRunsEpilogue) || !kernels_.has(n, kRunsTiles)) return false;
    const ValueId made = producer.results[0];
    const Shape& shape = trace_.type(made).shape;
    if (shape.empty() || is_less(shape.back(), 2) || all_.at[made].root != made) return false;
    bool reads = false, only = true;
    for_each_value(n.args, [&](ValueId v) {
      reads |= v == made;
      only &= v == made || all_.at[v].root != made;
    });
    return reads && only;
  }

  // Whether the node writes into an input's memory that the producer still reads. (In the arena, what the producer
  // reads stays live.)
  bool writes_what_is_read(const Node& n, const Node& producer) const {
    bool any = false;
    for (ValueId r : n.results) {
      const Root& to = all_.root_of(r);
      for_each_value(producer.args, [&](ValueId v) {
        any |= to.place == Place::input && all_.root_of(v).place == Place::input && all_.root_of(v).index == to.index;
      });
    }
    return any;
  }

  // An elementwise result gets the memory of the producer's, which is in the caches.
  void share_memory(const Node& n, ValueId made, int64_t at, std::vector<ValueId>& moved) {
    Root& from = all_.roots[made];
    if (from.place != Place::arena || from.placed || from.last_use != at || !kernels_.can_run_in_place(n)) return;
    for (ValueId r : n.results) {
      const Root& to = all_.roots[r];
      const bool free = to.place == Place::arena && !to.placed;
      if (!same_type(trace_.type(r), trace_.type(made)) || all_.at[r].root != r) continue;
      if (!free && to.place != Place::output) continue;
      if (free) moved[r] = made, from.last_use = to.last_use;
      else from = {to.place, to.index, to.offset, true, from.made, from.last_use};
      return;
    }
  }

  const Trace& trace_;
  const Kernels& kernels_;
  Locations& all_;
};

}  // namespace

void find_epilogues(const Trace& trace, const Kernels& kernels, Locations& locations) {
  Epilogues(trace, kernels, locations).find_producers();
}
void place_epilogues(const Trace& trace, const Kernels& kernels, Locations& locations) {
  Epilogues(trace, kernels, locations).place_results();
}

}  // namespace thunder
