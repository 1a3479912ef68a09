// igamma, the incomplete gamma functions: an element a thread, in doubles as ops/defs/incomplete_gamma.cpp has them.
#include "executors/cuda/kernel_rules.h"
#include "ir/prim.h"

namespace thunder::cuda_kernels {
namespace {

constexpr char kIncompleteGamma[] = R"(
__device__ inline double log1p_less_x(double x) {
  if (fabs(x) > 0.02) return log1p(x) - x;
  double sum = 0;
  for (int n = 9; n >= 2; n--) sum = 1.0 / n - x * sum;
  return -x * x * sum;
}
__device__ inline double density(double a, double x) {
  if (a < 20) return exp(a * log(x) - x - lgamma(a + 1));
  const double r = 1 / (a * a), stirling = (1.0 / 12 - r * (1.0 / 360 - r * (1.0 / 1260 - r / 1680))) / a;
  return exp(a * log1p_less_x((x - a) / a) - stirling) / sqrt(6.283185307179586 * a);
}
__device__ inline double lower_by_series(double a, double x) {
  double term = 1, sum = 1;
  for (double n = 1; term > sum * 1.1e-16; n++) term *= x / (a + n), sum += term;
  return sum * density(a, x);
}
__device__ inline double upper_by_series(double a, double x) {
  double factor = 1, sum = 0, term = 1;
  for (double n = 1; fabs(term) > 1.1e-16 * fabs(sum); n++) factor *= -x / n, sum += term = factor / (a + n);
  return -expm1(a * log(x) - lgamma(1 + a)) - a * density(a, x) * exp(x) * sum;
}
__device__ inline double upper_by_fraction(double a, double x) {
  double b = x + 1 - a, c = 1e300, d = 1 / b, value = d, step = 0;
  for (double n = 1; fabs(step - 1) > 1.1e-16 && n < 10000; n++) {
    const double numerator = n * (a - n);
    b += 2;
    d = numerator * d + b, c = b + numerator / c;
    d = 1 / (d == 0 ? 1e-300 : d), c = c == 0 ? 1e-300 : c;
    step = c * d, value *= step;
  }
  return value * a * density(a, x);
}
__device__ inline double by_normal(double a, double x, bool upper) {
  const double step = (x - a) / a, half_square = -log1p_less_x(step);
  const double eta = copysign(sqrt(2 * half_square), step);
  const double series = -1.0 / 3 + eta * (1.0 / 12 - eta * (2.0 / 135 - eta / 864));
  const double first = fabs(eta) < 0.01 ? series : 1 / step - 1 / eta;
  const double rest = exp(-a * half_square) / sqrt(6.283185307179586 * a) * first;
  return 0.5 * erfc((upper ? eta : -eta) * sqrt(a / 2)) + (upper ? rest : -rest);
}
__device__ inline double regularised(double a, double x, bool upper) {
  if (!(a >= 0 && x >= 0) || (a == 0 && x == 0) || (isinf(a) && isinf(x))) return nan("");
  if (a == 0 || isinf(x)) return upper ? 0 : 1;
  if (x == 0 || isinf(a)) return upper ? 1 : 0;
  if (a > 1e6) return by_normal(a, x, upper);
  if (x <= 1.1 && upper && (x <= 0.5 ? -0.4 / log(x) : x * 1.1) >= a) return upper_by_series(a, x);
  const bool near_zero = x <= 1.1 || x <= a;
  const double made = near_zero ? lower_by_series(a, x) : upper_by_fraction(a, x);
  return near_zero == upper ? 1 - made : made;
}
extern "C" __global__ void kernel(T* out, const T* shapes, const T* in, i64 count, i64 upper) {
  for (i64 at = blockIdx.x * (i64)blockDim.x + threadIdx.x; at < count; at += (i64)gridDim.x * blockDim.x)
    out[at] = put(from_real(regularised((double)get(shapes[at]), (double)get(in[at]), upper != 0)));
}
)";

// igamma(input, other, upper)
Status* run(const CompiledNode& kernel, const Launch& l) {
  void *to = l.outputs[0].data, *shapes = l.inputs[0].data, *in = l.inputs[1].data;
  int64_t count = l.outputs[0].elements(), upper = kernel.node.args[2].i;
  void* parameters[] = {&to, &shapes, &in, &count, &upper};
  return kernel.launch(count, false, parameters);
}

constexpr Rule kRules[] = {
    {.op = name(Prim::igamma), .text = kIncompleteGamma, .element = first_input_dtype, .run = run}};

}  // namespace

extern const Rules incomplete_gamma_rules = kRules;

}  // namespace thunder::cuda_kernels
