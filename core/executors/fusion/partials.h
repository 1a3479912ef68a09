// Sums over the outer axes: each chunk of the outer range has sums of its own, which are added two at a time, neighbours first, then
// pairs of pairs. So the bits are the same whatever threads do the chunks, and each thread adds what it has summed itself.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "executors/fusion/lower.h"
#include "program/launch.h"

namespace thunder::fusion {

// Enough chunks for many threads, few enough that adding them up costs little. Never the number of threads.
constexpr int64_t kFewChunks = 4, kChunks = 32;

class PartialSums {
 public:
  PartialSums() = default;
  // Of a nest that walks so many elements, in so many work items.
  PartialSums(std::vector<Partial> sums, int64_t elements, int64_t items);
  int64_t chunks() const { return chunks_; }  // 0: nothing is summed over the outer axes
  size_t bytes() const { return static_cast<size_t>(chunks_) * chunk_bytes_; }

  // What a run has summed so far.
  struct Sums {
    std::byte* memory;                    // bytes() of them
    std::array<uint8_t, kChunks> of = {}; // by chunk: how many chunks its sums are of, less one; each is written by one thread
  };
  // Makes the sums of a chunk 0, and lets the kernel's arguments be these.
  void begin(const Sums& sums, int64_t chunk, void** arguments) const;
  // A chunk is done by the thread that did those from `first` on: adds them up as far as the order has it.
  void end(Sums& sums, int64_t first, int64_t chunk) const;
  // All are done: the outputs are their sums.
  void finish(Sums& sums, const Launch& launch) const;

 private:
  std::byte* at(const Sums& sums, int64_t chunk) const { return sums.memory + static_cast<size_t>(chunk) * chunk_bytes_; }
  // To a chunk's sums those of as many chunks as it has, which follow it.
  void add_next(Sums& sums, int64_t chunk) const;

  std::vector<Partial> sums_;
  std::vector<size_t> offsets_;  // in a chunk's bytes
  int64_t chunks_ = 0;
  size_t chunk_bytes_ = 0;
};

}  // namespace thunder::fusion
