// A loop nest with its schedule for a CPU: the vectorized axis, the values that are kept for later passes, prefetched
// loads, non-temporal stores, and work items.
#pragma once

#include <utility>

#include "loops/nest.h"

namespace thunder::loops {

// A load of which the pass prefetches what it needs next.
struct Prefetch {
  ExprId load;
  uint32_t pass;
};

template <class S>
struct CpuNestOf : NestOf<S> {
  using NestOf<S>::outer, NestOf<S>::inner, NestOf<S>::stores, NestOf<S>::maps;

  CpuNestOf() = default;
  explicit CpuNestOf(NestOf<S> nest) : NestOf<S>(std::move(nest)) {}

  uint32_t lane = 0;  // the vectorized axis: the last inner one, or the last outer one
  bool split = false;  // strips of the lane axis are work items: nothing is reduced along it
  // One loop runs the last pass of a row, the second last pass of the next row, and so on.
  bool software_pipelined = false;
  bool blocked = false;  // for each vector of lanes, the loop over the innermost axis runs over one block of it
  // Expressions that a pass computes and a later one uses, and that are too expensive to be recomputed. A buffer of one
  // row keeps their values.
  std::vector<ExprId> kept;
  // Loads of rows that several passes repeat: the last such pass prefetches the next row. In a blocked nest: loads of
  // tiles, each of which prefetches the next tile.
  std::vector<Prefetch> prefetches;
  std::vector<bool> nontemporal;  // by store; empty: none

  // Whether its full cache lines are stored non-temporally, unless the buffer is an input's too. Requires: `s` is in
  // `stores`.
  bool is_nontemporal(const OutputOf<S>& s) const {
    return !nontemporal.empty() && nontemporal[static_cast<size_t>(&s - stores.data())];
  }
  bool any_nontemporal() const { return std::find(nontemporal.begin(), nontemporal.end(), true) != nontemporal.end(); }

  bool lane_is_outer() const { return lane < outer; }
  // Whether the loop over strips of the lane axis is outermost, so that the sums of a strip's columns stay in the L1
  // cache.
  bool strips_are_outermost() const {
    return split && std::any_of(stores.begin(), stores.end(), [this](const OutputOf<S>& s) {
             return s.kind == OutputKind::column && maps[s.map][lane] != 0;
           });
  }
  // Requires: blocked.
  uint32_t block_axis() const { return outer + inner - 1; }
};
using CpuNest = CpuNestOf<int64_t>;

// How code depends on the extent of the lane axis: shorter than a vector; or whole vectors only, also between cuts.
template <class S>
bool has_short_lanes(const CpuNestOf<S>& n) { return n.extents[n.lane] <= 16; }
template <class S>
bool has_whole_vectors_only(const CpuNestOf<S>& n) {
  const auto cuts = n.cuts(n.lane);
  return n.extents[n.lane] % 64 == 0 &&
         std::all_of(cuts.begin(), cuts.end(), [](const S& cut) { return cut % 64 == 0; });
}

// How code depends on the extent of the innermost loop: where each lane is a row, long sums along it are made in runs
// of so many numbers, whose sums are added up: the error grows with the length of a run and the number of runs.
constexpr int64_t kRun = 64;
template <class S>
bool sums_in_runs(const CpuNestOf<S>& n) {
  const auto is_sum = [](const ExprOf<S>& e) { return e.fn == Fn::sum; };
  return n.lane_is_outer() && n.inner && !n.backwards && n.extents[n.outer + n.inner - 1] > 2 * kRun &&
         std::any_of(n.exprs.begin(), n.exprs.end(), is_sum);
}

// The meaning of a work item's number: an index of an axis, a strip of the lane axis, or a block. Fastest first.
struct ItemAxis {
  enum class Kind : uint8_t { index, strip, block } kind;
  uint32_t axis;
};
inline std::vector<ItemAxis> item_axes(const CpuNest& n) {
  std::vector<ItemAxis> out;
  const bool strips = n.split || n.lane_is_outer(), outermost = n.strips_are_outermost();
  if (strips && !outermost) out.push_back({ItemAxis::Kind::strip, n.lane});
  if (n.blocked) out.push_back({ItemAxis::Kind::block, n.block_axis()});
  for (uint32_t a = n.outer; a-- > 0;)
    if (a != n.lane) out.push_back({ItemAxis::Kind::index, a});
  if (strips && outermost) out.push_back({ItemAxis::Kind::strip, n.lane});
  return out;
}
// The number of work items for strips and blocks of these lengths.
int64_t work_items(const CpuNest& nest, int64_t strip, int64_t block);

// The text of the nest and its schedule: equal texts are one kernel.
template <class S>
std::string print(const CpuNestOf<S>& nest);

}  // namespace thunder::loops
