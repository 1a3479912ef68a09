// Positions that index tensors name: shared by the rules that read, write and add at them.
#pragma once

#include <array>

#include "executors/cuda/kernel_rules.h"

namespace thunder::cuda_kernels {

constexpr size_t kMostIndices = 8, kMostDims = 8;
// Dims that N arrays are walked along together, outermost first; neighbours that all step through as one are one.
// Mirrored in the texts.
template <size_t N>
struct OffsetCalculator {
  int64_t rank = 0, sizes[kMostDims] = {}, steps[N][kMostDims] = {};

  // False: there are too many.
  bool add(int64_t size, const std::array<int64_t, N>& by) {
    if (size == 1) return true;
    const auto last = static_cast<size_t>(rank) - 1;
    bool one = rank > 0;
    for (size_t n = 0; n < N && one; n++) one = steps[n][last] == by[n] * size;
    const size_t at = one ? last : last + 1;
    if (at == kMostDims) return false;
    sizes[at] = one ? sizes[at] * size : size;
    for (size_t n = 0; n < N; n++) steps[n][at] = by[n];
    rank = static_cast<int64_t>(at) + 1;
    return true;
  }
};

// The positions that index tensors name in dims of an array: each of `n` has its dim's size and step there. The texts
// of kernels have the same structure.
struct Indices {
  const void* at[kMostIndices];
  int64_t sizes[kMostIndices], steps[kMostIndices];
  int64_t n, wide, from_end;  // wide: i64, else i32; from_end: negative ones count from there
  OffsetCalculator<kMostIndices + 1> positions;  // of the index tensors, and at last of the source
};

#define THUNDER_CUDA_INDICES                                                                                  \
  "struct Positions { i64 rank, sizes[8], steps[9][8]; };\n"                                                  \
  "struct Slice { i64 rank, sizes[8], steps[2][8]; };\n"                                                      \
  "struct Indices { const void* at[8]; i64 sizes[8], steps[8], n, wide, from_end; Positions positions; };\n"  \
  "template <class Offsets> __device__ inline i64 offset(const Offsets& w, int array, i64 position) {\n"      \
  "  i64 out = 0;\n"                                                                                          \
  "#pragma unroll 1\n"                                                                                        \
  "  for (int d = (int)w.rank - 1; d > 0; d--) {\n"                                                           \
  "    const i64 rest = position / w.sizes[d];\n"                                                             \
  "    out += (position - rest * w.sizes[d]) * w.steps[array][d], position = rest;\n"                         \
  "  }\n"                                                                                                     \
  "  return w.rank ? out + position * w.steps[array][0] : 0;\n"                                               \
  "}\n"                                                                                                       \
  "struct Place { i64 number, offset; };\n"                                                                   \
  "__device__ inline Place place_of(const Indices& x, i64 m, DeviceAssertion* assertion) {\n"                 \
  "  Place place = {0, 0};\n"                                                                                 \
  "#pragma unroll 1\n"                                                                                        \
  "  for (int k = 0; k < (int)x.n; k++) {\n"                                                                  \
  "    const i64 at = offset(x.positions, k, m);\n"                                                           \
  "    const i64 given = x.wide ? ((const i64*)x.at[k])[at] : ((const int*)x.at[k])[at];\n"                   \
  "    i64 i = x.from_end && given < 0 && given >= -x.sizes[k] ? given + x.sizes[k] : given;\n"               \
  "    i = checked(i, x.sizes[k], k, assertion);\n"                                                           \
  "    place.number = place.number * x.sizes[k] + i, place.offset += i * x.steps[k];\n"                       \
  "  }\n"                                                                                                     \
  "  return place;\n"                                                                                         \
  "}\n"

// The indices of the dims of `whole` from `dim` on; the caller says how they are walked. Requires: at most kMostIndices
// tensors, of one shape.
Indices make_indices(std::span<const Buffer> tensors, const Buffer& whole, size_t dim, bool from_end);

// The dims that error messages name for each index, of nodes that index along a dim, and of those with a list of
// indices.
std::vector<std::string> describe_arg_dim(const NodeView& view);

// The error of an index into a dim of size 0, for which no kernel is launched.
Status* empty_dim_error(const CompiledNode& kernel, size_t dim);
std::vector<std::string> describe_indexed_dims(const NodeView& view);
bool takes_index(const NodeView& view);
bool adds_numbers(const NodeView& view);

// Sums of these are the same in any order.
bool adds_in_any_order(DType d);
#define THUNDER_CUDA_ADD_ATOMICALLY                                                                              \
  "template <class I> __device__ inline void add_atomically(I* to, I v) {\n"                                     \
  "  if constexpr (sizeof(I) == 8) atomicAdd((unsigned long long*)to, (unsigned long long)v);\n"                 \
  "  else if constexpr (sizeof(I) == 4) atomicAdd((unsigned*)to, (unsigned)v);\n"                                \
  "}\n"

}  // namespace thunder::cuda_kernels
