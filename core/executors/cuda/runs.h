// Sums of many values that go to one place, of which a sort has made a run of equal keys.
#pragma once

#include "executors/cuda/kernel_rules.h"

namespace thunder::cuda_kernels {

// Sorted positions are taken in parts of so many. A run that covers a part is long: its values are summed by part, and
// then the parts, in their order, so that results have the same bits in every run. Others are added one by one.
constexpr int64_t kPart = 256;  // mirrored in the text

// How many numbers of the type A sum_parts has: two for each part and element of a slice, the values at its beginning
// that continue a long run, and those at its end that begin one.
inline int64_t count_part_sums(int64_t count, int64_t elements) {
  return 2 * ((count + kPart - 1) / kPart) * elements;
}

// The text needs the types Key and A to be declared before it. `values(i, c)` is element c of what the i-th of the
// sorted positions adds, `combine` an associative function of two A.
#define THUNDER_CUDA_RUNS                                                                                             \
  "__device__ inline i64 end_of_run(const Key* keys, i64 first, i64 count) {\n"                                       \
  "  const Key key = keys[first];\n"                                                                                  \
  "  i64 end = first + 1, ahead = 1;\n"                                                                               \
  "  for (; end + ahead <= count && keys[end + ahead - 1] == key; ahead *= 2) end += ahead;\n"                        \
  "  for (; ahead > 0; ahead /= 2)\n"                                                                                 \
  "    if (end + ahead <= count && keys[end + ahead - 1] == key) end += ahead;\n"                                     \
  "  return end;\n"                                                                                                   \
  "}\n"                                                                                                               \
  "__device__ inline bool is_long_run(i64 first, i64 end) { return (first + 255) / 256 * 256 + 256 <= end; }\n"       \
  "template <class V, class F> __device__ inline A sum_of(const V& values, i64 i, i64 end, i64 c, const F& combine) " \
  "{\n"                                                                                                               \
  "  A sum = values(i++, c);\n"                                                                                       \
  "  for (; i + 8 <= end; i += 8) {\n"                                                                                \
  "    A more[8];\n"                                                                                                  \
  "#pragma unroll\n"                                                                                                  \
  "    for (int k = 0; k < 8; k++) more[k] = values(i + k, c);\n"                                                     \
  "#pragma unroll\n"                                                                                                  \
  "    for (int k = 0; k < 8; k++) sum = combine(sum, more[k]);\n"                                                    \
  "  }\n"                                                                                                             \
  "  for (; i < end; i++) sum = combine(sum, values(i, c));\n"                                                        \
  "  return sum;\n"                                                                                                   \
  "}\n"                                                                                                               \
  "template <class V, class F> __device__ inline void sum_each_part(\n"                                               \
  "    A* sums, const Key* keys, const V& values, i64 elements, i64 count, const F& combine) {\n"                     \
  "  const i64 parts = (count + 255) / 256;\n"                                                                        \
  "  for (i64 at = blockIdx.x * (i64)blockDim.x + threadIdx.x; at < parts * elements;\n"                              \
  "       at += (i64)gridDim.x * blockDim.x) {\n"                                                                     \
  "    const i64 part = at / elements, c = at - part * elements, begin = part * 256;\n"                               \
  "    const i64 end = begin + 256 < count ? begin + 256 : count;\n"                                                  \
  "    const bool covered = end == begin + 256 && keys[begin] == keys[end - 1];\n"                                    \
  "    i64 from[2] = {0, 0}, to[2] = {0, 0};\n"                                                                       \
  "    if (covered || (part && keys[begin - 256] == keys[begin]))\n"                                                  \
  "      from[0] = begin, to[0] = covered ? end : end_of_run(keys, begin, end);\n"                                    \
  "    if (!covered && end + 256 <= count && keys[end + 255] == keys[end - 1]) {\n"                                   \
  "      from[1] = end - 1, to[1] = end;\n"                                                                           \
  "      while (keys[from[1] - 1] == keys[end - 1]) from[1]--;\n"                                                     \
  "    }\n"                                                                                                           \
  "#pragma unroll 1\n"                                                                                                \
  "    for (int n = 0; n < 2; n++)\n"                                                                                 \
  "      if (from[n] < to[n]) sums[(2 * part + n) * elements + c] = sum_of(values, from[n], to[n], c, combine);\n"    \
  "  }\n"                                                                                                             \
  "}\n"                                                                                                               \
  "template <class F, class G> __device__ inline void join_long_runs(\n"                                              \
  "    const A* sums, const Key* keys, i64 elements, i64 count, const F& combine, const G& add) {\n"                  \
  "  const i64 parts = (count + 255) / 256;\n"                                                                        \
  "  for (i64 at = blockIdx.x * (i64)blockDim.x + threadIdx.x; at < parts * elements;\n"                              \
  "       at += (i64)gridDim.x * blockDim.x) {\n"                                                                     \
  "    const i64 part = at / elements, c = at - part * elements, begin = part * 256, end = begin + 256;\n"            \
  "    if (end > count) continue;\n"                                                                                  \
  "    const bool covered = keys[begin] == keys[end - 1];\n"                                                          \
  "    if (covered ? part && keys[begin - 1] == keys[begin] : end + 256 > count || keys[end + 255] != keys[end - "    \
  "1])\n"                                                                                                             \
  "      continue;\n"                                                                                                 \
  "    const i64 beyond = end_of_run(keys, end - 1, count);\n"                                                        \
  "    const auto part_sum = [&](i64 p, i64 element) { return sums[2 * p * elements + element]; };\n"                 \
  "    A sum = sums[(2 * part + !covered) * elements + c];\n"                                                         \
  "    if (beyond > end) sum = combine(sum, sum_of(part_sum, part + 1, (beyond + 255) / 256, c, combine));\n"         \
  "    add(end - 1, c, sum);\n"                                                                                       \
  "  }\n"                                                                                                             \
  "}\n"

}  // namespace thunder::cuda_kernels
