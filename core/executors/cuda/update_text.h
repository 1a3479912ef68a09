// The kernels of updates.cpp.
#pragma once

#include "executors/cuda/indices.h"
#include "executors/cuda/radix.h"
#include "executors/cuda/runs.h"

namespace thunder::cuda_kernels {

// For few indices: a block for each. Among those of the same element, the first one's block adds the values of all;
// without `add`, the last one's block stores its value.
constexpr char kFewUpdates[] = THUNDER_CUDA_INDICES R"(
extern "C" __global__ void kernel(
    T* out, const T* src, const Indices x, const Slice slice, i64 elements, i64 count, i64 add,
    DeviceAssertion* assertion) {
  __shared__ int hits[256];
  for (i64 m = blockIdx.x; m < count; m += gridDim.x) {
    const Place place = place_of(x, m, assertion);
    int other = 0;
    if (add)
      for (i64 j = threadIdx.x; j < m; j += blockDim.x) other |= place_of(x, j, assertion).number == place.number;
    else
      for (i64 j = m + 1 + threadIdx.x; j < count; j += blockDim.x)
        other |= place_of(x, j, assertion).number == place.number;
    if (__syncthreads_or(other)) continue;
    if (!add) {
      const T* const from = src + offset(x.positions, 8, m);
      for (i64 c = threadIdx.x; c < elements; c += blockDim.x)
        out[place.offset + offset(slice, 0, c)] = from[offset(slice, 1, c)];
      continue;
    }
    for (i64 first = m; first < count; first += blockDim.x) {
      const i64 mine = first + threadIdx.x;
      const int hit = mine < count && place_of(x, mine, assertion).number == place.number;
      hits[threadIdx.x] = hit;
      if (!__syncthreads_or(hit)) continue;
      for (int h = 0; h < (int)blockDim.x; h++) {
        if (!hits[h]) continue;
        const T* const from = src + offset(x.positions, 8, first + h);
        for (i64 c = threadIdx.x; c < elements; c += blockDim.x) {
          T& to = out[place.offset + offset(slice, 0, c)];
          to = put((C)((A)get(to) + (A)get(from[offset(slice, 1, c)])));
        }
      }
      __syncthreads();
    }
  }
}
)";

