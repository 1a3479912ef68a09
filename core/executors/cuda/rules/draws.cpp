// Random numbers other than uniform reals, from the same bits as on the CPU: philox() of loops/cuda/prelude.h.
#include "executors/cuda/kernel_rules.h"
#include "ir/prim.h"

namespace thunder::cuda_kernels {
namespace {

// M. J. Wichura, algorithm AS 241, as ops/philox.h has it.
constexpr char kNormal[] = R"(
__device__ inline double horner(const double (&c)[8], double r) {
  return ((((((c[7] * r + c[6]) * r + c[5]) * r + c[4]) * r + c[3]) * r + c[2]) * r + c[1]) * r + c[0];
}
__device__ inline double central_quantile(double q) {
  const double num[8] = {3.3871328727963666080e0, 1.3314166789178437745e+2, 1.9715909503065514427e+3,
                         1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
                         3.3430575583588128105e+4, 2.5090809287301226727e+3};
  const double den[8] = {1.0, 4.2313330701600911252e+1, 6.8718700749205790830e+2, 5.3941960214247511077e+3,
                         2.1213794301586595867e+4, 3.9307895800092710610e+4, 2.8729085735721942674e+4,
                         5.2264952788528545610e+3};
  const double r = 0.180625 - q * q;
  return q * (horner(num, r) / horner(den, r));
}
__device__ inline double tail_quantile(double p) {
  const double q = p - 0.5, r = sqrt(-log(q < 0 ? p : 1 - p));
  double x;
  if (r <= 5) {
    const double num[8] = {1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0,
                           3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1,
                           2.27238449892691845833e-2, 7.74545014278341407640e-4};
    const double den[8] = {1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
                           1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4,
                           1.05075007164441684324e-9};
    x = horner(num, r - 1.6) / horner(den, r - 1.6);
  } else {
    const double num[8] = {6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0,
                           2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                           2.71155556874348757815e-5, 2.01033439929228813265e-7};
    const double den[8] = {1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
                           7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
                           2.04426310338993978564e-15};
    x = horner(num, r - 5) / horner(den, r - 5);
  }
  return q < 0 ? -x : x;
}
// A block draws 1024 numbers at a time. The 15 % far from the middle take three times as long as others: they are put
// in a row first, so that whole warps compute them.
extern "C" __global__ void kernel(T* out, const i64* state, i64 step, i64 ordinal, i64 count) {
  __shared__ T drawn[1024];
  __shared__ double far[1024];
  __shared__ unsigned short far_at[1024];
  __shared__ u32 n_far;
  const i64 seed = state[0], call = state[step];
  const int own = threadIdx.x;
  for (i64 of_block = 1024 * (i64)blockIdx.x; of_block < count; of_block += 1024 * (i64)gridDim.x) {
    const i64 first = of_block + 4 * own;
    if (own == 0) n_far = 0;
    __syncthreads();
    Draws draws;
#pragma unroll
    for (int k = 0; k < 4; k++) {
      const double p = sizeof(C) == 8 ? ((double)(draws.bits64(first + k, seed, call, ordinal) >> 12) + 0.5) * 0x1p-52
                                      : ((double)draws.bits32(first + k, seed, call, ordinal) + 0.5) * 0x1p-32;
      const double q = p - 0.5;
      if (fabs(q) <= 0.425) {
        drawn[4 * own + k] = put((C)central_quantile(q));
      } else {
        const u32 at = atomicAdd(&n_far, 1u);
        far[at] = p, far_at[at] = (unsigned short)(4 * own + k);
      }
    }
    __syncthreads();
    for (u32 i = own; i < n_far; i += 256) drawn[far_at[i]] = put((C)tail_quantile(far[i]));
    __syncthreads();
    Pack<T, 4> values;
#pragma unroll
    for (int k = 0; k < 4; k++) values.at[k] = drawn[4 * own + k];
    if (first + 4 <= count) store_pack<T, 4>(out + first, values, ((u64)out & 15) == 0);
    else
      for (int k = 0; first + k < count; k++) out[first + k] = values.at[k];
  }
}
)";

constexpr char kIntegers[] = R"(
extern "C" __global__ void kernel(T* out, const i64* state, i64 step, i64 ordinal, i64 low, u64 range, i64 count) {
  const i64 seed = state[0], call = state[step];
  for (i64 at = blockIdx.x * (i64)blockDim.x + threadIdx.x; at < count; at += (i64)gridDim.x * blockDim.x) {
    Draws draws;
    out[at] = low + (i64)__umul64hi(draws.bits64(at, seed, call, ordinal), range);
  }
}
)";

// philox_normal(state, ordinal, shape, dtype)
Status* run_normal(const CompiledNode& kernel, const Launch& l) {
  void *to = l.outputs[0].data, *state = l.inputs[0].data;
  int64_t step = l.inputs[0].strides[0], ordinal = kernel.node.args[1].i, count = l.outputs[0].elements();
  void* parameters[] = {&to, &state, &step, &ordinal, &count};
  constexpr int64_t kEach = 1024;  // elements of a block
  return kernel.launch((count + kEach - 1) / kEach, true, parameters);
}

// philox_randint(state, ordinal, low, high, shape)
Status* run_integers(const CompiledNode& kernel, const Launch& l) {
  void *to = l.outputs[0].data, *state = l.inputs[0].data;
  const std::span<const Arg> args = kernel.node.args;
  int64_t step = l.inputs[0].strides[0], ordinal = args[1].i, low = args[2].i, count = l.outputs[0].elements();
  uint64_t range = static_cast<uint64_t>(args[3].i) - static_cast<uint64_t>(low);
  void* parameters[] = {&to, &state, &step, &ordinal, &low, &range, &count};
  return kernel.launch(count, false, parameters);
}

constexpr Rule kRules[] = {
    {.op = name(Prim::philox_normal), .text = kNormal, .element = first_result_dtype, .run = run_normal},
    {.op = name(Prim::philox_randint), .text = kIntegers, .element = first_result_dtype, .run = run_integers},
};

}  // namespace

extern const Rules draws_rules = kRules;

}  // namespace thunder::cuda_kernels
