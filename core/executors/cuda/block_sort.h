// Lines that fit into a block's shared memory, each sorted there by one block.
#pragma once

#include "executors/cuda/sorted_lines.h"

namespace thunder::cuda_kernels {

// The functions kBlockSortSteps of a rule's text, after THUNDER_CUDA_LINES and THUNDER_CUDA_RADIX. An element is a
// word: its key, of 16 bits where it has no more itself, above its place. Each thread holds some, those of a warp one
// after the other; each digit of 8 bits moves all of them by way of shared memory. Words behind the line's end are the
// largest.
inline constexpr char kBlockSort[] = R"(
template <bool narrow> struct WordOf { typedef u64 Type; };
template <> struct WordOf<true> { typedef u32 Type; };
const bool kNarrow = sizeof(T) <= 2;
const int kPlaceBits = kNarrow ? 16 : 32;
typedef WordOf<kNarrow>::Type Word;
__device__ inline u32 short_key(float v, T raw) {
  unsigned short bits;
  memcpy(&bits, &raw, sizeof(bits));
  return v != v ? 0xffff : v == 0 ? 0x8000 : bits >> 15 ? (u32)(unsigned short)~bits : bits | 0x8000u;
}
template <class V> __device__ inline u32 short_key(V v, T) { return ((u32)v ^ 0x8000u) & 0xffff; }
__device__ inline Word word_of(T raw, i64 place, bool turns) {
  const u32 key = kNarrow ? short_key(get(raw), raw) : (u32)ordered(get(raw));
  const Word mask = kNarrow ? 0xffff : 0xffffffff;
  return ((turns ? ~(Word)key & mask : (Word)key) << kPlaceBits) | (Word)place;
}
template <int items> __device__ inline void sort_lines_of(
    T* values, i64* indices, const T* in, i64 rows, i64 size, i64 inner, i64 descending) {
  __shared__ Word sorted[256 * items];
  __shared__ u32 of_warp[8][256], shared[8];
  const int own = threadIdx.x, lane = own % 32, warp = own / 32, mine = warp * items * 32 + lane;
  for (i64 row = blockIdx.x; row < rows; row += gridDim.x) {
    const i64 outer = row / inner, begin = outer * size * inner + (row - outer * inner);
    Word word[items];
    u32 rank[items];
#pragma unroll
    for (int k = 0; k < items; k++)
      word[k] = mine + k * 32 < size ? word_of(in[begin + (mine + k * 32) * inner], mine + k * 32, descending)
                                     : (Word)~(Word)0;
    for (int shift = kPlaceBits; shift < 2 * kPlaceBits; shift += 8) {
      for (int w = 0; w < 8; w++) of_warp[w][own] = 0;
      __syncthreads();
#pragma unroll
      for (int k = 0; k < items; k++) {
        const u32 digit = (u32)(word[k] >> shift) & 255;
        const u32 same = with_digit(digit), before = __popc(same & ((1u << lane) - 1));
        u32 earlier = 0;
        if (before == 0) earlier = atomicAdd(&of_warp[warp][digit], (u32)__popc(same));
        rank[k] = from_lane(earlier, __ffs((int)same) - 1) + before;
      }
      __syncthreads();
      u32 of_digit = 0, all;
      for (int w = 0; w < 8; w++) {
        const u32 n = of_warp[w][own];
        of_warp[w][own] = of_digit, of_digit += n;
      }
      const u32 lesser = sum_before(of_digit, shared, all);
      for (int w = 0; w < 8; w++) of_warp[w][own] += lesser;
      __syncthreads();
#pragma unroll
      for (int k = 0; k < items; k++) sorted[of_warp[warp][(u32)(word[k] >> shift) & 255] + rank[k]] = word[k];
      __syncthreads();
#pragma unroll
      for (int k = 0; k < items; k++) word[k] = sorted[mine + k * 32];
    }
    for (i64 i = own; i < size; i += 256) {
      const i64 place = (i64)(sorted[i] & (kNarrow ? 0xffff : 0xffffffff));
      values[begin + i * inner] = in[begin + place * inner], indices[begin + i * inner] = place;
    }
    __syncthreads();
  }
}
extern "C" __global__ __launch_bounds__(256, 3) void sort_short_lines(
    T* values, i64* indices, const T* in, i64 rows, i64 size, i64 inner, i64 descending) {
  sort_lines_of<kNarrow ? 16 : 8>(values, indices, in, rows, size, inner, descending);
}
extern "C" __global__ __launch_bounds__(256, 2) void sort_long_lines(
    T* values, i64* indices, const T* in, i64 rows, i64 size, i64 inner, i64 descending) {
  sort_lines_of<kNarrow ? 32 : 16>(values, indices, in, rows, size, inner, descending);
}
)";
inline constexpr std::array<const char*, 2> kBlockSortSteps = {"sort_short_lines", "sort_long_lines"};

bool fits_into_block(DType dtype, int64_t size);
// The elements of each line of the launch's first input in order, and their places. Requires: the lines fit.
// `first_step`: which of the kernel's steps is the first of kBlockSortSteps.
Status* sort_in_blocks(const CompiledNode& kernel, const Launch& launch, DimSizes lines, int64_t descending,
                       size_t first_step);

}  // namespace thunder::cuda_kernels
