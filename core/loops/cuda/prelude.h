// The beginning of every kernel's text: kCudaNarrowReals, then kCudaPrelude. Functions are named after those of a nest,
// and mean what ops/ says they do.
#pragma once

namespace thunder::loops {

// The 16-bit reals in memory, as float and back.
constexpr char kCudaNarrowReals[] = R"(// bf16 in memory: the upper half of a float, rounded to nearest even.
__device__ inline float from_bf16(unsigned short v) { return __uint_as_float((unsigned)v << 16); }
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
__device__ inline unsigned short to_bf16(float v) {
  unsigned short bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(v));
  return bits;
}
#else
__device__ inline unsigned short to_bf16(float v) {
  const unsigned bits = __float_as_uint(v);
  return (unsigned short)((v != v ? bits | 0x400000u : bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
#endif
__device__ inline float round_bf16(float v) { return from_bf16(to_bf16(v)); }
// f16 in memory, rounded to nearest even.
#ifdef __CUDA_ARCH__
__device__ inline float from_f16(unsigned short v) {
  float out;
  asm("cvt.f32.f16 %0, %1;" : "=f"(out) : "h"(v));
  return out;
}
__device__ inline unsigned short to_f16(float v) {
  unsigned short bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(v));
  return bits;
}
#else
inline float from_f16(unsigned short v) {
  _Float16 half;
  __builtin_memcpy(&half, &v, 2);
  return half;
}
inline unsigned short to_f16(float v) {
  const _Float16 half = v;
  unsigned short bits;
  __builtin_memcpy(&bits, &half, 2);
  return bits;
}
#endif
__device__ inline float round_f16(float v) { return from_f16(to_f16(v)); }
)";

constexpr char kCudaPrelude[] = R"(typedef long long i64;
typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;
struct DeviceAssertion { i64 expr, index; };

// Neighbouring elements that a thread reads or writes at once, in 16 bytes where the memory is aligned to them.
template <class T, int n> struct alignas(sizeof(T) * n < 16 ? sizeof(T) * n : 16) Pack { T at[n]; };
template <class T, int n> __device__ inline Pack<T, n> load_pack(const T* from, bool aligned) {
  Pack<T, n> p;
  if (aligned) return *(const Pack<T, n>*)from;
  for (int i = 0; i < n; i++) p.at[i] = from[i];
  return p;
}
template <class T, int n> __device__ inline void store_pack(T* to, const Pack<T, n>& p, bool aligned) {
  if (aligned) *(Pack<T, n>*)to = p;
  else for (int i = 0; i < n; i++) to[i] = p.at[i];
}

// Reals to integers saturate in the widest one; NaN becomes zero.
template <class T> __device__ inline i64 to_integer(T v) {
  if (v != v) return 0;
  if (v >= (T)9223372036854775808.0) return 9223372036854775807LL;
  return v < (T)-9223372036854775808.0 ? (-9223372036854775807LL - 1) : (i64)v;
}
// Above zero u64 has more numbers.
template <class T> __device__ inline u64 to_unsigned(T v) {
  if (!(v >= (T)9223372036854775808.0)) return (u64)to_integer(v);
  return v < (T)18446744073709551616.0 ? (u64)v : ~0ULL;
}
template <class T> __device__ inline T greater(T a, T b) { return a > b || a != a ? a : b; }
template <class T> __device__ inline T lesser(T a, T b) { return a < b || a != a ? a : b; }
template <class T> __device__ inline T sign(T v) { return (T)((v > (T)0) - (v < (T)0)); }

// The greatest element of a row and where it is: of equal ones the first, NaN before all.
template <class T, class I> struct Best { T value; I at; };
template <class T, class I> __device__ inline Best<T, I> better(Best<T, I> a, Best<T, I> b) {
  const bool greater = (b.value > a.value || b.value != b.value) && a.value == a.value;
  const bool same = a.value == b.value || (a.value != a.value && b.value != b.value);
  return greater || (same && b.at < a.at) ? b : a;
}

// Philox4x32-10: bit for bit what the CPU draws.
__device__ inline void philox(u64 block, u64 draw, u64 seed, u32 (&c)[4]) {
  c[0] = (u32)block, c[1] = (u32)(block >> 32), c[2] = (u32)(draw >> 32), c[3] = (u32)draw;
  u32 k0 = (u32)seed, k1 = (u32)(seed >> 32);
  for (int round = 0; round < 10; round++, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
    const u64 p0 = (u64)0xD2511F53u * c[0], p1 = (u64)0xCD9E8D57u * c[2];
    const u32 c1 = c[1], c3 = c[3];
    c[0] = (u32)(p1 >> 32) ^ c1 ^ k0, c[1] = (u32)p1, c[2] = (u32)(p0 >> 32) ^ c3 ^ k1, c[3] = (u32)p0;
  }
}
// The words of one block, of which neighbouring elements need one or two each.
struct Draws {
  u64 block = ~0ULL;
  u32 c[4];
  __device__ void find(u64 wanted, i64 seed, i64 call, i64 ordinal) {
    if (block == wanted) return;
    block = wanted;
    philox(block, (u64)call + (u64)ordinal, (u64)seed, c);
  }
  __device__ u32 bits32(i64 n, i64 seed, i64 call, i64 ordinal) {
    find((u64)n >> 2, seed, call, ordinal);
    return n & 2 ? (n & 1 ? c[3] : c[2]) : (n & 1 ? c[1] : c[0]);
  }
  __device__ u64 bits64(i64 n, i64 seed, i64 call, i64 ordinal) {
    find((u64)n >> 1, seed, call, ordinal);
    return n & 1 ? c[2] | (u64)c[3] << 32 : c[0] | (u64)c[1] << 32;
  }
};
__device__ inline u32 bits32(i64 n, i64 seed, i64 call, i64 ordinal) {
  Draws draws;
  return draws.bits32(n, seed, call, ordinal);
}
__device__ inline float uniform_f32(Draws& draws, i64 n, i64 seed, i64 call, i64 ordinal) {
  return (float)(draws.bits32(n, seed, call, ordinal) >> 8) * 0x1p-24f;
}
__device__ inline float uniform_bf16(Draws& draws, i64 n, i64 seed, i64 call, i64 ordinal) {
  return (float)(draws.bits32(n, seed, call, ordinal) >> 24) * 0x1p-8f;
}
__device__ inline float uniform_f16(Draws& draws, i64 n, i64 seed, i64 call, i64 ordinal) {
  return (float)(draws.bits32(n, seed, call, ordinal) >> 21) * 0x1p-11f;
}
__device__ inline double uniform_f64(Draws& draws, i64 n, i64 seed, i64 call, i64 ordinal) {
  return (double)(draws.bits64(n, seed, call, ordinal) >> 11) * 0x1p-53;
}

// The first index out of range that a thread saw; element 0 stands for it.
__device__ inline i64 checked(i64 index, i64 size, i64 expr, DeviceAssertion* assertion) {
  if ((u64)index < (u64)size) return index;
  if (atomicCAS((u64*)&assertion->expr, (u64)-1, (u64)expr) == (u64)-1) assertion->index = index;
  return 0;
}
// Of integers: towards zero. A divisor of zero is reported; the least integer divided by -1 wraps around.
template <class T> __device__ inline T quotient(T a, T b, i64 expr, DeviceAssertion* assertion) {
  if (b == 0) return (T)checked(-1, 1, expr, assertion);
  return (T)-1 < 0 && b == (T)-1 ? (T)(0 - (u64)a) : (T)(a / b);
}
template <class T> __device__ inline T remainder_of(T a, T b, i64 expr, DeviceAssertion* assertion) {
  if (b == 0) return (T)checked(-1, 1, expr, assertion);
  return (T)-1 < 0 && b == (T)-1 ? (T)0 : (T)(a % b);
}
)";

