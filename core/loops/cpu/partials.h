// Partial sums over the outer axes: each chunk of the outer range has its own. They are added pairwise, neighbours
// first, then pairs of pairs, so that the result has the same bits whatever threads compute the chunks. A thread adds
// the sums of neighbours itself if it has computed both.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "loops/cpu/division.h"
#include "program/launch.h"

namespace thunder::loops {

class PartialSums {
 public:
  PartialSums() = default;
  PartialSums(std::vector<ColumnSum> sums, int64_t chunks);
  int64_t chunks() const { return chunks_; }  // 0: nothing is summed over the outer axes
  size_t bytes() const { return static_cast<size_t>(chunks_) * chunk_bytes_; }
  // The sums, the bytes of scratch of a chunk, and the offset of a sum in these.
  std::span<const ColumnSum> sums() const { return sums_; }
  size_t chunk_bytes() const { return chunk_bytes_; }
  size_t offset(size_t sum) const { return offsets_[sum]; }

  // The state of a run.
  struct Sums {
    const Launch* launch;  // its scratch has bytes() bytes
    // For each chunk the number of chunks that its sums cover, less one; each entry is written by one thread.
    std::array<uint8_t, kChunks> covered = {};
  };
  // Zeroes a chunk's sums and sets the kernel's arguments to them.
  void zero_chunk(const Sums& sums, int64_t chunk, void** arguments) const;
  // Called when a chunk is done by the thread that also did those from `first` on: adds those of their sums that come
  // next in the fixed order.
  void combine_finished(Sums& sums, int64_t first, int64_t chunk) const;
  // Called when all chunks are done: adds the remaining sums, and converts the totals to the outputs.
  void combine_all(Sums& sums) const;

 private:
  const Buffer& output(const Sums& sums, const ColumnSum& p) const {
    return sums.launch->outputs[p.argument - sums.launch->n_inputs];
  }
  // Whether the first chunk's sums lie in the output, which is so if it has their type.
  bool in_output(const Sums& sums, const ColumnSum& p) const { return output(sums, p).dtype == p.dtype; }
  void* at(const Sums& sums, int64_t chunk, size_t i) const;
  // Adds the sums of the following chunks to a chunk's sums: as many as the chunk already covers.
  void add_next_chunks(Sums& sums, int64_t chunk) const;

  std::vector<ColumnSum> sums_;
  std::vector<size_t> offsets_;  // in a chunk's bytes
  int64_t chunks_ = 0;
  size_t chunk_bytes_ = 0;
};

}  // namespace thunder::loops
