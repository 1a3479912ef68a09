#include "loops/cpu/division.h"

#include <algorithm>

#include "loops/cpu/caches.h"

namespace thunder::loops {
namespace {

// With column sums, the accumulators of a strip and its operands fit into the L1 cache.
constexpr int64_t kSummedStrip = 1024;
// In a blocked nest, runs of cache lines along both axes, which memory delivers faster than single lines.
constexpr int64_t kBlock = 128, kShortBlock = 16, kBlockedStrip = 64;
// The number of adjacent rows, each in a lane.
constexpr int64_t kOuterStrip = 64;
// The least number of elements that are worth waking a thread.
constexpr int64_t kGrain = 16384;

int64_t choose_strip(const CpuNest& nest, const Machine& machine) {
  if (nest.lane_is_outer()) return kOuterStrip;
  if (nest.blocked) return kBlockedStrip;
  if (nest.strips_are_outermost()) return sums_whole_rows(nest, machine) ? nest.extents[nest.lane] : kSummedStrip;
  return kStrip;
}

// Rows whose distance is a multiple of half the conflict stride map to two sets of the L1 cache: few of them are
// written at a time, unless stores are non-temporal.
int64_t choose_block(const CpuNest& nest, const Machine& machine) {
  const auto stride = static_cast<int64_t>(machine.conflict_stride / 2);
  bool conflict = false, nontemporal = false;
  for (const Output& s : nest.stores) {
    nontemporal |= nest.is_nontemporal(s);
    if (!nest.blocked || nest.maps[s.map][nest.lane] != 1) continue;
    conflict |=
        nest.maps[s.map][nest.block_axis()] * static_cast<int64_t>(size_of(nest.buffers[s.buffer])) % stride == 0;
  }
  return conflict && !nontemporal ? kShortBlock : kBlock;
}

}  // namespace

Division divide_work(const CpuNest& nest, const std::vector<ColumnSum>& sums, const Machine& machine) {
  Division d;
  d.strip = choose_strip(nest, machine), d.block = choose_block(nest, machine);
  d.items = work_items(nest, d.strip, d.block);
  int64_t elements = 1;
  for (uint32_t a = 0; a < nest.outer + nest.inner; a++) elements *= nest.extents[a];
  d.grain = std::max<int64_t>(1, kGrain * d.items / std::max<int64_t>(1, elements));
  d.chunks = choose_chunk_count(sums, elements, d.items);
  return d;
}

// Enough chunks for many threads, few enough that adding them up costs little; never the number of threads. Rows are
// pipelined within a chunk only, so each chunk should have many rows.
int64_t choose_chunk_count(const std::vector<ColumnSum>& sums, int64_t elements, int64_t items) {
  constexpr int64_t kFewChunks = 4, kSummed = 64;
  if (sums.empty()) return 0;
  int64_t all = 0;
  for (const ColumnSum& s : sums) all += s.elements;
  return std::min(items, std::clamp(elements / (kSummed * std::max<int64_t>(1, all)), kFewChunks, kChunks));
}

}  // namespace thunder::loops
