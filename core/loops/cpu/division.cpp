#include "loops/cpu/division.h"

#include "loops/cpu/caches.h"

namespace thunder::loops {
namespace {

// Where columns are summed: several sums of each, and what they are of, fit into a first-level cache.
constexpr int64_t kSummedPiece = 1024;
// Of a blocked nest: runs of cache lines along both axes, which memory gives faster than single ones.
constexpr int64_t kBlock = 128, kShortBlock = 16, kBlockedPiece = 64;
// Of rows side by side, each in a lane.
constexpr int64_t kOuterPiece = 64;

int64_t piece_of(const CpuNest& nest, const Machine& machine) {
  if (nest.lane_is_outer()) return kOuterPiece;
  if (nest.blocked) return kBlockedPiece;
  if (nest.pieces_run_slowest()) return sums_whole_rows(nest, machine) ? nest.extents[nest.lane] : kSummedPiece;
  return kPiece;
}

// Rows that lie a multiple of half the conflict stride apart compete for two places of the first level: few of them are written at a
// time, unless they go past the caches.
int64_t block_of(const CpuNest& nest, const Machine& machine) {
  const auto stride = static_cast<int64_t>(machine.conflict_stride / 2);
  bool conflict = false, streams = false;
  for (const Output& s : nest.stores) {
    streams |= nest.streams(s);
    if (!nest.blocked || nest.maps[s.map][nest.lane] != 1) continue;
    conflict |= nest.maps[s.map][nest.block_axis()] * static_cast<int64_t>(size_of(nest.buffers[s.buffer])) % stride == 0;
  }
  return conflict && !streams ? kShortBlock : kBlock;
}

}  // namespace

Division divide(const CpuNest& nest, const Machine& machine) { return {piece_of(nest, machine), block_of(nest, machine)}; }

}  // namespace thunder::loops
