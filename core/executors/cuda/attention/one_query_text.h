// The kernels of attention of one query a head. Constants that stand before them: kGroup, the heads of a block, which
// share keys; kLanes; kWarps of a block.
#pragma once

namespace thunder::cuda_kernels {

// Lanes of a warp stand in groups of kLanes, each of which has kAtOnce keys at a time, a vector of their rows in each
// lane. What is summed is relative to the greatest score so far.
constexpr char kOneQuery[] = R"(
struct Problem {
  const T *query, *key, *value;
  const void* mask;
  T* out;
  float *top, *total, *parts;
  i64 query_step[2], key_step[3], value_step[3], mask_step[3];
  int items, heads, key_heads, keys, width, value_width, splits, chunk, mask_kind;
  float scale;
  int aligned;
};
constexpr int kVector = 16 / sizeof(T), kEach = 32 / kLanes, kColumns = kLanes * kVector;
constexpr int kGroups = kWarps * kEach, kAtOnce = 4;
__device__ inline float no_score() { return __int_as_float(0xff800000); }
__device__ inline float greatest(float a, float b) { return greater(a, b); }
// A number to take from scores, none of which is greater.
__device__ inline float shift_of(float top) { return top == no_score() ? 0.0f : top; }
typedef Pack<T, kVector> Vector;
__device__ inline Vector load(const T* from, bool aligned) {
  if (aligned) return *(const Vector*)from;
  Vector read;
#pragma unroll
  for (int v = 0; v < kVector; v++) read.at[v] = from[v];
  return read;
}
// What was read where nothing is to be seen, which may be NaN.
__device__ inline Vector only_if(bool seen, Vector read) {
#pragma unroll
  for (int v = 0; v < kVector; v++) read.at[v] = seen ? read.at[v] : (T)0;
  return read;
}
// The sum over the lanes of a group.
__device__ inline float of_group(float mine) {
#pragma unroll
  for (int n = kLanes / 2; n > 0; n /= 2) mine += from_lane(mine, (threadIdx.x & 31) ^ n);
  return mine;
}
// What a block computes: heads of a batch, and keys from `first` on.
struct Item { i64 batch, head, key_head, first; int count; };
__device__ inline Item item_of(const Problem& p, int number) {
  const int row = number / p.splits, groups = p.heads / kGroup, batch = row / groups;
  const int head = (row - batch * groups) * kGroup, first = (number - row * p.splits) * p.chunk;
  return {batch, head, head / (p.heads / p.key_heads), first, p.keys - first < p.chunk ? p.keys - first : p.chunk};
}
__device__ inline i64 mask_at(const Problem& p, const Item& item, int g, int k) {
  return item.batch * p.mask_step[0] + (item.head + g) * p.mask_step[1] + (item.first + k) * p.mask_step[2];
}
// Which heads see the keys from k on, kGroups apart: bit n * kGroup + g.
__device__ inline u32 seen_from(const Problem& p, const Item& item, int k) {
  constexpr u32 all = (1u << kGroup) - 1;
  u32 seen = 0;
#pragma unroll
  for (int n = 0; n < kAtOnce; n++, k += kGroups) {
    if (k >= item.count) continue;
    if (p.mask_kind != 1 || p.mask_step[1] == 0) {
      if (p.mask_kind != 1 || ((const u8*)p.mask)[mask_at(p, item, 0, k)]) seen |= all << (n * kGroup);
      continue;
    }
#pragma unroll
    for (int g = 0; g < kGroup; g++)
      if (((const u8*)p.mask)[mask_at(p, item, g, k)]) seen |= 1u << (n * kGroup + g);
  }
  return seen;
}
// The keys up to the last one that a mask for all heads shows.
__device__ inline int seen_count(const Problem& p, const Item& item) {
  __shared__ int shared[kWarps];
  int last = 0;
  if (p.mask_kind != 1 || p.mask_step[1]) return item.count;
  for (int k = threadIdx.x; k < item.count; k += kWarps * 32)
    if (((const u8*)p.mask)[mask_at(p, item, 0, k)]) last = k + 1;
  return of_block(last, shared, [](int a, int b) { return a > b ? a : b; });
}
__device__ inline float added(const Problem& p, const Item& item, int g, int k) {
  return p.mask_kind == 2   ? get(((const T*)p.mask)[mask_at(p, item, g, k)])
         : p.mask_kind == 3 ? ((const float*)p.mask)[mask_at(p, item, g, k)]
                            : 0.0f;
}
// Of the keys that were seen: the greatest score, and of the exponentials of scores less that the sum, and the sum of
// their products with values.
struct Row {
  float top, total, sums[kVector];
  __device__ void clear() {
    top = no_score(), total = 0;
#pragma unroll
    for (int v = 0; v < kVector; v++) sums[v] = 0;
  }
  __device__ void scale_to(float greater_top) {
    const float factor = expf(top - shift_of(greater_top));
    top = greater_top, total *= factor;
#pragma unroll
    for (int v = 0; v < kVector; v++) sums[v] *= factor;
  }
  __device__ void add(const float* scores, const Vector* values) {
    float most = top;
#pragma unroll
    for (int n = 0; n < kAtOnce; n++) most = greatest(most, scores[n]);
    scale_to(most);
#pragma unroll
    for (int n = 0; n < kAtOnce; n++) {
      const float weight = expf(scores[n] - shift_of(most));
      total += weight;
#pragma unroll
      for (int v = 0; v < kVector; v++) sums[v] += weight * get(values[n].at[v]);
    }
  }
  // The rows of a warp's groups of lanes as one, which the first of them gets.
  __device__ void join_lanes() {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int n = kLanes; n < 32; n *= 2) {
      scale_to(greatest(top, from_lane(top, lane ^ n)));
      total += from_lane(total, lane ^ n);
#pragma unroll
      for (int v = 0; v < kVector; v++) sums[v] += from_lane(sums[v], lane ^ n);
    }
  }
};
template <bool kAligned> __device__ inline void attend(const Problem& p, const Item& item, Row* rows) {
  const int lane = threadIdx.x % 32, at = lane % kLanes, first = threadIdx.x / 32 * kEach + lane / kLanes;
  const bool has_key = at * kVector < p.width, has_value = at * kVector < p.value_width;
  // Of lanes without columns the first ones, so that nothing branches around a load.
  const T* keys = p.key + item.batch * p.key_step[0] + item.key_head * p.key_step[1] + item.first * p.key_step[2] +
                  (has_key ? at * kVector : 0);
  const T* values = p.value + item.batch * p.value_step[0] + item.key_head * p.value_step[1] +
                    item.first * p.value_step[2] + (has_value ? at * kVector : 0);
  float query[kGroup][kVector];
  u32 seen = seen_from(p, item, first);
#pragma unroll
  for (int g = 0; g < kGroup; g++) {
    const T* row = p.query + item.batch * p.query_step[0] + (item.head + g) * p.query_step[1];
    const Vector read = load(row + (has_key ? at * kVector : 0), kAligned);
#pragma unroll
    for (int v = 0; v < kVector; v++) query[g][v] = has_key ? get(read.at[v]) * p.scale : 0.0f;
    rows[g].clear();
  }
  for (int base = 0; base < item.count; base += kGroups * kAtOnce) {
    const int k = base + first;
    Vector key[kAtOnce], value[kAtOnce];
    bool any[kAtOnce];
#pragma unroll
    for (int n = 0; n < kAtOnce; n++) {
      any[n] = seen >> (n * kGroup) & ((1u << kGroup) - 1);
      const i64 row = any[n] ? k + n * kGroups : 0;
      key[n] = load(keys + row * p.key_step[2], kAligned);
      value[n] = load(values + row * p.value_step[2], kAligned);
    }
    const u32 next = seen_from(p, item, k + kGroups * kAtOnce);
#pragma unroll
    for (int n = 0; n < kAtOnce; n++) value[n] = only_if(any[n] && has_value, value[n]);
#pragma unroll
    for (int g = 0; g < kGroup; g++) {
      float scores[kAtOnce];
#pragma unroll
      for (int n = 0; n < kAtOnce; n++) {
        float sum = 0;
#pragma unroll
        for (int v = 0; v < kVector; v++) sum += query[g][v] * get(key[n].at[v]);
        sum = of_group(has_key ? sum : 0.0f);
        scores[n] = seen >> (n * kGroup + g) & 1 ? sum + added(p, item, g, k + n * kGroups) : no_score();
      }
      rows[g].add(scores, value);
    }
    seen = next;
  }
}
// A row without a score is zeros, its greatest score 0 and its sum 1.
__device__ inline void store(const Problem& p, i64 row, int column, float sum, float top, float total) {
  const bool empty = top == no_score();
  if (column < p.value_width) p.out[row * p.value_width + column] = put(empty ? 0.0f : sum / total);
  if (column == 0 && p.top) p.top[row] = shift_of(top);
  if (column == 0 && p.total) p.total[row] = empty ? 1.0f : total;
}
extern "C" __global__ __launch_bounds__(kWarps * 32) void kernel(const Problem p) {
  __shared__ float sums[kWarps][kColumns], tops[kWarps], totals[kWarps];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int number = blockIdx.x; number < p.items; number += gridDim.x) {
    Item item = item_of(p, number);
    item.count = seen_count(p, item);
    Row rows[kGroup];
    if (p.aligned) attend<true>(p, item, rows);
    else attend<false>(p, item, rows);
#pragma unroll
    for (int g = 0; g < kGroup; g++) {
      rows[g].join_lanes();
      if (lane == 0) tops[warp] = rows[g].top, totals[warp] = rows[g].total;
      if (lane < kLanes)
        for (int v = 0; v < kVector; v++) sums[warp][lane * kVector + v] = rows[g].sums[v];
      __syncthreads();
      float top = tops[0];
      for (int w = 1; w < kWarps; w++) top = greatest(top, tops[w]);
      float* part = p.parts + ((i64)number * kGroup + g) * (p.value_width + 2);
      for (int column = threadIdx.x; column < kColumns; column += kWarps * 32) {
        float total = 0, sum = 0;
        for (int w = 0; w < kWarps; w++) {
          const float factor = expf(tops[w] - shift_of(top));
          total += factor * totals[w], sum += factor * sums[w][column];
        }
        if (p.splits == 1) store(p, item.batch * p.heads + item.head + g, column, sum, top, total);
        else if (column < p.value_width) part[column] = sum;
        if (p.splits > 1 && column == 0) part[p.value_width] = top, part[p.value_width + 1] = total;
      }
      __syncthreads();
    }
  }
}
// The parts of the keys of a head, in their order.
extern "C" __global__ void join_parts(const Problem p) {
  const i64 step = p.value_width + 2;
  for (int row = blockIdx.x; row < p.items / p.splits * kGroup; row += gridDim.x) {
    const float* parts = p.parts + (i64)(row / kGroup * p.splits * kGroup + row % kGroup) * step;
    const int column = threadIdx.x;
    float top = no_score(), total = 0, sum = 0;
    for (int s = 0; s < p.splits; s++) top = greatest(top, parts[s * kGroup * step + p.value_width]);
    for (int s = 0; s < p.splits; s++) {
      const float* part = parts + s * kGroup * step;
      const float factor = expf(part[p.value_width] - shift_of(top));
      total += factor * part[p.value_width + 1];
      if (column < p.value_width) sum += factor * part[column];
    }
    store(p, row, column, sum, top, total);
  }
}
)";

}  // namespace thunder::cuda_kernels
