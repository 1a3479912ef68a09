// The elements of each line in order: a radix sort of all elements by key, then by line.
#pragma once

#include "executors/cuda/radix.h"

namespace thunder::cuda_kernels {

// Keys are unsigned numbers in the order of prims.sort (ops/sorting.h): both zeros are one, NaN comes last. Of equal
// ones the lesser place comes first. `value_of` says whether a key is all of its value: zeros have two signs, NaN many
// bits. Elements are numbered line by line. The function keys_of_lines comes before
// kRadixSteps, which THUNDER_CUDA_RADIX has.
#define THUNDER_CUDA_LINES                                                                                         \
  "__device__ inline u32 ordered(float v) {\n"                                                                     \
  "  const u32 bits = v == 0 ? 0 : __float_as_uint(v);\n"                                                          \
  "  return v != v ? ~0u : bits >> 31 ? ~bits : bits | 1u << 31;\n"                                                \
  "}\n"                                                                                                            \
  "__device__ inline u64 ordered(double v) {\n"                                                                    \
  "  const u64 bits = v == 0 ? 0 : (u64)__double_as_longlong(v);\n"                                                \
  "  return v != v ? ~0ULL : bits >> 63 ? ~bits : bits | 1ULL << 63;\n"                                            \
  "}\n"                                                                                                            \
  "__device__ inline u32 ordered(int v) { return (u32)v ^ 1u << 31; }\n"                                           \
  "__device__ inline u32 ordered(u32 v) { return v; }\n"                                                           \
  "__device__ inline u64 ordered(i64 v) { return (u64)v ^ 1ULL << 63; }\n"                                         \
  "__device__ inline u64 ordered(u64 v) { return v; }\n"                                                           \
  "typedef decltype(ordered((C)0)) Key;\n"                                                                         \
  "__device__ inline bool value_of(u32 key, float& v) {\n"                                                         \
  "  v = __uint_as_float(key >> 31 ? key ^ 1u << 31 : ~key);\n"                                                    \
  "  return key != ~0u && v != 0;\n"                                                                               \
  "}\n"                                                                                                            \
  "__device__ inline bool value_of(u64 key, double& v) {\n"                                                        \
  "  v = __longlong_as_double((i64)(key >> 63 ? key ^ 1ULL << 63 : ~key));\n"                                      \
  "  return key != ~0ULL && v != 0;\n"                                                                             \
  "}\n"                                                                                                            \
  "__device__ inline bool value_of(u32 key, int& v) { return v = (int)(key ^ 1u << 31), true; }\n"                 \
  "__device__ inline bool value_of(u32 key, u32& v) { return v = key, true; }\n"                                   \
  "__device__ inline bool value_of(u64 key, i64& v) { return v = (i64)(key ^ 1ULL << 63), true; }\n"               \
  "__device__ inline bool value_of(u64 key, u64& v) { return v = key, true; }\n"                                   \
  "struct Line {\n"                                                                                                \
  "  const T* in;\n"                                                                                               \
  "  i64 inner;\n"                                                                                                 \
  "  Key turned;\n"                                                                                                \
  "  __device__ Key key(i64 place) const { return ordered(get(in[place * inner])) ^ turned; }\n"                   \
  "  __device__ bool before(i64 place, Key other, i64 other_place) const {\n"                                      \
  "    const Key mine = key(place);\n"                                                                             \
  "    return mine < other || (mine == other && place < other_place);\n"                                           \
  "  }\n"                                                                                                          \
  "};\n"                                                                                                           \
  "extern \"C\" __global__ void keys_of_lines(\n"                                                                  \
  "    Key* keys, const T* in, i64 elements, i64 size, i64 inner, i64 descending) {\n"                             \
  "  for (i64 n = blockIdx.x * (i64)blockDim.x + threadIdx.x; n < elements; n += (i64)gridDim.x * blockDim.x) {\n" \
  "    const i64 row = n / size, outer = row / inner;\n"                                                           \
  "    const Key turned = descending ? (Key)~(Key)0 : (Key)0;\n"                                                   \
  "    const Line line = {in + outer * size * inner + (row - outer * inner), inner, turned};\n"                    \
  "    keys[n] = line.key(n - row * size);\n"                                                                      \
  "  }\n"                                                                                                          \
  "}\n"

// The number of elements along the dim that argument 1 names.
int64_t size_of_line(const NodeView& view);
size_t line_key_bytes(DType d);
// The digits of a key in which elements may differ, the least significant first: of narrow reals only the upper bits of
// a float.
std::vector<Digit> digits_of_key(DType d);
// Sorts the numbers of the elements of `in`; `first_step` is that of keys_of_lines.
Status* sort_lines(const CompiledNode& kernel, RadixSort& sort, const Buffer& in, DimSizes lines, int64_t descending,
                   size_t first_step);

}  // namespace thunder::cuda_kernels
