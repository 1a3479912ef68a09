// A stable sort of numbers by their keys, digit by digit, on the device: of any length.
#pragma once

#include <array>

#include "executors/cuda/kernel_rules.h"

namespace thunder::cuda_kernels {

// The functions kRadixSteps of a rule's text. It needs a type Key before it, and comes after the functions that make
// the keys. Digits have 8 bits: of the key, or, if `per_row` is not 0, of the row that the number lies in.
//
// One read of the keys counts every digit; then each digit is one pass (Adinets, Merrill: Onesweep, arXiv 2206.01784).
// Tiles are taken in their order: each says how many of a digit it has, then how many there are up to its end, which
// the upper bits of `state` tell apart, and adds up what the tiles before it said. A pass clears the state of the next.
// What a last tile lacks counts as keys of the last digit, behind all others.
#define THUNDER_CUDA_RADIX                                                                                           \
  "__device__ inline u32 digit_of(Key key, u32 number, i64 shift, i64 per_row) {\n"                                  \
  "  return (u32)((per_row ? (Key)(number / (u32)per_row) : key) >> shift) & 255;\n"                                 \
  "}\n"                                                                                                              \
  "__device__ inline u32 sum_before(u32 mine, u32* shared, u32& all) {\n"                                            \
  "  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;\n"                                                  \
  "  u32 to_me = mine, before = 0;\n"                                                                                \
  "  for (int n = 1; n < 32; n *= 2) {\n"                                                                            \
  "    const u32 left = from_lane(to_me, lane >= n ? lane - n : lane);\n"                                            \
  "    if (lane >= n) to_me += left;\n"                                                                              \
  "  }\n"                                                                                                            \
  "  if (lane == 31) shared[warp] = to_me;\n"                                                                        \
  "  __syncthreads();\n"                                                                                             \
  "  all = 0;\n"                                                                                                     \
  "  for (int w = 0; w < 8; w++) {\n"                                                                                \
  "    if (w == warp) before = all;\n"                                                                               \
  "    all += shared[w];\n"                                                                                          \
  "  }\n"                                                                                                            \
  "  __syncthreads();\n"                                                                                             \
  "  return before + to_me - mine;\n"                                                                                \
  "}\n"                                                                                                              \
  "__device__ inline u32 with_digit(u32 digit) {\n"                                                                  \
  "  u32 same = ~0u;\n"                                                                                              \
  "#pragma unroll\n"                                                                                                 \
  "  for (int bit = 0; bit < 8; bit++) {\n"                                                                          \
  "    const bool own = digit >> bit & 1;\n"                                                                         \
  "    const u32 others = __ballot_sync(~0u, own);\n"                                                                \
  "    same &= own ? others : ~others;\n"                                                                            \
  "  }\n"                                                                                                            \
  "  return same;\n"                                                                                                 \
  "}\n"                                                                                                              \
  "struct Digits { i64 n, shift[12], per_row[12]; };\n"                                                              \
  "extern \"C\" __global__ void count_digits(const Key* keys, u32* totals, const Digits d, i64 count) {\n"           \
  "  __shared__ u32 mine[12][256];\n"                                                                                \
  "  const int own = threadIdx.x;\n"                                                                                 \
  "  for (int k = 0; k < d.n; k++) mine[k][own] = 0;\n"                                                              \
  "  __syncthreads();\n"                                                                                             \
  "  for (i64 first = blockIdx.x * (i64)1024; first < count; first += gridDim.x * (i64)1024) {\n"                    \
  "    Key key[4];\n"                                                                                                \
  "#pragma unroll\n"                                                                                                 \
  "    for (int n = 0; n < 4; n++) key[n] = first + n * 256 + own < count ? keys[first + n * 256 + own] : (Key)0;\n" \
  "    for (int k = 0; k < d.n; k++) {\n"                                                                            \
  "      const i64 shift = d.shift[k], per_row = d.per_row[k];\n"                                                    \
  "#pragma unroll\n"                                                                                                 \
  "      for (int n = 0; n < 4; n++) {\n"                                                                            \
  "        const i64 i = first + n * 256 + own;\n"                                                                   \
  "        const u32 digit = i < count ? digit_of(key[n], (u32)i, shift, per_row) : 256;\n"                          \
  "        const bool all_equal = __ballot_sync(~0u, digit == from_lane(digit, 0)) == ~0u;\n"                        \
  "        if (digit < 256 && (!all_equal || own % 32 == 0)) atomicAdd(&mine[k][digit], all_equal ? 32u : 1u);\n"    \
  "      }\n"                                                                                                        \
  "    }\n"                                                                                                          \
  "  }\n"                                                                                                            \
  "  __syncthreads();\n"                                                                                             \
  "  for (int k = 0; k < d.n; k++)\n"                                                                                \
  "    if (mine[k][own]) atomicAdd(totals + k * 256 + own, mine[k][own]);\n"                                         \
  "}\n"                                                                                                              \
  "__device__ inline u32 digits_before(u32* state, u32 tile, u32 mine) {\n"                                          \
  "  volatile u32* const own = state + tile * 256 + threadIdx.x;\n"                                                  \
  "  *own = mine | (tile ? 1u : 2u) << 30;\n"                                                                        \
  "  if (!tile) return 0;\n"                                                                                         \
  "  u32 before = 0;\n"                                                                                              \
  "  for (volatile u32* other = own - 256;;) {\n"                                                                    \
  "    const u32 said = *other;\n"                                                                                   \
  "    if (said >> 30 == 0) continue;\n"                                                                             \
  "    before += said & ((1u << 30) - 1);\n"                                                                         \
  "    if (said >> 31) break;\n"                                                                                     \
  "    other -= 256;\n"                                                                                              \
  "  }\n"                                                                                                            \
  "  *own = before + mine | 2u << 30;\n"                                                                             \
  "  return before;\n"                                                                                               \
  "}\n"                                                                                                              \
  "extern \"C\" __global__ __launch_bounds__(256, 3) void move_keys(\n"                                              \
  "    const Key* keys, const u32* numbers, Key* to_keys, u32* to_numbers, const u32* totals, u32* state,\n"         \
  "    u32* next_state, u32* next_tile, i64 shift, i64 per_row, i64 count, i64 tiles) {\n"                           \
  "  const int items = sizeof(Key) == 8 ? 16 : 24, tile = 256 * items;\n"                                            \
  "  __shared__ Key sorted[256 * (sizeof(Key) == 8 ? 16 : 24)];\n"                                                   \
  "  __shared__ unsigned char digits[256 * (sizeof(Key) == 8 ? 16 : 24)];\n"                                         \
  "  __shared__ u32 of_warp[8][256], shift_of[256], shared[8], claimed;\n"                                           \
  "  const int own = threadIdx.x, lane = own % 32, warp = own / 32, mine = warp * items * 32 + lane;\n"              \
  "  u32 all;\n"                                                                                                     \
  "  const u32 lesser = sum_before(totals[own], shared, all);\n"                                                     \
  "  for (;;) {\n"                                                                                                   \
  "    if (own == 0) claimed = atomicAdd(next_tile, 1u);\n"                                                          \
  "    for (int w = 0; w < 8; w++) of_warp[w][own] = 0;\n"                                                           \
  "    __syncthreads();\n"                                                                                           \
  "    if (claimed >= tiles) return;\n"                                                                              \
  "    const u32 t = claimed, first = t * tile;\n"                                                                   \
  "    const int left = count - first < tile ? (int)(count - first) : tile;\n"                                       \
  "    const Key* const from = keys + first;\n"                                                                      \
  "    const u32* const numbers_from = numbers + (numbers ? first : 0);\n"                                           \
  "    Key key[items];\n"                                                                                            \
  "    u32 rank[items];\n"                                                                                           \
  "#pragma unroll\n"                                                                                                 \
  "    for (int k = 0; k < items; k++) key[k] = mine + k * 32 < left ? from[mine + k * 32] : (Key)0;\n"              \
  "#pragma unroll\n"                                                                                                 \
  "    for (int k = 0; k < items; k++) {\n"                                                                          \
  "      const int i = mine + k * 32;\n"                                                                             \
  "      const bool is_there = i < left;\n"                                                                          \
  "      const u32 number = !per_row || !is_there ? 0 : numbers ? numbers_from[i] : first + i;\n"                    \
  "      const u32 digit = is_there ? digit_of(key[k], number, shift, per_row) : 255;\n"                             \
  "      const u32 same = with_digit(digit), before = __popc(same & ((1u << lane) - 1));\n"                          \
  "      u32 earlier = 0;\n"                                                                                         \
  "      if (before == 0) earlier = atomicAdd(&of_warp[warp][digit], (u32)__popc(same));\n"                          \
  "      rank[k] = from_lane(earlier, __ffs((int)same) - 1) + before | digit << 16;\n"                               \
  "    }\n"                                                                                                          \
  "    __syncthreads();\n"                                                                                           \
  "    u32 of_digit = 0;\n"                                                                                          \
  "    for (int w = 0; w < 8; w++) {\n"                                                                              \
  "      const u32 n = of_warp[w][own];\n"                                                                           \
  "      of_warp[w][own] = of_digit, of_digit += n;\n"                                                               \
  "    }\n"                                                                                                          \
  "    if (own == 255) of_digit -= tile - left;\n"                                                                   \
  "    next_state[t * 256 + own] = 0;\n"                                                                             \
  "    const u32 earlier = digits_before(state, t, of_digit), begin = sum_before(of_digit, shared, all);\n"          \
  "    for (int w = 0; w < 8; w++) of_warp[w][own] += begin;\n"                                                      \
  "    shift_of[own] = lesser + earlier - begin;\n"                                                                  \
  "    __syncthreads();\n"                                                                                           \
  "#pragma unroll\n"                                                                                                 \
  "    for (int k = 0; k < items; k++) {\n"                                                                          \
  "      const u32 digit = rank[k] >> 16;\n"                                                                         \
  "      rank[k] = of_warp[warp][digit] + (rank[k] & 65535);\n"                                                      \
  "      sorted[rank[k]] = key[k], digits[rank[k]] = (unsigned char)digit;\n"                                        \
  "    }\n"                                                                                                          \
  "    __syncthreads();\n"                                                                                           \
  "    for (int i = own; i < left; i += 256) to_keys[i + shift_of[digits[i]]] = sorted[i];\n"                        \
  "    __syncthreads();\n"                                                                                           \
  "    u32* const sorted_numbers = (u32*)sorted;\n"                                                                  \
  "#pragma unroll\n"                                                                                                 \
  "    for (int k = 0; k < items; k++) {\n"                                                                          \
  "      const int i = mine + k * 32;\n"                                                                             \
  "      if (i < left) sorted_numbers[rank[k]] = numbers ? numbers_from[i] : first + i;\n"                           \
  "    }\n"                                                                                                          \
  "    __syncthreads();\n"                                                                                           \
  "    for (int i = own; i < left; i += 256) to_numbers[i + shift_of[digits[i]]] = sorted_numbers[i];\n"             \
  "    __syncthreads();\n"                                                                                           \
  "  }\n"                                                                                                            \
  "}\n"
constexpr std::array<const char*, 2> kRadixSteps = {"count_digits", "move_keys"};

struct Digit {
  int64_t shift, per_row;
};
// The digits of numbers below `most`.
std::vector<Digit> digits_of_numbers_below(uint64_t most, int64_t per_row);

class RadixSort {
 public:
  static constexpr int64_t kMost = int64_t{1} << 30;  // keys
  static size_t scratch(int64_t count, size_t key_bytes);
  // `scratch`: of scratch() bytes.
  RadixSort(void* scratch, int64_t count, size_t key_bytes);

  // The caller fills these before run().
  void* keys() const { return keys_[0]; }
  // May be filled, too: of 32 bits, for each key.
  void* values() const { return numbers_[0]; }
  // The numbers from 0 to count - 1, or the values, in the order of their keys, the least significant digit first.
  // Requires: digits, and that values have none by row. `first_step`: which of the kernel's steps is the first of
  // kRadixSteps.
  Status* run(const CompiledNode& kernel, size_t first_step, std::span<const Digit> digits, bool by_value = false);
  const void* sorted_keys() const { return keys_[at_]; }
  const uint32_t* sorted() const { return numbers_[at_]; }

 private:
  const int64_t count_, tiles_;
  std::array<void*, 2> keys_;
  std::array<uint32_t*, 2> numbers_, state_;
  uint32_t *totals_, *next_tiles_;
  size_t at_ = 0;
};

}  // namespace thunder::cuda_kernels
