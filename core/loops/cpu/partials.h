// Partial sums over the outer axes: each chunk of the outer range has its own, which are added pairwise, neighbours
// first, then pairs of pairs. So the result has the same bits whatever threads compute the chunks, and each thread adds
// what it has summed itself.
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
  // What is summed, how many bytes of scratch a chunk has, and where in these a sum's are.
  std::span<const ColumnSum> sums() const { return sums_; }
  size_t chunk_bytes() const { return chunk_bytes_; }
  size_t offset(size_t sum) const { return offsets_[sum]; }

  // The state of a run.
  struct Sums {
    const Launch* launch;  // its scratch has bytes() bytes
    // By chunk: how many chunks its sums cover, less one; each entry is written by one thread.
    std::array<uint8_t, kChunks> of = {};
  };
  // Zeroes a chunk's sums and puts them among the kernel's arguments.
  void begin(const Sums& sums, int64_t chunk, void** arguments) const;
  // A chunk is done by the thread that also did those from `first` on: adds them up as far as the order allows.
  void end(Sums& sums, int64_t first, int64_t chunk) const;
  // All chunks are done: moves the totals to the outputs.
  void finish(Sums& sums) const;

 private:
  const Buffer& output(const Sums& sums, const ColumnSum& p) const {
    return sums.launch->outputs[p.argument - sums.launch->n_inputs];
  }
  // Whether the first chunk's sums lie in the output, which is so if it has their type.
  bool in_output(const Sums& sums, const ColumnSum& p) const { return output(sums, p).dtype == p.dtype; }
  void* at(const Sums& sums, int64_t chunk, size_t i) const;
  // Adds to a chunk's sums those of the chunks behind it, as many as it already covers.
  void add_next(Sums& sums, int64_t chunk) const;

  std::vector<ColumnSum> sums_;
  std::vector<size_t> offsets_;  // in a chunk's bytes
  int64_t chunks_ = 0;
  size_t chunk_bytes_ = 0;
};

}  // namespace thunder::loops
