// Scans over the threads of a block: each thread gets the values of the threads before it combined with its own.
#pragma once

#include <algorithm>

#include "executors/cuda/kernel_rules.h"

namespace thunder::cuda_kernels {

// `shared` has a place for each warp. `carry` is what was before the block, `combine` an associative function.
#define THUNDER_CUDA_SCAN                                                                                             \
  "// What is before this warp, at first `carry`; `v` becomes what is so far in it, `all` in the block.\n"            \
  "template <class S, class F> __device__ inline S before_scan(S& v, S carry, S* shared, S& all, F combine) {\n"      \
  "  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;\n"                                                   \
  "  for (int n = 1; n < 32; n *= 2) {\n"                                                                             \
  "    const S before = from_lane(v, lane >= n ? lane - n : lane);\n"                                                 \
  "    if (lane >= n) v = combine(before, v);\n"                                                                      \
  "  }\n"                                                                                                             \
  "  if (lane == 31) shared[warp] = v;\n"                                                                             \
  "  __syncthreads();\n"                                                                                              \
  "  S before = carry;\n"                                                                                             \
  "  all = carry;\n"                                                                                                  \
  "  for (int w = 0; w < (int)blockDim.x / 32; w++) {\n"                                                              \
  "    if (w == warp) before = all;\n"                                                                                \
  "    all = combine(all, shared[w]);\n"                                                                              \
  "  }\n"                                                                                                             \
  "  __syncthreads();\n"                                                                                              \
  "  return before;\n"                                                                                                \
  "}\n"                                                                                                               \
  "template <class S, class F> __device__ inline S scan(S v, S carry, S* shared, S& all, F combine) {\n"              \
  "  const S before = before_scan(v, carry, shared, all, combine);\n"                                                 \
  "  return combine(before, v);\n"                                                                                    \
  "}\n"

// The number of parts of a row, each of which a block works on: as many as keep the device busy.
inline int64_t count_row_parts(int64_t rows, int64_t size) {
  constexpr int64_t kBlocks = 1024, kLeast = 4096;
  return std::clamp<int64_t>(kBlocks / std::max<int64_t>(1, rows), 1, std::max<int64_t>(1, size / kLeast));
}

// The size of a part, whose threads take eight elements at a time.
inline int64_t part_size(int64_t size, int64_t parts) {
  constexpr int64_t kTile = 256 * 8;
  return ((size + parts - 1) / parts + kTile - 1) / kTile * kTile;
}

}  // namespace thunder::cuda_kernels
