// Scans and products along a dim: cumsum, cumprod, logcumsumexp, cummax, cummin, prod. One block scans a row, eight
// elements a thread at a time, or a part of it: what the parts come to is scanned next, and then each part from what
// those before it come to. The order in which elements are combined depends on the sizes alone.
#include <algorithm>

#include "executors/cuda/block_scan.h"
#include "ir/prim.h"

namespace thunder::cuda_kernels {
namespace {

#define THUNDER_CUDA_FOLD(START, COMBINE)                                                                             \
  THUNDER_CUDA_SCAN                                                                                                   \
  "struct Row { i64 size, inner, reverse, a, b; };\n"                                                                 \
  "__device__ inline i64 place_of(const Row& r, i64 i) {\n"                                                           \
  "  return (r.a * r.size + (r.reverse ? r.size - 1 - i : i)) * r.inner + r.b;\n"                                     \
  "}\n"                                                                                                               \
  "struct Combine { __device__ A operator()(A x, A y) const { return (A)(x " COMBINE " y); } };\n"                    \
  "__device__ inline A fold(const T* in, const Row& r, i64 begin, i64 end, A* shared) {\n"                            \
  "  const Combine combine;\n"                                                                                        \
  "  A mine[8];\n"                                                                                                    \
  "#pragma unroll\n"                                                                                                  \
  "  for (int k = 0; k < 8; k++) mine[k] = (A)(" START ");\n"                                                         \
  "  for (i64 i = begin + threadIdx.x; i < end; i += 8 * blockDim.x) {\n"                                             \
  "#pragma unroll\n"                                                                                                  \
  "    for (int k = 0; k < 8; k++)\n"                                                                                 \
  "      if (i + k * blockDim.x < end) mine[k] = combine(mine[k], (A)get(in[place_of(r, i + k * blockDim.x)]));\n"    \
  "  }\n"                                                                                                             \
  "#pragma unroll\n"                                                                                                  \
  "  for (int n = 4; n > 0; n /= 2) {\n"                                                                              \
  "#pragma unroll\n"                                                                                                  \
  "    for (int k = 0; k < n; k++) mine[k] = combine(mine[k], mine[k + n]);\n"                                        \
  "  }\n"                                                                                                             \
  "  const A all = of_block(mine[0], shared, combine);\n"                                                             \
  "  return all;\n"                                                                                                   \
  "}\n"                                                                                                               \
  "__device__ inline int padded(int i) { return i + i / 8; }\n"                                                       \
  "template <int K> __device__ inline void scan_part(\n"                                                              \
  "    T* out, const T* in, const Row& r, i64 begin, i64 end, A carry, A* shared, T* tile) {\n"                       \
  "  const Combine combine;\n"                                                                                        \
  "  const int own = threadIdx.x, threads = blockDim.x;\n"                                                            \
  "  T next[K];\n"                                                                                                    \
  "  const auto read_ahead = [&](i64 first) {\n"                                                                      \
  "#pragma unroll\n"                                                                                                  \
  "    for (int k = 0; k < K; k++) {\n"                                                                               \
  "      const i64 i = first + own + k * threads;\n"                                                                  \
  "      if (i < end) next[k] = in[place_of(r, i)];\n"                                                                \
  "    }\n"                                                                                                           \
  "  };\n"                                                                                                            \
  "  read_ahead(begin);\n"                                                                                            \
  "  for (i64 first = begin; first < end; first += K * threads) {\n"                                                  \
  "#pragma unroll\n"                                                                                                  \
  "    for (int k = 0; k < K; k++) tile[padded(own + k * threads)] = next[k];\n"                                      \
  "    __syncthreads();\n"                                                                                            \
  "    read_ahead(first + K * threads);\n"                                                                            \
  "    A v[K];\n"                                                                                                     \
  "#pragma unroll\n"                                                                                                  \
  "    for (int k = 0; k < K; k++) {\n"                                                                               \
  "      const int i = own * K + k;\n"                                                                                \
  "      v[k] = first + i < end ? (A)get(tile[padded(i)]) : (A)(" START ");\n"                                        \
  "      if (k) v[k] = combine(v[k - 1], v[k]);\n"                                                                    \
  "    }\n"                                                                                                           \
  "    A so_far = v[K - 1];\n"                                                                                        \
  "    const A warp = before_scan(so_far, carry, shared, carry, Combine{});\n"                                        \
  "    const A left = from_lane(so_far, own % 32 ? own % 32 - 1 : 0);\n"                                              \
  "    const A before = own % 32 ? combine(warp, left) : warp;\n"                                                     \
  "#pragma unroll\n"                                                                                                  \
  "    for (int k = 0; k < K; k++)\n"                                                                                 \
  "      if (first + own * K + k < end) tile[padded(own * K + k)] = put((C)combine(before, v[k]));\n"                 \
  "    __syncthreads();\n"                                                                                            \
  "#pragma unroll\n"                                                                                                  \
  "    for (int k = 0; k < K; k++) {\n"                                                                               \
  "      const int i = own + k * threads;\n"                                                                          \
  "      if (first + i < end) out[place_of(r, first + i)] = tile[padded(i)];\n"                                       \
  "    }\n"                                                                                                           \
  "  }\n"                                                                                                             \
  "}\n"                                                                                                               \
  "// Rows, or parts of them, as one: each block works on one. Of parts the results go to `totals`.\n"                \
  "extern \"C\" __global__ void fold_parts(\n"                                                                        \
  "    T* out, const T* in, A* totals, i64 rows, i64 size, i64 inner, i64 reverse, i64 parts, i64 each) {\n"          \
  "  __shared__ A shared[8];\n"                                                                                       \
  "  for (i64 work = blockIdx.x; work < rows * parts; work += gridDim.x) {\n"                                         \
  "    const i64 row = work / parts, part = work - row * parts;\n"                                                    \
  "    const Row r = {size, inner, reverse, row / inner, row - row / inner * inner};\n"                               \
  "    const i64 begin = part * each, end = begin + each < size ? begin + each : size;\n"                             \
  "    const A all = fold(in, r, begin, end, shared);\n"                                                              \
  "    if (threadIdx.x) continue;\n"                                                                                  \
  "    if (parts > 1) totals[work] = all;\n"                                                                          \
  "    else out[row] = put((C)all);\n"                                                                                \
  "  }\n"                                                                                                             \
  "}\n"                                                                                                               \
  "extern \"C\" __global__ __launch_bounds__(256, 3) void kernel(\n"                                                  \
  "    T* out, const T* in, A* totals, i64 rows, i64 size, i64 inner, i64 reverse, i64 parts, i64 each) {\n"          \
  "  __shared__ A shared[8];\n"                                                                                       \
  "  __shared__ T tile[8 * 256 + 256];\n"                                                                             \
  "  for (i64 work = blockIdx.x; work < rows * parts; work += gridDim.x) {\n"                                         \
  "    const i64 row = work / parts, part = work - row * parts;\n"                                                    \
  "    const Row r = {size, inner, reverse, row / inner, row - row / inner * inner};\n"                               \
  "    const i64 begin = part * each, end = begin + each < size ? begin + each : size;\n"                             \
  "    const A carry = part ? totals[work - 1] : (A)(" START ");\n"                                                   \
  "    if (size > 1024) scan_part<8>(out, in, r, begin, end, carry, shared, tile);\n"                                 \
  "    else scan_part<1>(out, in, r, begin, end, carry, shared, tile);\n"                                             \
  "  }\n"                                                                                                             \
  "}\n"                                                                                                               \
  "extern \"C\" __global__ void scan_totals(T* out, A* totals, i64 rows, i64 parts, i64 whole) {\n"                   \
  "  __shared__ A shared[8];\n"                                                                                       \
  "  for (i64 row = blockIdx.x; row < rows; row += gridDim.x) {\n"                                                    \
  "    A carry = " START ";\n"                                                                                        \
  "    for (i64 first = 0; first < parts; first += blockDim.x) {\n"                                                   \
  "      const i64 i = first + threadIdx.x;\n"                                                                        \
  "      const A v = scan(i < parts ? totals[row * parts + i] : (A)(" START "), carry, shared, carry, Combine{});\n"  \
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

// The logarithm of the sum of exponentials so far, which is sum * exp(top).
constexpr char kLogSum[] = THUNDER_CUDA_SCAN R"(
struct Sum { C top; A sum; };
extern "C" __global__ void kernel(T* out, const T* in, i64 rows, i64 size, i64 inner, i64 reverse) {
  __shared__ Sum shared[8];
  const C lowest = -(C)__uint_as_float(0x7f800000u);
  for (i64 row = blockIdx.x; row < rows; row += gridDim.x) {
    const i64 a = row / inner, b = row - a * inner;
    Sum carry = {lowest, (A)0};
    for (i64 first = 0; first < size; first += blockDim.x) {
      const i64 i = first + threadIdx.x, place = (a * size + (reverse ? size - 1 - i : i)) * inner + b;
      const C v = i < size ? get(in[place]) : lowest;
      const Sum mine = v == lowest ? Sum{lowest, (A)0} : Sum{v, (A)1};
      const Sum all = scan(mine, carry, shared, carry, [](Sum x, Sum y) {
        const Sum &more = y.top > x.top || y.top != y.top ? y : x, &less = y.top > x.top || y.top != y.top ? x : y;
        return Sum{more.top, more.sum + (less.top == more.top ? less.sum : less.sum * (A)exp(less.top - more.top))};
      });
      if (i < size) out[place] = put(all.sum == (A)0 ? lowest : (C)((A)all.top + log(all.sum)));
    }
  }
}
)";

size_t fold_scratch(const NodeView& view) {
  const TensorType& t = view.store.type(view.node.args[0].v);
  if (t.rank() == 0) return 0;
  const int64_t all = elements(t.shape).value(), size = t.shape[normalize_axis(view.node.args[1].i, t.rank())].value();
  const int64_t rows = size ? all / size : 0, parts = count_row_parts(rows, size);
  return parts > 1 ? static_cast<size_t>(rows * parts) * sizeof(double) : 0;
}

constexpr size_t kTotalsStep = 1, kFoldStep = 2;

Status* run_fold(const CompiledNode& kernel, const Launch& l, int64_t reverse, int64_t whole) {
  const Buffer &in = l.inputs[0], &out = l.outputs[0];
  if (!out.elements()) return nullptr;
  DimSizes a = split_sizes_at(in, kernel.node.args[1].i);
  void *to = out.data, *from = in.data, *totals = l.scratch;
  int64_t rows = a.outer * a.inner, parts = count_row_parts(rows, a.size), each = part_size(a.size, parts);
  void* parameters[] = {&to, &from, &totals, &rows, &a.size, &a.inner, &reverse, &parts, &each};
  if (whole || parts > 1)
    if (Status* failed = kernel.launch(rows * parts, true, parameters, kFoldStep)) return failed;
  void* scanning[] = {&to, &totals, &rows, &parts, &whole};
  if (parts > 1)
    if (Status* failed = kernel.launch(rows, true, scanning, kTotalsStep)) return failed;
  return whole ? nullptr : kernel.launch(rows * parts, true, parameters);
}
Status* run_scan(const CompiledNode& kernel, const Launch& l) { return run_fold(kernel, l, kernel.node.args[2].i, 0); }
Status* run_prod(const CompiledNode& kernel, const Launch& l) { return run_fold(kernel, l, 0, 1); }

template <int64_t greatest>
Status* run_extremum(const CompiledNode& kernel, const Launch& l) {
  DimSizes a = split_sizes_at(l.inputs[0], kernel.node.args[1].i);
  void *values = l.outputs[0].data, *indices = l.outputs[1].data, *from = l.inputs[0].data;
  int64_t rows = a.outer * a.inner, maximum = greatest;
  void* parameters[] = {&values, &indices, &from, &rows, &a.size, &a.inner, &maximum};
  return a.size ? kernel.launch(rows, true, parameters) : nullptr;
}

// logcumsumexp(input, dim, reverse)
Status* run_log_sum(const CompiledNode& kernel, const Launch& l) {
  DimSizes a = split_sizes_at(l.inputs[0], kernel.node.args[1].i);
  void *to = l.outputs[0].data, *from = l.inputs[0].data;
  int64_t rows = a.outer * a.inner, reverse = kernel.node.args[2].i;
  void* parameters[] = {&to, &from, &rows, &a.size, &a.inner, &reverse};
  return a.size ? kernel.launch(rows, true, parameters) : nullptr;
}

bool has_numbers(const NodeView& view) { return first_input_dtype(view) != DType::boolean; }

#define THUNDER_FOLD_STEPS {"scan_totals", "fold_parts"}
constexpr Rule kRules[] = {
    {name(Prim::cumsum), has_numbers, kSum, first_input_dtype, nullptr, run_scan, 0, fold_scratch, THUNDER_FOLD_STEPS},
    {name(Prim::cumprod), has_numbers, kProduct, first_input_dtype, nullptr, run_scan, 0, fold_scratch,
     THUNDER_FOLD_STEPS},
    {name(Prim::prod), has_numbers, kProduct, first_input_dtype, nullptr, run_prod, 0, fold_scratch,
     THUNDER_FOLD_STEPS},
    {name(Prim::logcumsumexp), nullptr, kLogSum, first_input_dtype, nullptr, run_log_sum},
    {name(Prim::cummax), nullptr, kExtremum, first_input_dtype, nullptr, run_extremum<1>},
    {name(Prim::cummin), nullptr, kExtremum, first_input_dtype, nullptr, run_extremum<0>},
};

}  // namespace

extern const Rules scans_rules = kRules;

}  // namespace thunder::cuda_kernels
