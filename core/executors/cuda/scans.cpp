// Scans and products along a dim: cumsum, cumprod, cummax, cummin, prod. One block scans a row, 256 elements at a time,
// or a part of it: what the parts come to is scanned next, and then each part again from what those before it come to.
// The order in which elements are combined depends on the sizes alone.
#include <algorithm>

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
  "    T* out, const T* in, A* totals, i64 rows, i64 size, i64 inner, i64 reverse, i64 whole, i64 parts, i64 each,\n" \
  "    i64 first_time) {\n"                                                                                           \
  "  __shared__ A shared[8];\n"                                                                                       \
  "  for (i64 work = blockIdx.x; work < rows * parts; work += gridDim.x) {\n"                                         \
  "    const i64 row = work / parts, part = work - row * parts, a = row / inner, b = row - a * inner;\n"              \
  "    const i64 end = (part + 1) * each < size ? (part + 1) * each : size;\n"                                        \
  "    A carry = part && !first_time ? totals[work - 1] : (A)(" START ");\n"                                          \
  "    for (i64 first = part * each; first < end; first += blockDim.x) {\n"                                           \
  "      const i64 i = first + threadIdx.x, place = (a * size + (reverse ? size - 1 - i : i)) * inner + b;\n"         \
  "      const A mine = i < end ? (A)get(in[place]) : (A)(" START ");\n"                                              \
  "      const A v = scan(mine, carry, shared, carry, [](A x, A y) { return (A)(x " COMBINE " y); });\n"              \
  "      if (i < end && !whole && !first_time) out[place] = put((C)v);\n"                                             \
  "    }\n"                                                                                                           \
  "    if (threadIdx.x) continue;\n"                                                                                  \
  "    if (first_time) totals[work] = carry;\n"                                                                       \
  "    else if (whole) out[row] = put((C)carry);\n"                                                                   \
  "  }\n"                                                                                                             \
  "}\n"                                                                                                               \
  "extern \"C\" __global__ void scan_totals(T* out, A* totals, i64 rows, i64 parts, i64 whole) {\n"                   \
  "  __shared__ A shared[8];\n"                                                                                       \
  "  for (i64 row = blockIdx.x; row < rows; row += gridDim.x) {\n"                                                    \
  "    A carry = " START ";\n"                                                                                        \
  "    for (i64 first = 0; first < parts; first += blockDim.x) {\n"                                                   \
  "      const i64 i = first + threadIdx.x;\n"                                                                        \
  "      const A mine = i < parts ? totals[row * parts + i] : (A)(" START ");\n"                                      \
  "      const A v = scan(mine, carry, shared, carry, [](A x, A y) { return (A)(x " COMBINE " y); });\n"              \
  "      if (i < parts) totals[row * parts + i] = v;\n"                                                               \
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

// Of rows that are too few to keep a device busy.
int64_t parts_of(int64_t rows, int64_t size) {
  constexpr int64_t kBlocks = 1024, kLeast = 4096;
  return std::clamp<int64_t>(kBlocks / std::max<int64_t>(1, rows), 1, std::max<int64_t>(1, size / kLeast));
}

size_t fold_scratch(const NodeView& view) {
  const TensorType& t = view.store.type(view.node.args[0].v);
  if (t.rank() == 0) return 0;
  const int64_t all = elements(t.shape).value(), size = t.shape[normalize_axis(view.node.args[1].i, t.rank())].value();
  const int64_t rows = size ? all / size : 0, parts = parts_of(rows, size);
  return parts > 1 ? static_cast<size_t>(rows * parts) * sizeof(double) : 0;
}

Status* fold(const CompiledNode& kernel, const Launch& l, int64_t reverse, int64_t whole) {
  constexpr int64_t kThreads = 256;
  const Buffer &in = l.inputs[0], &out = l.outputs[0];
  if (!out.elements()) return nullptr;
  DimSizes a = sizes_around(in, kernel.node.args[1].i);
  void *to = out.data, *from = in.data, *totals = l.scratch;
  int64_t rows = a.outer * a.inner, parts = parts_of(rows, a.size), first_time = parts > 1;
  int64_t each = ((a.size + parts - 1) / parts + kThreads - 1) / kThreads * kThreads;
  void* parameters[] = {&to, &from, &totals, &rows, &a.size, &a.inner, &reverse, &whole, &parts, &each, &first_time};
  if (Status* failed = kernel.launch(rows * parts, true, parameters); failed || parts == 1) return failed;
  void* scanning[] = {&to, &totals, &rows, &parts, &whole};
  if (Status* failed = kernel.launch(rows, true, scanning, 1); failed || whole) return failed;
  first_time = 0;
  return kernel.launch(rows * parts, true, parameters);
}
Status* run_scan(const CompiledNode& kernel, const Launch& l) { return fold(kernel, l, kernel.node.args[2].i, 0); }
Status* run_prod(const CompiledNode& kernel, const Launch& l) { return fold(kernel, l, 0, 1); }

template <int64_t greatest>
Status* run_extremum(const CompiledNode& kernel, const Launch& l) {
  DimSizes a = sizes_around(l.inputs[0], kernel.node.args[1].i);
  void *values = l.outputs[0].data, *indices = l.outputs[1].data, *from = l.inputs[0].data;
  int64_t rows = a.outer * a.inner, maximum = greatest;
  void* parameters[] = {&values, &indices, &from, &rows, &a.size, &a.inner, &maximum};
  return a.size ? kernel.launch(rows, true, parameters) : nullptr;
}

bool numbers(const NodeView& view) { return first_input(view) != DType::boolean; }

constexpr Rule kRules[] = {
    {"prims.cumsum", numbers, kSum, first_input, nullptr, run_scan, 0, fold_scratch, {"scan_totals"}},
    {"prims.cumprod", numbers, kProduct, first_input, nullptr, run_scan, 0, fold_scratch, {"scan_totals"}},
    {"prims.prod", numbers, kProduct, first_input, nullptr, run_prod, 0, fold_scratch, {"scan_totals"}},
    {"prims.cummax", nullptr, kExtremum, first_input, nullptr, run_extremum<1>},
    {"prims.cummin", nullptr, kExtremum, first_input, nullptr, run_extremum<0>},
};

}  // namespace

std::span<const Rule> scan_rules() { return kRules; }

}  // namespace thunder::cuda_kernels
