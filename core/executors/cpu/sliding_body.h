// Sums of products of a line that slides along another, as templates over an instruction set. Isa: as for Vectors.
#pragma once

#include "executors/cpu/vectors.h"

namespace thunder {

template <class Isa>
class Sliding : Vectors<Isa> {
  using typename Vectors<Isa>::V;
  using Vectors<Isa>::kLanes, Vectors<Isa>::load, Vectors<Isa>::store, Vectors<Isa>::ceil_div;
  static constexpr int64_t kSums = 8;  // in registers

 public:
  // ProductKernels::slide
  static void slide(const float* a, int64_t depth, const float* b, const int32_t* offsets, int64_t count, float* to) {
    for (int64_t i = 0; i < count; i += kSums * kLanes)
      vectors<kSums>(ceil_div(count - i, kLanes), a, depth, b + i, offsets, to + i);
  }

  // ProductKernels::slide_sums
  static void slide_sums(const float* a, int64_t count, const float* b, const int32_t* offsets, int64_t depth,
                         float* to) {
    for (int64_t left = depth, parts = ceil_div(depth, kSums); left > 0; parts--) {
      const int64_t each = ceil_div(left, parts);
      sums<kSums>(each, a, count, b, offsets, to);
      offsets += each, to += each, left -= each;
    }
  }

 private:
  // One instantiation for each number of vectors, of which `most` at most are computed.
  template <int64_t kVectors>
  static void vectors(int64_t most, const float* a, int64_t depth, const float* b, const int32_t* offsets, float* to) {
    if constexpr (kVectors > 1)
      if (most < kVectors) return vectors<kVectors - 1>(most, a, depth, b, offsets, to);
    V sum[kVectors] = {};
    for (int64_t l = 0; l < depth; l++) {
      const float* from = b + offsets[l];
#pragma GCC unroll 8
      for (int64_t i = 0; i < kVectors; i++) sum[i] += a[l] * load(from + i * kLanes);
    }
#pragma GCC unroll 8
    for (int64_t i = 0; i < kVectors; i++) store(to + i * kLanes, sum[i]);
  }

  // One instantiation for each number of offsets.
  template <int64_t kOffsets>
  static void sums(int64_t depth, const float* a, int64_t count, const float* b, const int32_t* offsets, float* to) {
    if constexpr (kOffsets > 1)
      if (depth < kOffsets) return sums<kOffsets - 1>(depth, a, count, b, offsets, to);
    V sum[kOffsets] = {};
    for (int64_t i = 0; i < count; i += kLanes) {
      const V left = load(a + i);
#pragma GCC unroll 8
      for (int64_t l = 0; l < kOffsets; l++) sum[l] += left * load(b + offsets[l] + i);
    }
#pragma GCC unroll 8
    for (int64_t l = 0; l < kOffsets; l++) to[l] += Vectors<Isa>::sum(sum[l]);
  }
};

}  // namespace thunder
