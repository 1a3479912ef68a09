// Ten kernels as an emitter would write them, for both compilers: no headers, 16-byte accesses, sums in a fixed order. Tensors of
// bf16 are [rows, columns], dense; a block has a row where rows are reduced. ONLY: the
// number of the one that is compiled. `columns` is a multiple of 8 and at most 8192.
typedef unsigned int u32;
typedef unsigned short u16;
typedef long long i64;

#ifdef __clang__  // without CUDA's headers
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __launch_bounds__(n) __attribute__((launch_bounds(n)))
#define TID __nvvm_read_ptx_sreg_tid_x()
#define BLOCK __nvvm_read_ptx_sreg_ctaid_x()
#define SIZE __nvvm_read_ptx_sreg_ntid_x()
#define BARRIER __syncthreads()
#define SHUFFLE(v, n) __nvvm_shfl_sync_bfly_f32(0xffffffffu, v, n, 31)
extern "C" __device__ float __nv_expf(float);
extern "C" __device__ float __nv_tanhf(float);
extern "C" __device__ float __nv_logf(float);
extern "C" __device__ float __nv_rsqrtf(float);
extern "C" __device__ float __nv_sqrtf(float);
#define expf __nv_expf
#define tanhf __nv_tanhf
#define logf __nv_logf
#define rsqrtf __nv_rsqrtf
#define sqrtf __nv_sqrtf
#define BITS(f) __builtin_bit_cast(u32, (float)(f))
#define FLOAT(u) __builtin_bit_cast(float, (u32)(u))
#else
#define TID threadIdx.x
#define BLOCK blockIdx.x
#define SIZE blockDim.x
#define BARRIER __syncthreads()
#define SHUFFLE(v, n) __shfl_xor_sync(0xffffffffu, v, n)
#define BITS(f) __float_as_uint(f)
#define FLOAT(u) __uint_as_float(u)
#endif

struct alignas(16) Four {
  u32 at[4];
};
struct Eight {
  float at[8];
};

