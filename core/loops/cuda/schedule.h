// How a nest runs on a CUDA device: printed into the text of its kernel. Nothing here depends on the device at hand, so
// that results are the same bits on each.
#pragma once

#include <vector>

#include "loops/nest.h"

namespace thunder::loops {

// Threads of a block, unless its rows are long; threads of a warp.
constexpr int kCudaThreads = 256, kWarp = 32;

struct CudaSchedule {
  // Where the nest reduces, what takes each position along the outer axes: a block of kCudaThreads threads, a warp, or
  // a thread. Or a block takes a tile of them, neighbours in memory: `lanes` threads stand side by side, each over a
  // pack of positions, and the groups of so many threads share out the rows among them (column).
  enum class Rows : uint8_t { block, warp, thread, column } rows = Rows::block;
  int lanes = kWarp;
  bool narrow = false;             // all positions and offsets fit in 32 bits
  int64_t parts = 1;               // rows are reduced in so many parts, which a second kernel joins in their order
  uint32_t joined = 0;             // its kernel computes up to so many nests of one text; 0: this one alone
  uint32_t pack = 1;               // neighbouring elements along pack_axis() that a thread takes at once
  int threads = kCudaThreads;      // of a block
  // Where the packs of `kept_loads` stay between the passes over a row. In registers: no thread takes more than `trips`
  // packs of a row. In dynamic shared memory: of shared_bytes() bytes.
  enum class Keep : uint8_t { nothing, registers, shared } keep = Keep::nothing;
  uint32_t trips = 0;
  std::vector<bool> kept_loads = {};     // by expression
  std::vector<bool> packed_loads = {};   // by expression: a load of neighbours as one; empty: none
  std::vector<bool> packed_stores = {};  // by output; empty: none
  std::vector<bool> on_host = {};  // by argument: a number of at most 16 bytes that is passed by value; empty: none

  bool split() const { return parts > 1; }
  // The number of threads that share a row. Requires: rows are not columns.
  int threads_of_row() const { return rows == Rows::block ? threads : rows == Rows::warp ? kWarp : 1; }
  int groups() const { return threads / lanes; }
  friend bool operator==(const CudaSchedule&, const CudaSchedule&) = default;
};

// Requires: order_loops() has ordered the nest.
CudaSchedule cuda_schedule(const Nest& nest, const std::vector<bool>& on_host);

// Whether a nest reduces at all; whether one pass over its rows is all that it needs, so that they may be reduced in
// parts.
bool has_reductions(const Nest& nest);
bool can_split_rows(const Nest& nest);
// The axis along which threads take packs: where the nest's accesses are contiguous.
uint32_t pack_axis(const Nest& nest, const CudaSchedule& schedule);
// The number of threads that have work, in the kernel and in the one that combines parts of rows.
int64_t count_threads(const Nest& nest, const CudaSchedule& schedule);
int64_t count_finish_threads(const Nest& nest);
// For the kernel that combines the parts: the number of neighbouring rows of a block.
int finish_lanes(const Nest& nest);
// How many results of reductions each part of a row has; each takes so many bytes of scratch.
size_t count_reductions(const Nest& nest);
// Dynamic shared memory of a block, which at most has kMostShared.
constexpr size_t kMostShared = 99 << 10;
size_t shared_bytes(const Nest& nest, const CudaSchedule& schedule);
constexpr size_t kPartialBytes = 16;

// Positions along these axes.
int64_t count_positions(const Nest& nest, uint32_t begin, uint32_t end);

}  // namespace thunder::loops