// Behind it, in kernels whose threads reduce rows together.
constexpr char kCudaRowsPrelude[] = R"(
template <class T> __device__ inline T from_lane(T v, int lane) {
  int words[(sizeof(T) + 3) / 4];
  memcpy(words, &v, sizeof(T));
  for (int i = 0; i < (int)(sizeof(words) / 4); i++) words[i] = __shfl_sync(0xffffffffu, words[i], lane);
  memcpy(&v, words, sizeof(T));
  return v;
}
// The results of a warp as one, which each of its threads gets: always in the same order.
template <class T, class F> __device__ inline T of_warp(T mine, F combine) {
  for (int n = 16; n > 0; n /= 2) mine = combine(mine, from_lane(mine, (threadIdx.x & 31) ^ n));
  return from_lane(mine, 0);
}
// The same of a block: its warps in their order.
template <class T, class F> __device__ inline T of_block(T mine, T* shared, F combine) {
  mine = of_warp(mine, combine);
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = mine;
  __syncthreads();
  T all = shared[0];
  for (int w = 1; w < (int)blockDim.x / 32; w++) all = combine(all, shared[w]);
  __syncthreads();
  return all;
}
)";

// Behind it, in kernels whose blocks take tiles of columns, or join parts of rows.
constexpr char kCudaColumnsPrelude[] = R"(
// Threads stand in groups of `lanes`, each with results of n columns of its own: the results of all groups as one,
// which every thread gets, always in the same order.
template <class T, int n, int lanes, class F> __device__ inline void of_groups(T* mine, T* shared, F combine) {
  const int columns = n * lanes, at = (int)threadIdx.x % lanes * n;
  for (int v = 0; v < n; v++) shared[(int)threadIdx.x / lanes * columns + at + v] = mine[v];
  __syncthreads();
  for (int half = (int)blockDim.x / lanes / 2; half > 0; half /= 2) {
    for (int k = threadIdx.x; k < half * columns; k += blockDim.x)
      shared[k] = combine(shared[k], shared[half * columns + k]);
    __syncthreads();
  }
  for (int v = 0; v < n; v++) mine[v] = shared[at + v];
  __syncthreads();
}
)";

// Behind it, in kernels that keep rows in shared memory; emulations of a device have static memory.
constexpr char kCudaKeptPrelude[] = R"(
#ifdef __CUDA_ARCH__
extern __shared__ __align__(16) u8 kept[];
#else
alignas(16) static u8 kept[99 << 10];
#endif
)";

}  // namespace thunder::loops
