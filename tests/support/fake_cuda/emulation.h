// What a kernel's text sees instead of CUDA's own declarations when it is compiled for the host; kept as text by compiler.cpp.
#define __global__
#define __device__
#define __host__
#define __shared__ static
#define __restrict__ __restrict
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)
#define __forceinline__ inline

#include <math.h>
#include <string.h>

struct fake_dim3 {
  unsigned x, y, z;
};
// The driver sets these while it runs a block; a thread is a fiber of one host thread.
extern "C" {
extern fake_dim3 fake_thread, fake_block, fake_threads, fake_blocks;
extern void (*fake_barrier)();
}
#define threadIdx fake_thread
#define blockIdx fake_block
#define blockDim fake_threads
#define gridDim fake_blocks

inline void __syncthreads() { fake_barrier(); }
template <class To, class From>
inline To fake_bits(From v) {
  To out;
  memcpy(&out, &v, sizeof out);
  return out;
}
inline int __syncthreads_count(int mine) {
  static int values[1024];
  values[fake_thread.x] = mine != 0;
  fake_barrier();
  int count = 0;
  for (unsigned t = 0; t < fake_threads.x; t++) count += values[t];
  fake_barrier();
  return count;
}
inline int __syncthreads_or(int mine) { return __syncthreads_count(mine) != 0; }
inline unsigned fake_place() { return fake_thread.x + fake_threads.x * (fake_thread.y + fake_threads.y * fake_thread.z); }
// The value of another thread of the warp, all of which are here.
template <class T>
inline T __shfl_sync(unsigned, T mine, int lane) {
  static T values[1024];
  values[fake_place()] = mine;
  fake_barrier();
  const T out = values[fake_place() / 32 * 32 + lane];
  fake_barrier();
  return out;
}
template <class T>
inline T __shfl_xor_sync(unsigned mask, T mine, int other) {
  return __shfl_sync(mask, mine, (int)(fake_place() % 32) ^ other);
}
// Which threads of the warp have this value.
inline unsigned __match_any_sync(unsigned, unsigned long long mine) {
  static unsigned long long values[1024];
  values[fake_place()] = mine;
  fake_barrier();
  unsigned same = 0;
  for (unsigned lane = 0; lane < 32; lane++)
    if (values[fake_place() / 32 * 32 + lane] == mine) same |= 1u << lane;
  fake_barrier();
  return same;
}
// Which threads of the warp say yes. Two sets of values take turns, so that one barrier is enough.
inline unsigned __ballot_sync(unsigned, int mine) {
  static unsigned char values[2][1024];
  static unsigned calls[1024];
  unsigned char* const now = values[calls[fake_place()]++ % 2];
  now[fake_place()] = mine != 0;
  fake_barrier();
  unsigned long long lanes[4];
  memcpy(lanes, now + fake_place() / 32 * 32, sizeof(lanes));
  unsigned out = 0;
  for (int i = 0; i < 4; i++) out |= (unsigned)((lanes[i] * 0x0102040810204080ULL) >> 56) << 8 * i;  // a byte of each lane's lowest bits
  return out;
}
inline void __syncwarp() { fake_barrier(); }
inline int __ffs(int v) { return __builtin_ffs(v); }
inline float __uint_as_float(unsigned v) { return fake_bits<float>(v); }
inline unsigned __float_as_uint(float v) { return fake_bits<unsigned>(v); }
inline float __int_as_float(int v) { return fake_bits<float>(v); }
inline int __float_as_int(float v) { return fake_bits<int>(v); }
inline double __longlong_as_double(long long v) { return fake_bits<double>(v); }
inline long long __double_as_longlong(double v) { return fake_bits<long long>(v); }
template <class T>
inline T __ldg(const T* p) {
  return *p;
}
template <class T>
inline T atomicCAS(T* at, T expected, T desired) {
  const T old = *at;
  if (old == expected) *at = desired;
  return old;
}
template <class T>
inline T atomicAdd(T* at, T more) {
  const T old = *at;
  *at = old + more;
  return old;
}
template <class T>
inline T atomicMax(T* at, T value) {
  const T old = *at;
  if (old < value) *at = value;
  return old;
}
template <class T>
inline T atomicOr(T* at, T bits) {
  const T old = *at;
  *at = old | bits;
  return old;
}
template <class T>
inline T atomicExch(T* at, T value) {
  const T old = *at;
  *at = value;
  return old;
}
inline void __threadfence() {}
inline int __popc(unsigned v) { return __builtin_popcount(v); }
inline float rsqrtf(float v) { return 1.0f / sqrtf(v); }
inline double rsqrt(double v) { return 1.0 / sqrt(v); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return (unsigned long long)(((unsigned __int128)a * b) >> 64); }
inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a * b) >> 32); }
template <class T>
inline T min(T a, T b) {
  return b < a ? b : a;
}
template <class T>
inline T max(T a, T b) {
  return a < b ? b : a;
}
