// The first few elements of each line in order, without sorting it: by digits of their keys, then of their places.
#pragma once

#include "executors/cuda/sorted_lines.h"

namespace thunder::cuda_kernels {

// The functions kSelectionSteps of a rule's text, after THUNDER_CUDA_LINES and THUNDER_CUDA_RADIX. A line is read by
// blocks of 16384 elements, of which the last to be done goes on for all. Each pass counts a digit of those that are
// equal so far, until as many are left as are wanted; these are then put in order by comparing each with each.
inline constexpr char kSelection[] = R"(
struct Selected {
  u64 key, key_bits;                                     // bits of the last key that is taken, and which are known
  u32 number, number_bits, left, is_found, blocks, taken;  // of its place; among those that are equal so far
};
struct Narrowing { u64 key_bits, number_bits; i64 shift, by_number; };
__device__ inline bool is_last_block(u32* done, i64 blocks) {
  __shared__ u32 before;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) before = atomicAdd(done, 1u);
  __syncthreads();
  const bool last = before == blocks - 1;
  __syncthreads();
  __threadfence();
  return last;
}
extern "C" __global__ void select_digit(Selected* of_rows, u32* counts, const T* in, i64 rows, i64 size, i64 inner,
                                        i64 blocks, i64 descending, i64 wanted, const Narrowing n) {
  __shared__ u32 mine[256 * 4], shared[8];
  const int own = threadIdx.x;
  for (i64 task = blockIdx.x; task < rows * blocks; task += gridDim.x) {
    const i64 row = task / blocks, outer = row / inner, first = (task - row * blocks) * 16384;
    const i64 end = first + 16384 < size ? first + 16384 : size;
    const Line line = {in + outer * size * inner + (row - outer * inner), inner, descending ? (Key)~(Key)0 : (Key)0};
    Selected& found = of_rows[row];
    if (found.is_found) continue;
#pragma unroll
    for (int k = 0; k < 4; k++) mine[own + 256 * k] = 0;
    __syncthreads();
    const Key prefix = (Key)found.key, bits = (Key)n.key_bits;
    const u32 number = found.number, number_bits = (u32)n.number_bits;
    for (i64 at = first + own; at < end; at += 1024) {
      Key key[4];
#pragma unroll
      for (int k = 0; k < 4; k++) key[k] = at + 256 * k < end ? line.key(at + 256 * k) : (Key)0;
#pragma unroll
      for (int k = 0; k < 4; k++) {
        const i64 i = at + 256 * k;
        const u32 digit = (u32)((n.by_number ? (Key)i : key[k]) >> n.shift) & 255;
        if (i < end && ((key[k] ^ prefix) & bits) == 0 && (((u32)i ^ number) & number_bits) == 0)
          atomicAdd(&mine[digit * 4 + (own & 3)], 1u);
      }
    }
    __syncthreads();
    const u32 of_block = mine[own * 4] + mine[own * 4 + 1] + mine[own * 4 + 2] + mine[own * 4 + 3];
    if (of_block) atomicAdd(counts + row * 256 + own, of_block);
    if (!is_last_block(&found.blocks, blocks)) continue;
    u32 all;
    const u32 of_digit = atomicExch(counts + row * 256 + own, 0u), before = sum_before(of_digit, shared, all);
    const u32 left = found.left ? found.left : (u32)wanted;
    __syncthreads();
    if (before < left && left <= before + of_digit) {
      const u64 digit = (u64)own << n.shift, digit_bits = (u64)255 << n.shift;
      if (n.by_number) found.number |= (u32)digit;
      else found.key |= digit;
      found.key_bits = n.key_bits | (n.by_number ? 0 : digit_bits);
      found.number_bits = number_bits | (n.by_number ? (u32)digit_bits : 0u);
      found.left = left - before, found.is_found = left - before == of_digit, found.blocks = 0;
    }
    __syncthreads();
  }
}
extern "C" __global__ void take_selected(T* values, i64* indices, Selected* of_rows, Key* keys, u32* numbers,
                                         const T* in, i64 rows, i64 size, i64 inner, i64 blocks, i64 descending,
                                         i64 wanted) {
  __shared__ Key key_of[1024];
  __shared__ u32 number_of[1024];
  const int own = threadIdx.x;
  for (i64 task = blockIdx.x; task < rows * blocks; task += gridDim.x) {
    const i64 row = task / blocks, outer = row / inner, column = row - outer * inner;
    const i64 first = (task - row * blocks) * 16384, end = first + 16384 < size ? first + 16384 : size;
    const Line line = {in + outer * size * inner + column, inner, descending ? (Key)~(Key)0 : (Key)0};
    Selected& found = of_rows[row];
    const Key limit = (Key)found.key, bits = (Key)found.key_bits;
    const u32 last = found.number, number_bits = found.number_bits;
    for (i64 at = first + own; at < end; at += 1024) {
      Key key[4];
#pragma unroll
      for (int k = 0; k < 4; k++) key[k] = at + 256 * k < end ? line.key(at + 256 * k) : (Key)0;
#pragma unroll
      for (int k = 0; k < 4; k++) {
        const i64 i = at + 256 * k;
        const Key known = key[k] & bits;
        if (i >= end || known > limit || (known == limit && ((u32)i & number_bits) > last)) continue;
        const i64 place = row * wanted + atomicAdd(&found.taken, 1u);
        keys[place] = key[k], numbers[place] = (u32)i;
      }
    }
    if (!is_last_block(&found.blocks, blocks)) continue;
    for (i64 i = own; i < wanted; i += 256) {
      key_of[i] = ((volatile Key*)keys)[row * wanted + i];
      number_of[i] = ((volatile u32*)numbers)[row * wanted + i];
    }
    __syncthreads();
    for (i64 i = own; i < wanted; i += 256) {
      const Key key = key_of[i];
      const u32 number = number_of[i];
      i64 rank = 0;
      for (i64 j = 0; j < wanted; j++) rank += key_of[j] < key || (key_of[j] == key && number_of[j] < number);
      const i64 place = (outer * wanted + rank) * inner + column;
      values[place] = line.in[number * inner], indices[place] = number;
    }
    __syncthreads();
  }
}
)";
inline constexpr std::array<const char*, 2> kSelectionSteps = {"select_digit", "take_selected"};

constexpr int64_t kMostSelected = 1024;  // of a line

size_t selection_scratch(int64_t rows, int64_t wanted, size_t key_bytes);
// The first `wanted` of the elements of each line of the launch's first input, and their places. Requires: 0 < wanted
// <= kMostSelected. `first_step`: which of the kernel's steps is the first of kSelectionSteps.
Status* select(const CompiledNode& kernel, const Launch& launch, DimSizes lines, int64_t descending, int64_t wanted,
               size_t first_step);

}  // namespace thunder::cuda_kernels