static __device__ inline u32 rounded(float v) {
  const u32 bits = BITS(v);
  return (v != v ? bits | 0x400000u : bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
}
static __device__ inline Eight load(const u16* p, i64 i) {
  const Four four = ((const Four*)p)[i];
  Eight out;
  for (int k = 0; k < 4; k++) out.at[2 * k] = FLOAT(four.at[k] << 16), out.at[2 * k + 1] = FLOAT(four.at[k] & 0xffff0000u);
  return out;
}
static __device__ inline void store(u16* p, i64 i, const Eight& v) {
  Four four;
  for (int k = 0; k < 4; k++) four.at[k] = rounded(v.at[2 * k]) | rounded(v.at[2 * k + 1]) << 16;
  ((Four*)p)[i] = four;
}
struct Sum {
  static __device__ inline float of(float a, float b) { return a + b; }
};
struct Most {
  static __device__ inline float of(float a, float b) { return a > b ? a : b; }
};
// Of all threads of a block, whose number is a multiple of 32; every thread gets it.
template <class Op> static __device__ inline float reduce(float v) {
  __shared__ float parts[32];
  for (int n = 16; n; n /= 2) v = Op::of(v, SHUFFLE(v, n));
  BARRIER;
  if (TID % 32 == 0) parts[TID / 32] = v;
  BARRIER;
  v = parts[0];
  for (int w = 1; w < (int)SIZE / 32; w++) v = Op::of(v, parts[w]);
  return v;
}

constexpr float kCube = 0.044715f, kRoot = 0.7978845608f;
constexpr int kThreads = 256, kMost = 4;  // vectors of eight that a thread has of a row

#define KERNEL extern "C" __global__ void __launch_bounds__(256)
#define EACH for (int k = 0; k < 8; k++)
#define ROW(...) _Pragma("unroll") for (int j = 0; j < kMost; j++) { const int at = j * kThreads + (int)TID; if (at < columns / 8) { __VA_ARGS__ } }

#if !defined(ONLY) || ONLY == 0
KERNEL gelu(const u16* __restrict__ x, const u16* __restrict__, const u16* __restrict__, u16* __restrict__ y, float*, int rows, int columns) {
  const i64 i = (i64)BLOCK * kThreads + TID;
  if (i * 8 >= (i64)rows * columns) return;
  Eight v = load(x, i);
  EACH v.at[k] = 0.5f * v.at[k] * (1 + tanhf(kRoot * (v.at[k] + kCube * v.at[k] * v.at[k] * v.at[k])));
  store(y, i, v);
}
#endif
#if !defined(ONLY) || ONLY == 1
KERNEL gelu_backward(const u16* __restrict__ x, const u16* __restrict__ g, const u16* __restrict__, u16* __restrict__ y, float*, int rows, int columns) {
  const i64 i = (i64)BLOCK * kThreads + TID;
  if (i * 8 >= (i64)rows * columns) return;
  Eight v = load(x, i), d = load(g, i);
  EACH {
    const float a = v.at[k], t = tanhf(kRoot * (a + kCube * a * a * a));
    d.at[k] *= 0.5f * (1 + t) + 0.5f * a * (1 - t * t) * kRoot * (1 + 3 * kCube * a * a);
  }
  store(y, i, d);
}
#endif
#if !defined(ONLY) || ONLY == 2
KERNEL swiglu(const u16* __restrict__ x, const u16* __restrict__ g, const u16* __restrict__, u16* __restrict__ y, float*, int rows, int columns) {
  const i64 i = (i64)BLOCK * kThreads + TID;
  if (i * 8 >= (i64)rows * columns) return;
  Eight v = load(x, i), d = load(g, i);
  EACH d.at[k] *= v.at[k] / (1 + expf(-v.at[k]));
  store(y, i, d);
}
#endif
#if !defined(ONLY) || ONLY == 3
KERNEL layer_norm(const u16* __restrict__ x, const u16* __restrict__ w, const u16* __restrict__ b, u16* __restrict__ y, float*, int rows, int columns) {
  const i64 row = (i64)BLOCK * (columns / 8);
  Eight v[kMost];
  float sum = 0, squares = 0;
  ROW(v[j] = load(x, row + at); EACH sum += v[j].at[k];)
  const float mean = reduce<Sum>(sum) / columns;
  ROW(EACH squares += (v[j].at[k] - mean) * (v[j].at[k] - mean);)
  const float scale = rsqrtf(reduce<Sum>(squares) / columns + 1e-5f);
  ROW(const Eight weight = load(w, at), bias = load(b, at); EACH v[j].at[k] = (v[j].at[k] - mean) * scale * weight.at[k] + bias.at[k]; store(y, row + at, v[j]);)
}
#endif
#if !defined(ONLY) || ONLY == 4
KERNEL layer_norm_backward(const u16* __restrict__ x, const u16* __restrict__ w, const u16* __restrict__ g, u16* __restrict__ y, float*, int rows, int columns) {
  const i64 row = (i64)BLOCK * (columns / 8);
  Eight v[kMost], d[kMost];
  float sum = 0, squares = 0, first = 0, second = 0;
  ROW(v[j] = load(x, row + at); EACH sum += v[j].at[k];)
  const float mean = reduce<Sum>(sum) / columns;
  ROW(EACH squares += (v[j].at[k] - mean) * (v[j].at[k] - mean);)
  const float scale = rsqrtf(reduce<Sum>(squares) / columns + 1e-5f);
  ROW(d[j] = load(g, row + at); const Eight weight = load(w, at);
      EACH { v[j].at[k] = (v[j].at[k] - mean) * scale; d[j].at[k] *= weight.at[k]; first += d[j].at[k]; second += d[j].at[k] * v[j].at[k]; })
  const float a = reduce<Sum>(first) / columns, c = reduce<Sum>(second) / columns;
  ROW(EACH d[j].at[k] = scale * (d[j].at[k] - a - v[j].at[k] * c); store(y, row + at, d[j]);)
}
#endif
#if !defined(ONLY) || ONLY == 5
KERNEL rms_norm(const u16* __restrict__ x, const u16* __restrict__ w, const u16* __restrict__, u16* __restrict__ y, float*, int rows, int columns) {
  const i64 row = (i64)BLOCK * (columns / 8);
  Eight v[kMost];
  float squares = 0;
  ROW(v[j] = load(x, row + at); EACH squares += v[j].at[k] * v[j].at[k];)
  const float scale = rsqrtf(reduce<Sum>(squares) / columns + 1e-6f);
  ROW(const Eight weight = load(w, at); EACH v[j].at[k] *= scale * weight.at[k]; store(y, row + at, v[j]);)
}
#endif
#if !defined(ONLY) || ONLY == 6
KERNEL softmax(const u16* __restrict__ x, const u16* __restrict__, const u16* __restrict__, u16* __restrict__ y, float*, int rows, int columns) {
  const i64 row = (i64)BLOCK * (columns / 8);
  Eight v[kMost];
  float most = -FLOAT(0x7f800000u), sum = 0;
  ROW(v[j] = load(x, row + at); EACH most = Most::of(most, v[j].at[k]);)
  most = reduce<Most>(most);
  ROW(EACH { v[j].at[k] = expf(v[j].at[k] - most); sum += v[j].at[k]; })
  const float scale = 1 / reduce<Sum>(sum);
  ROW(EACH v[j].at[k] *= scale; store(y, row + at, v[j]);)
}
#endif
#if !defined(ONLY) || ONLY == 7
KERNEL softmax_backward(const u16* __restrict__ x, const u16* __restrict__ g, const u16* __restrict__, u16* __restrict__ y, float*, int rows, int columns) {
  const i64 row = (i64)BLOCK * (columns / 8);
  Eight v[kMost], d[kMost];
  float dot = 0;
  ROW(v[j] = load(x, row + at); d[j] = load(g, row + at); EACH dot += v[j].at[k] * d[j].at[k];)
  dot = reduce<Sum>(dot);
  ROW(EACH d[j].at[k] = v[j].at[k] * (d[j].at[k] - dot); store(y, row + at, d[j]);)
}
#endif
#if !defined(ONLY) || ONLY == 8
// The loss of each row, of class 3; the row is read once.
KERNEL cross_entropy(const u16* __restrict__ x, const u16* __restrict__, const u16* __restrict__, u16* __restrict__, float* losses, int rows, int columns) {
  const i64 row = (i64)BLOCK * (columns / 8);
  float most = -FLOAT(0x7f800000u), sum = 0;
  for (int at = TID; at < columns / 8; at += kThreads) {
    const Eight v = load(x, row + at);
    float here = v.at[0];
    EACH here = Most::of(here, v.at[k]);
    const float more = Most::of(most, here);
    sum *= expf(most - more);
    EACH sum += expf(v.at[k] - more);
    most = more;
  }
  const float all = reduce<Most>(most);
  const float total = reduce<Sum>(sum * expf(most - all));
  if (TID == 0) losses[BLOCK] = logf(total) + all - FLOAT((u32)x[row * 8 + 3] << 16);
}
#endif
#if !defined(ONLY) || ONLY == 9
// One step of AdamW: x gradients of bf16; y weights of bf16; state: first moments, second moments.
KERNEL adamw(const u16* __restrict__ x, const u16* __restrict__, const u16* __restrict__, u16* __restrict__ y, float* __restrict__ state, int rows, int columns) {
  const i64 i = (i64)BLOCK * kThreads + TID, count = (i64)rows * columns;
  if (i * 8 >= count) return;
  const Eight g = load(x, i);
  Eight w = load(y, i);
  Four* first = (Four*)state + 2 * i;
  Four* second = (Four*)(state + count) + 2 * i;
  for (int h = 0; h < 2; h++) {
    Four m = first[h], v = second[h];
    for (int k = 0; k < 4; k++) {
      const float d = g.at[4 * h + k], a = 0.9f * FLOAT(m.at[k]) + 0.1f * d, b = 0.999f * FLOAT(v.at[k]) + 0.001f * d * d;
      m.at[k] = BITS(a), v.at[k] = BITS(b);
      float& weight = w.at[4 * h + k];
      weight = weight * (1 - 1e-5f) - 1e-3f * (a * 1.111f) / (sqrtf(b * 1.001f) + 1e-8f);
    }
    first[h] = m, second[h] = v;
  }
  store(y, i, w);
}
#endif
