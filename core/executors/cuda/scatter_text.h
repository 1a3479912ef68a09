// The kernels of scatters.cpp.
#pragma once

#include "executors/cuda/fixed_point.h"
#include "executors/cuda/indices.h"
#include "executors/cuda/radix.h"
#include "executors/cuda/runs.h"

namespace thunder::cuda_kernels {

constexpr char kScatter[] = THUNDER_CUDA_ADD_ATOMICALLY R"(
typedef u32 Key;
struct Walk { i64 rank, dim, wide, sizes[8], out[8], src[8]; };
struct Place { i64 to, from, index; };
__device__ inline Place place_of(const Walk& w, i64 n) {
  Place p = {0, 0, 0};
#pragma unroll 1
  for (int d = (int)w.rank - 1; d >= 0; d--) {
    const bool narrow = (n | w.sizes[d]) >> 32 == 0;  // divisions of 64 bits are slow
    const i64 rest = !d ? 0 : narrow ? (u32)n / (u32)w.sizes[d] : n / w.sizes[d], i = n - rest * w.sizes[d];
    p.from += i * w.src[d];
    if (d != (int)w.dim) p.to += i * w.out[d];
    n = rest;
  }
  return p;
}
extern "C" __global__ void kernel(Key* keys, u32* values, const T* src, const void* index, const Walk w, i64 size,
                                  i64 count, DeviceAssertion* assertion) {
  for (i64 n = blockIdx.x * (i64)blockDim.x + threadIdx.x; n < count; n += (i64)gridDim.x * blockDim.x) {
    const i64 at = checked(w.wide ? ((const i64*)index)[n] : ((const int*)index)[n], size, 0, assertion);
    const Place place = place_of(w, n);
    keys[n] = (Key)(place.to + at * w.out[w.dim]);
    if (sizeof(T) <= 4) {
      u32 bits = 0;
      memcpy(&bits, src + place.from, sizeof(T) <= 4 ? sizeof(T) : 0);
      values[n] = bits;
    }
  }
}
)" THUNDER_CUDA_RADIX THUNDER_CUDA_RUNS R"(
// The i-th of the sorted elements.
__device__ inline C sorted_value(const T* src, const u32* sorted, const Walk& w, i64 i) {
  if (sizeof(T) > 4) return get(src[place_of(w, sorted[i]).from]);
  T value;
  memcpy(&value, sorted + i, sizeof(T) <= 4 ? sizeof(T) : 0);
  return get(value);
}
__device__ inline C joined(C a, C b, i64 how) {
  if (how == 0) return (C)((A)a + (A)b);
  if (how == 1) return (C)((A)a * (A)b);
  return how == 2 ? (a > b || a != a ? a : b) : (a < b || a != a ? a : b);
}
extern "C" __global__ void join_elements(T* out, const T* src, const Key* keys, const u32* sorted, const Walk w,
                                         i64 count, i64 how) {
  for (i64 first = blockIdx.x * (i64)blockDim.x + threadIdx.x; first < count; first += (i64)gridDim.x * blockDim.x) {
    const Key key = keys[first];
    if (first && keys[first - 1] == key) continue;
    if (is_long_run(first, end_of_run(keys, first, count))) continue;
    C all = get(out[key]);
    for (i64 begin = first; begin < count && keys[begin] == key; begin += 8) {
      C more[8];
      int n = 0;
#pragma unroll
      for (int k = 0; k < 8; k++) {
        const bool own = begin + k < count && keys[begin + k] == key;
        if (own) more[k] = sorted_value(src, sorted, w, begin + k);
        n += own;
      }
#pragma unroll
      for (int k = 0; k < 8; k++)
        if (k < n) all = get(put(joined(all, more[k], how)));
    }
    out[key] = put(all);
  }
}
struct Values {
  const T* src;
  const u32* sorted;
  const Walk& w;
  __device__ A operator()(i64 i, i64) const { return (A)sorted_value(src, sorted, w, i); }
};
struct Joined {
  i64 how;
  __device__ A operator()(A a, A b) const {
    return how == 0 ? (A)(a + b) : how == 1 ? (A)(a * b) : (A)joined((C)a, (C)b, how);
  }
};
extern "C" __global__ void sum_parts(A* sums, const T* src, const Key* keys, const u32* sorted, const Walk w,
                                     i64 count, i64 how) {
  sum_each_part(sums, keys, Values{src, sorted, w}, 1, count, Joined{how});
}
extern "C" __global__ void join_parts(T* out, const A* sums, const Key* keys, i64 count, i64 how) {
  const Joined combine = {how};
  join_long_runs(sums, keys, 1, count, combine, [&](i64 i, i64, A sum) {
    T& to = out[keys[i]];
    to = put((C)combine((A)get(to), sum));
  });
}
// Whether `v` takes the place of `old`: NaN is beyond all, and of zeros the one with the sign that says so.
__device__ inline bool is_beyond(C v, C old, i64 greatest) {
  if (old != old || v != v) return old == old;
  if (v == old) return v == 0 && (greatest ? 1 / (double)v > 1 / (double)old : 1 / (double)v < 1 / (double)old);
  return greatest ? v > old : v < old;
}
template <int bytes> struct Word { typedef u32 type; };
template <> struct Word<8> { typedef u64 type; };
extern "C" __global__ void find_extremes(T* out, const T* src, const void* index, const Walk w, i64 size, i64 count,
                                         i64 greatest, DeviceAssertion* assertion) {
  typedef Word<sizeof(T)>::type Bits;
  if (sizeof(T) != sizeof(Bits)) return;
  for (i64 n = blockIdx.x * (i64)blockDim.x + threadIdx.x; n < count; n += (i64)gridDim.x * blockDim.x) {
    const i64 at = checked(w.wide ? ((const i64*)index)[n] : ((const int*)index)[n], size, 0, assertion);
    const Place place = place_of(w, n);
    const T v = src[place.from];
    Bits* const to = (Bits*)(out + place.to + at * w.out[w.dim]);
    Bits mine = 0, old = *(volatile Bits*)to;
    memcpy(&mine, &v, sizeof(T));
    for (;;) {
      T there;
      memcpy(&there, &old, sizeof(T));
      if (!is_beyond(get(v), get(there), greatest)) break;
      const Bits found = atomicCAS(to, old, mine);
      if (found == old) break;
      old = found;
    }
  }
}
// Four elements of a block's thread, so that it waits for them together: `use(place, value)` for each.
template <class F> __device__ inline void each_of(const T* src, const void* index, const Walk& w, i64 size, i64 begin,
                                                  i64 end, i64 step, DeviceAssertion* assertion, const F& use) {
  for (i64 first = begin + threadIdx.x; first < end; first += step) {
    i64 at[4], place[4];
    T value[4];
#pragma unroll
    for (int k = 0; k < 4; k++) {
      const i64 n = first + k * 256;
      if (n >= end) continue;
      at[k] = w.wide ? ((const i64*)index)[n] : ((const int*)index)[n];
      const Place p = place_of(w, n);
      value[k] = src[p.from], place[k] = p.to;
    }
#pragma unroll
    for (int k = 0; k < 4; k++) {
      if (first + k * 256 >= end) continue;
      use(place[k] + checked(at[k], size, 0, assertion) * w.out[w.dim], value[k]);
    }
  }
}
// Into few places through the block's own sums.
extern "C" __global__ void add_integers(T* out, const T* src, const void* index, const Walk w, i64 size, i64 places,
                                        i64 count, DeviceAssertion* assertion) {
  __shared__ T own[4096];
  const bool few = places <= 4096;
  for (int i = threadIdx.x; few && i < places; i += blockDim.x) own[i] = 0;
  __syncthreads();
  const auto use = [&](i64 place, T v) {
    if (few) add_atomically(own + place, v);
    else add_atomically(out + place, v);
  };
  each_of(src, index, w, size, blockIdx.x * (i64)1024, count, gridDim.x * (i64)1024, assertion, use);
  __syncthreads();
  for (int i = threadIdx.x; few && i < places; i += blockDim.x)
    if (own[i]) add_atomically(out + i, own[i]);
}
)" THUNDER_CUDA_FIXED_POINT R"(
extern "C" __global__ void raise_exponents(u32* exponents, const T* src, const void* index, const Walk w, i64 size,
                                           i64 places, i64 count, DeviceAssertion* assertion) {
  __shared__ u32 own[4096];
  const bool few = places <= 4096;
  for (int i = threadIdx.x; few && i < places; i += blockDim.x) own[i] = 0;
  __syncthreads();
  const auto use = [&](i64 place, T v) {
    if (few) raise(own + place, exponent_of((float)get(v)));
    else raise(exponents + place, exponent_of((float)get(v)));
  };
  each_of(src, index, w, size, blockIdx.x * (i64)1024, count, gridDim.x * (i64)1024, assertion, use);
  __syncthreads();
  for (int i = threadIdx.x; few && i < places; i += blockDim.x)
    if (own[i]) raise(exponents + i, own[i]);
}
extern "C" __global__ void add_in_units(i64* sums, const u32* exponents, const T* src, const void* index, const Walk w,
                                        i64 size, i64 places, i64 count, i64 bits, DeviceAssertion* assertion) {
  __shared__ i64 own[4096];
  const bool few = places <= 4096;
  for (int i = threadIdx.x; few && i < places; i += blockDim.x) own[i] = 0;
  __syncthreads();
  const auto use = [&](i64 place, T v) {
    const i64 units = in_units((float)get(v), exponents[place], bits);
    if (few) add_to_shared(own + place, units);
    else if (units) atomicAdd((u64*)sums + place, (u64)units);
  };
  each_of(src, index, w, size, blockIdx.x * (i64)1024, count, gridDim.x * (i64)1024, assertion, use);
  __syncthreads();
  for (int i = threadIdx.x; few && i < places; i += blockDim.x)
    if (own[i]) atomicAdd((u64*)sums + i, (u64)own[i]);
}
__device__ inline void put_sum(T* out, i64 sum, u32 exponent, i64 bits) {
  if (exponent) *out = put((C)((double)get(*out) + real_sum(sum, exponent, bits)));
}
extern "C" __global__ void put_sums(T* out, const i64* sums, const u32* exponents, i64 places, i64 bits) {
  for (i64 i = blockIdx.x * (i64)blockDim.x + threadIdx.x; i < places; i += (i64)gridDim.x * blockDim.x)
    put_sum(out + i, sums[i], exponents[i], bits);
}
// A block for the lines of `each` elements of the source, which go to so many places of their own.
extern "C" __global__ void add_lines(T* out, const T* src, const void* index, const Walk w, i64 size, i64 each,
                                     i64 places, i64 count, i64 bits, DeviceAssertion* assertion) {
  __shared__ i64 sums[4096];
  __shared__ u32 exponents[4096];
  for (i64 begin = blockIdx.x * each; begin < count; begin += gridDim.x * each) {
    const i64 end = begin + each < count ? begin + each : count, base = place_of(w, begin).to;
    for (int i = threadIdx.x; i < places; i += blockDim.x) sums[i] = 0, exponents[i] = 0;
    __syncthreads();
    each_of(src, index, w, size, begin, end, 1024, assertion,
            [&](i64 place, T v) { raise(exponents + (place - base), exponent_of((float)get(v))); });
    __syncthreads();
    each_of(src, index, w, size, begin, end, 1024, assertion, [&](i64 place, T v) {
      add_to_shared(sums + (place - base), in_units((float)get(v), exponents[place - base], bits));
    });
    __syncthreads();
    for (int i = threadIdx.x; i < places; i += blockDim.x) put_sum(out + base + i, sums[i], exponents[i], bits);
    __syncthreads();
  }
}
)";

}  // namespace thunder::cuda_kernels
