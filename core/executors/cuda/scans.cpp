// Scans and products along a dim: cumsum, cumprod, cummax, cummin, prod. One block scans a row, 256 elements at a time;
// the order in which elements are combined depends on the row's length alone.
#include "executors/cuda/kernel.h"

namespace thunder::cuda_kernels {
namespace {

#define THUNDER_CUDA_SCAN                                                                                             \
  "template <class S, class F> __device__ inline S scan(S v, S carry, S* shared, S& all, F combine) {\n"              \
  "  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;\n"                                                   \
  "  for (int n = 1; n < 32; n *= 2) {\n"                                                                             \
  "    const S before = from_lane(v, lane >= n ? lane - n : lane);\n"                                                 \
  "    if (lane >= n) v = combine(before, v);\n"                                                                      \
  "  }\n"                                                                                                             \
  "  if (lane == 31) shared[warp] = v;\n"                                                                             \
  "  __syncthreads();\n"                                                                                              \
  "  S before = carry;\n"                                                                                             \
  "  all = carry;\n"                                                                                                  \
  "  for (int w = 0; w < (int)blockDim.x / 32; w++) {\n"                                                              \
  "    if (w == warp) before = all;\n"                                                                                \
  "    all = combine(all, shared[w]);\n"                                                                              \
  "  }\n"                                                                                                             \
  "  __syncthreads();\n"                                                                                              \
  "  return combine(before, v);\n"                                                                                    \
  "}\n"

#define THUNDER_CUDA_FOLD(START, COMBINE)                                                                             \
  THUNDER_CUDA_SCAN                                                                                                   \
  "extern \"C\" __global__ void kernel(\n"                                                                            \
  "    T* out, const T* in, i64 rows, i64 size, i64 inner, i64 reverse, i64 whole) {\n"                               \
  "  __shared__ A shared[8];\n"                                                                                       \
  "  for (i64 row = blockIdx.x; row < rows; row += gridDim.x) {\n"                                                    \
  "    const i64 a = row / inner, b = row - a * inner;\n"                                                             \
  "    A carry = " START ";\n"                                                                                        \
  "    for (i64 first = 0; first < size; first += blockDim.x) {\n"                                                    \
  "      const i64 i = first + threadIdx.x, place = (a * size + (reverse ? size - 1 - i : i)) * inner + b;\n"         \
  "      const A mine = i < size ? (A)get(in[place]) : (A)(" START ");\n"                                             \
  "      const A v = scan(mine, carry, shared, carry, [](A x, A y) { return (A)(x " COMBINE " y); });\n"              \
  "      if (i < size && !whole) out[place] = put((C)v);\n"                                                           \
  "    }\n"                                                                                                           \
  "    if (whole && threadIdx.x == 0) out[row] = put((C)carry);\n"                                                    \
  "  }\n"                                                                                                             \
  "}\n"

constexpr char kSum[] = THUNDER_CUDA_FOLD("0", "+");
constexpr char kProduct[] = THUNDER_CUDA_FOLD("1", "*");

// The extremum so far: of equal elements the last one, and a NaN if there was one. `at` is -1 before the first element.
constexpr char kExtremum[] = THUNDER_CUDA_SCAN R"(
struct Top { C value; i64 at; };
extern "C" __global__ void kernel(T* values, i64* indices, const T* in, i64 rows, i64 size, i64 inner, i64 maximum) {
  __shared__ Top shared[8];
  for (i64 row = blockIdx.x; row < rows; row += gridDim.x) {
    const i64 a = row / inner, b = row - a * inner;
    Top carry = {(C)0, -1};
    for (i64 first = 0; first < size; first += blockDim.x) {
      const i64 i = first + threadIdx.x, place = (a * size + i) * inner + b;
      const Top mine = i < size ? Top{get(in[place]), i} : Top{(C)0, -1};
      const Top top = scan(mine, carry, shared, carry, [=](Top x, Top y) {
        if (x.at < 0 || y.at < 0) return x.at < 0 ? y : x;
        const bool beyond = maximum ? y.value >= x.value : y.value <= x.value;
        const bool later = y.value != y.value || (x.value == x.value && beyond);
        return later ? y : x;
      });
      if (i < size) values[place] = put(top.value), indices[place] = top.at;
    }
  }
}
)";

Status* fold(const Kernel& kernel, const Launch& l, int64_t reverse, int64_t whole) {
  const Buffer &in = l.inputs[0], &out = l.outputs[0];
  DimSizes a = sizes_around(in, kernel.node.args[1].i);
  void *to = out.data, *from = in.data;
  int64_t rows = a.outer * a.inner;
  void* parameters[] = {&to, &from, &rows, &a.size, &a.inner, &reverse, &whole};
  return out.elements() ? kernel.launch(rows, true, parameters) : nullptr;
}
Status* run_scan(const Kernel& kernel, const Launch& l) { return fold(kernel, l, kernel.node.args[2].i, 0); }
Status* run_prod(const Kernel& kernel, const Launch& l) { return fold(kernel, l, 0, 1); }

template <int64_t greatest>
Status* run_extremum(const Kernel& kernel, const Launch& l) {
  DimSizes a = sizes_around(l.inputs[0], kernel.node.args[1].i);
  void *values = l.outputs[0].data, *indices = l.outputs[1].data, *from = l.inputs[0].data;
  int64_t rows = a.outer * a.inner, maximum = greatest;
  void* parameters[] = {&values, &indices, &from, &rows, &a.size, &a.inner, &maximum};
  return a.size ? kernel.launch(rows, true, parameters) : nullptr;
}

bool numbers(const NodeView& view) { return first_input(view) != DType::boolean; }

constexpr Rule kRules[] = {
    {"prims.cumsum", numbers, kSum, first_input, nullptr, run_scan},
    {"prims.cumprod", numbers, kProduct, first_input, nullptr, run_scan},
    {"prims.prod", numbers, kProduct, first_input, nullptr, run_prod},
    {"prims.cummax", nullptr, kExtremum, first_input, nullptr, run_extremum<1>},
    {"prims.cummin", nullptr, kExtremum, first_input, nullptr, run_extremum<0>},
};

}  // namespace

std::span<const Rule> scan_rules() { return kRules; }

}  // namespace thunder::cuda_kernels