constexpr char kManyUpdates[] = THUNDER_CUDA_INDICES THUNDER_CUDA_ADD_ATOMICALLY R"(
typedef u32 Key;
extern "C" __global__ void kernel(Key* keys, const Indices x, i64 count, DeviceAssertion* assertion) {
  for (i64 m = blockIdx.x * (i64)blockDim.x + threadIdx.x; m < count; m += (i64)gridDim.x * blockDim.x)
    keys[m] = (Key)place_of(x, m, assertion).number;
}
)" THUNDER_CUDA_RADIX THUNDER_CUDA_RUNS R"(
// 1 << lanes threads, of one block, for each index, those of the same element behind each other: of the first one they
// add all, but of long runs.
extern "C" __global__ void apply_updates(
    T* out, const T* src, const Key* keys, const u32* sorted, const Indices x, const Slice slice, i64 elements,
    i64 lanes, i64 count, i64 add, DeviceAssertion* assertion) {
  const i64 thread = blockIdx.x * (i64)blockDim.x + threadIdx.x, threads = (i64)gridDim.x * blockDim.x;
  for (i64 first = thread >> lanes; first < count; first += threads >> lanes) {
    if (first && keys[first - 1] == keys[first]) continue;
    const i64 end = end_of_run(keys, first, count);
    if (add && is_long_run(first, end)) continue;
    T* const whole = out + place_of(x, sorted[first], assertion).offset;
    for (i64 c = thread & ((1 << lanes) - 1); c < elements; c += 1 << lanes) {
      T& to = whole[offset(slice, 0, c)];
      const T* const from = src + offset(slice, 1, c);
      if (!add) {
        to = from[offset(x.positions, 8, sorted[end - 1])];
        continue;
      }
      C sum = get(to);
      i64 i = first;
      for (; i + 8 <= end; i += 8) {
        C more[8];
#pragma unroll
        for (int k = 0; k < 8; k++) more[k] = get(from[offset(x.positions, 8, sorted[i + k])]);
#pragma unroll
        for (int k = 0; k < 8; k++) sum = get(put((C)((A)sum + (A)more[k])));
      }
      for (; i < end; i++) sum = get(put((C)((A)sum + (A)get(from[offset(x.positions, 8, sorted[i])]))));
      to = put(sum);
    }
  }
}
struct Values {
  const T* src;
  const u32* sorted;
  const Indices& x;
  const Slice& slice;
  __device__ A operator()(i64 i, i64 c) const {
    return (A)get(src[offset(x.positions, 8, sorted[i]) + offset(slice, 1, c)]);
  }
};
__device__ inline A plus(A a, A b) { return a + b; }
extern "C" __global__ void sum_parts(A* sums, const T* src, const Key* keys, const u32* sorted, const Indices x,
                                     const Slice slice, i64 elements, i64 count) {
  sum_each_part(sums, keys, Values{src, sorted, x, slice}, elements, count, plus);
}
extern "C" __global__ void join_parts(T* out, const A* sums, const Key* keys, const u32* sorted, const Indices x,
                                      const Slice slice, i64 elements, i64 count, DeviceAssertion* assertion) {
  join_long_runs(sums, keys, elements, count, plus, [&](i64 i, i64 c, A sum) {
    T& to = out[place_of(x, sorted[i], assertion).offset + offset(slice, 0, c)];
    to = put((C)((A)get(to) + sum));
  });
}
extern "C" __global__ void add_integers(T* out, const T* src, const Indices x, const Slice slice, i64 elements,
                                        i64 count, DeviceAssertion* assertion) {
  for (i64 at = blockIdx.x * (i64)blockDim.x + threadIdx.x; at < count * elements; at += (i64)gridDim.x * blockDim.x) {
    const i64 m = at / elements, c = at - m * elements;
    add_atomically(out + place_of(x, m, assertion).offset + offset(slice, 0, c),
                   src[offset(x.positions, 8, m) + offset(slice, 1, c)]);
  }
}
// Of each place the last index that points there, counted from 1.
extern "C" __global__ void clear_last(u32* last, const Indices x, i64 count, DeviceAssertion* assertion) {
  for (i64 m = blockIdx.x * (i64)blockDim.x + threadIdx.x; m < count; m += (i64)gridDim.x * blockDim.x)
    last[place_of(x, m, assertion).number] = 0;
}
extern "C" __global__ void find_last(u32* last, const Indices x, i64 count, DeviceAssertion* assertion) {
  for (i64 m = blockIdx.x * (i64)blockDim.x + threadIdx.x; m < count; m += (i64)gridDim.x * blockDim.x)
    atomicMax(last + place_of(x, m, assertion).number, (u32)m + 1);
}
// 1 << lanes threads, of one block, for each index.
extern "C" __global__ void put_last(T* out, const T* src, const u32* last, const Indices x, const Slice slice,
                                    i64 elements, i64 lanes, i64 count, DeviceAssertion* assertion) {
  const i64 thread = blockIdx.x * (i64)blockDim.x + threadIdx.x, threads = (i64)gridDim.x * blockDim.x;
  for (i64 m = thread >> lanes; m < count; m += threads >> lanes) {
    const Place place = place_of(x, m, assertion);
    if (last[place.number] != (u32)m + 1) continue;
    T* const to = out + place.offset;
    const T* const from = src + offset(x.positions, 8, m);
    for (i64 c = thread & ((1 << lanes) - 1); c < elements; c += 1 << lanes)
      to[offset(slice, 0, c)] = from[offset(slice, 1, c)];
  }
}
)";

}  // namespace thunder::cuda_kernels
