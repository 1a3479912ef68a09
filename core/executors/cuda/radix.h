// A stable sort of numbers by their keys, digit by digit, on the device: of any length.
#pragma once

#include <array>

#include "executors/cuda/kernel.h"

namespace thunder::cuda_kernels {

// The functions kRadixSteps of a rule's text. It needs a type Key before it, and comes after the functions that make
// the keys. Digits have 8 bits: of the key, or, if `per_row` is not 0, of the row that the number lies in.
#define THUNDER_CUDA_RADIX                                                                                            \
  "__device__ inline u32 digit_of(Key key, u32 number, i64 shift, i64 per_row) {\n"                                   \
  "  return (u32)((per_row ? (Key)(number / (u32)per_row) : key) >> shift) & 255;\n"                                  \
  "}\n"                                                                                                               \
  "__device__ inline u32 sum_before(u32 mine, u32* shared, u32& all) {\n"                                             \
  "  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;\n"                                                   \
  "  u32 to_me = mine, before = 0;\n"                                                                                 \
  "  for (int n = 1; n < 32; n *= 2) {\n"                                                                             \
  "    const u32 left = from_lane(to_me, lane >= n ? lane - n : lane);\n"                                             \
  "    if (lane >= n) to_me += left;\n"                                                                               \
  "  }\n"                                                                                                             \
  "  if (lane == 31) shared[warp] = to_me;\n"                                                                         \
  "  __syncthreads();\n"                                                                                              \
  "  all = 0;\n"                                                                                                      \
  "  for (int w = 0; w < 8; w++) {\n"                                                                                 \
  "    if (w == warp) before = all;\n"                                                                                \
  "    all += shared[w];\n"                                                                                           \
  "  }\n"                                                                                                             \
  "  __syncthreads();\n"                                                                                              \
  "  return before + to_me - mine;\n"                                                                                 \
  "}\n"                                                                                                               \
  "extern \"C\" __global__ void count_digits(const Key* keys, const u32* numbers, u32* counts, i64 shift,\n"          \
  "                                         i64 per_row, i64 count, i64 tile, i64 tiles) {\n"                         \
  "  __shared__ u32 mine[256];\n"                                                                                     \
  "  for (i64 t = blockIdx.x; t < tiles; t += gridDim.x) {\n"                                                         \
  "    mine[threadIdx.x] = 0;\n"                                                                                      \
  "    __syncthreads();\n"                                                                                            \
  "    const i64 end = (t + 1) * tile < count ? (t + 1) * tile : count;\n"                                            \
  "    for (i64 i = t * tile + threadIdx.x; i < end; i += 256)\n"                                                     \
  "      atomicAdd(&mine[digit_of(keys[i], numbers ? numbers[i] : (u32)i, shift, per_row)], 1u);\n"                   \
  "    __syncthreads();\n"                                                                                            \
  "    counts[threadIdx.x * tiles + t] = mine[threadIdx.x];\n"                                                        \
  "    __syncthreads();\n"                                                                                            \
  "  }\n"                                                                                                             \
  "}\n"                                                                                                               \
  "extern \"C\" __global__ void sum_counts(u32* counts, u32* totals, i64 tiles) {\n"                                  \
  "  __shared__ u32 shared[8];\n"                                                                                     \
  "  for (i64 digit = blockIdx.x; digit < 256; digit += gridDim.x) {\n"                                               \
  "    u32 sum = 0, all;\n"                                                                                           \
  "    for (i64 first = 0; first < tiles; first += 256) {\n"                                                          \
  "      const i64 t = first + threadIdx.x;\n"                                                                        \
  "      const u32 mine = t < tiles ? counts[digit * tiles + t] : 0, before = sum_before(mine, shared, all);\n"       \
  "      if (t < tiles) counts[digit * tiles + t] = sum + before;\n"                                                  \
  "      sum += all;\n"                                                                                               \
  "    }\n"                                                                                                           \
  "    if (threadIdx.x == 0) totals[digit] = sum;\n"                                                                  \
  "  }\n"                                                                                                             \
  "}\n"                                                                                                               \
  "extern \"C\" __global__ void move_keys(\n"                                                                          \
  "    const Key* keys, const u32* numbers, Key* to_keys, u32* to_numbers, const u32* counts, const u32* totals,\n"    \
  "    i64 shift, i64 per_row, i64 count, i64 tile, i64 tiles) {\n"                                                    \
  "  const int items = sizeof(Key) == 8 ? 8 : 16, chunk = 256 * items;\n"                                              \
  "  __shared__ Key sorted_keys[256 * (sizeof(Key) == 8 ? 8 : 16)];\n"                                                 \
  "  __shared__ u32 sorted[256 * (sizeof(Key) == 8 ? 8 : 16)], of_warp[8][256], next[256], shift_of[256], shared[8];\n"\
  "  const int own = threadIdx.x, lane = own % 32, warp = own / 32;\n"                                                 \
  "  for (i64 t = blockIdx.x; t < tiles; t += gridDim.x) {\n"                                                          \
  "    u32 all;\n"                                                                                                     \
  "    next[own] = sum_before(totals[own], shared, all) + counts[own * tiles + t];\n"                                  \
  "    const i64 end = (t + 1) * tile < count ? (t + 1) * tile : count;\n"                                             \
  "    for (i64 first = t * tile; first < end; first += chunk) {\n"                                                    \
  "      Key key[items];\n"                                                                                            \
  "      u32 number[items], rank[items];\n"                                                                            \
  "      for (int w = 0; w < 8; w++) of_warp[w][own] = 0;\n"                                                           \
  "      __syncthreads();\n"                                                                                           \
  "#pragma unroll\n"                                                                                                   \
  "      for (int k = 0; k < items; k++) {\n"                                                                          \
  "        const i64 i = first + (warp * items + k) * 32 + lane;\n"                                                    \
  "        const bool is_there = i < end;\n"                                                                           \
  "        key[k] = is_there ? keys[i] : (Key)0;\n"                                                                    \
  "        number[k] = !is_there ? 0 : numbers ? numbers[i] : (u32)i;\n"                                               \
  "        const u32 digit = is_there ? digit_of(key[k], number[k], shift, per_row) : 256;\n"                          \
  "        const u32 same = __match_any_sync(~0u, digit), before = __popc(same & ((1u << lane) - 1));\n"               \
  "        rank[k] = is_there ? of_warp[warp][digit] + before : 0;\n"                                                  \
  "        __syncwarp();\n"                                                                                            \
  "        if (is_there && before == 0) of_warp[warp][digit] += __popc(same);\n"                                       \
  "        __syncwarp();\n"                                                                                            \
  "      }\n"                                                                                                          \
  "      __syncthreads();\n"                                                                                           \
  "      u32 of_digit = 0;\n"                                                                                          \
  "      for (int w = 0; w < 8; w++) {\n"                                                                              \
  "        const u32 n = of_warp[w][own];\n"                                                                           \
  "        of_warp[w][own] = of_digit, of_digit += n;\n"                                                               \
  "      }\n"                                                                                                          \
  "      const u32 begin = sum_before(of_digit, shared, all);\n"                                                       \
  "      for (int w = 0; w < 8; w++) of_warp[w][own] += begin;\n"                                                      \
  "      shift_of[own] = next[own] - begin, next[own] += of_digit;\n"                                                  \
  "      __syncthreads();\n"                                                                                           \
  "#pragma unroll\n"                                                                                                   \
  "      for (int k = 0; k < items; k++) {\n"                                                                          \
  "        if (first + (warp * items + k) * 32 + lane >= end) continue;\n"                                             \
  "        const u32 at = of_warp[warp][digit_of(key[k], number[k], shift, per_row)] + rank[k];\n"                     \
  "        sorted_keys[at] = key[k], sorted[at] = number[k];\n"                                                        \
  "      }\n"                                                                                                          \
  "      __syncthreads();\n"                                                                                           \
  "      for (u32 i = own; i < all; i += 256) {\n"                                                                     \
  "        const Key k = sorted_keys[i];\n"                                                                            \
  "        const u32 n = sorted[i], to = i + shift_of[digit_of(k, n, shift, per_row)];\n"                              \
  "        to_keys[to] = k, to_numbers[to] = n;\n"                                                                     \
  "      }\n"                                                                                                          \
  "      __syncthreads();\n"                                                                                           \
  "    }\n"                                                                                                            \
  "  }\n"                                                                                                              \
  "}\n"
constexpr std::array<const char*, 3> kRadixSteps = {"count_digits", "sum_counts", "move_keys"};

struct Digit {
  int64_t shift, per_row;
};
// Of numbers below `most`.
std::vector<Digit> digits_below(uint64_t most, int64_t per_row);

class RadixSort {
 public:
  static constexpr int64_t kMost = int64_t{1} << 31;  // keys
  static size_t scratch(int64_t count, size_t key_bytes);
  // `scratch`: of scratch() bytes.
  RadixSort(void* scratch, int64_t count, size_t key_bytes);

  // To be filled before run().
  void* keys() const { return keys_[0]; }
  // The numbers from 0 to count - 1 in the order of their keys, the least significant digit first. Requires: digits.
  // `first_step`: which of the kernel's steps is the first of kRadixSteps.
  Status* run(const CompiledNode& kernel, size_t first_step, std::span<const Digit> digits);
  const void* sorted_keys() const { return keys_[at_]; }
  const uint32_t* sorted() const { return numbers_[at_]; }

 private:
  int64_t count_, tile_, tiles_;
  std::array<void*, 2> keys_;
  std::array<uint32_t*, 2> numbers_;
  uint32_t *counts_, *totals_;
  size_t at_ = 0;
};

}  // namespace thunder::cuda_kernels
