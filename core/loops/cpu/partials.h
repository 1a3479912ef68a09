// Sums over the outer axes: each chunk of the outer range has sums of its own, which are added two at a time, neighbours first, then
// pairs of pairs. So the bits are the same whatever threads do the chunks, and each thread adds what it has summed itself.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
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

  // What a run has summed so far.
  struct Sums {
    const Launch* launch;                  // its scratch is bytes() long
    std::array<uint8_t, kChunks> of = {};  // by chunk: how many chunks its sums are of, less one; each is written by one thread
  };
  // Lets the kernel's arguments be a chunk's sums, which are 0.
  void begin(const Sums& sums, int64_t chunk, void** arguments) const;
  // A chunk is done by the thread that did those from `first` on: adds them up as far as the order has it.
  void end(Sums& sums, int64_t first, int64_t chunk) const;
  // All are done: the outputs are their sums.
  void finish(Sums& sums) const;

 private:
  const Buffer& output(const Sums& sums, const ColumnSum& p) const { return sums.launch->outputs[p.argument - sums.launch->n_inputs]; }
  // Those of the first chunk lie in the output, if it is of their type.
  bool in_output(const Sums& sums, const ColumnSum& p) const { return output(sums, p).dtype == p.dtype; }
  void* at(const Sums& sums, int64_t chunk, size_t i) const;
  // To a chunk's sums those of as many chunks as it has, which follow it.
  void add_next(Sums& sums, int64_t chunk) const;

  std::vector<ColumnSum> sums_;
  std::vector<size_t> offsets_;  // in a chunk's bytes
  int64_t chunks_ = 0;
  size_t chunk_bytes_ = 0;
};

}  // namespace thunder::loops
