#include "executors/cuda/cusolver/matrix_kernels.h"

#include <algorithm>

#include "base/text.h"
#include "loops/cuda/prelude.h"

namespace thunder::cusolver {
namespace {

constexpr char kTexts[] = R"(
#define EACH(at, count) \
  for (i64 at = blockIdx.x * (i64)blockDim.x + threadIdx.x; at < (count); at += (i64)gridDim.x * blockDim.x)
__device__ inline void report(DeviceAssertion* assertion, i64 expr, i64 index) {
  if (atomicCAS((u64*)&assertion->expr, (u64)-1, (u64)expr) == (u64)-1) assertion->index = index;
}
extern "C" __global__ void transpose(const T* from, i64 from_elements, T* to, i64 to_elements, i64 batch,
                                     i64 rows, i64 columns) {
  EACH(at, batch * rows * columns) {
    const i64 b = at / (rows * columns), i = at - b * rows * columns, c = i / rows, r = i - c * rows;
    to[b * to_elements + i] = from[b * from_elements + r * columns + c];
  }
}
extern "C" __global__ void pointers(const T** to, const T* first, i64 batch, i64 elements) {
  EACH(at, batch) to[at] = first + at * elements;
}
extern "C" __global__ void lower(T* matrices, i64 batch, i64 n) {
  EACH(at, batch * n * n) {
    const i64 i = at % (n * n);
    if (i % n > i / n) matrices[at] = 0;
  }
}
extern "C" __global__ void triangle(const T* from, i64 from_elements, T* to, i64 batch, i64 rows, i64 columns,
                                    i64 to_rows) {
  EACH(at, batch * to_rows * columns) {
    const i64 b = at / (to_rows * columns), i = at - b * to_rows * columns, r = i / columns, c = i - r * columns;
    to[at] = r <= c ? from[b * from_elements + c * rows + r] : (T)0;
  }
}
extern "C" __global__ void determinants(const T* factors, const int* pivots, T* out, T* logs, i64 batch, i64 n) {
  __shared__ T shared[32];
  const auto times = [](T a, T b) { return a * b; };
  const auto plus = [](T a, T b) { return a + b; };
  for (i64 at = blockIdx.x; at < batch; at += gridDim.x) {
    T product = 1, log_sum = 0;
    for (i64 i = threadIdx.x; i < n; i += blockDim.x) {
      const T x = factors[at * n * n + i * n + i], turned = pivots[at * n + i] != i + 1 ? -1 : 1;
      product *= turned * (!logs ? x : x > 0 ? (T)1 : x < 0 ? (T)-1 : x * 0);
      log_sum += log(fabs(x));
    }
    product = of_block(product, shared, times);
    if (logs) log_sum = of_block(log_sum, shared, plus);
    if (threadIdx.x) continue;
    out[at] = product;
    if (logs) logs[at] = log_sum;
  }
}
extern "C" __global__ void check(const int* info, i64 batch, DeviceAssertion* assertion) {
  EACH(at, batch)
    if (info[at]) report(assertion, at, info[at]);
}
extern "C" __global__ void check_diagonal(const T* matrices, i64 batch, i64 n, DeviceAssertion* assertion) {
  EACH(at, batch * n)
    if (matrices[at / n * n * n + at % n * (n + 1)] == 0) report(assertion, at / n, at % n);
}
)";

std::string kernels_text(DType d) {
  const char* element = d == DType::f64 ? "double" : "float";
  return cat(loops::kCudaNarrowReals, loops::kCudaPrelude, loops::kCudaRowsPrelude, "typedef ", element, " T;\n",
             kTexts);
}

}  // namespace

void MatrixKernels::begin_compiling(nvidia::CudaDevice& device, DType d) { device.begin_compiling(kernels_text(d)); }

MatrixKernels::MatrixKernels(nvidia::CudaDevice& device, DType d) : device_(device) {
  const std::string text = kernels_text(d);
  const auto find = [&](const char* name) { return device.function(text, name); };
  transpose_ = find("transpose"), pointers_ = find("pointers"), lower_ = find("lower"), triangle_ = find("triangle");
  determinants_ = find("determinants"), check_ = find("check"), check_diagonal_ = find("check_diagonal");
}

Status* MatrixKernels::launch(nvidia::Function function, int64_t work, void** parameters, const char* what) const {
  constexpr int64_t kThreads = 256, kBlocksOfMultiprocessor = 16;
  if (!work) return nullptr;
  const int64_t most = kBlocksOfMultiprocessor * std::max(1, device_.properties().multiprocessors);
  const int64_t blocks = std::min((work + kThreads - 1) / kThreads, most);
  return device_.launch(function, {static_cast<unsigned>(blocks), kThreads}, parameters, what);
}

Status* MatrixKernels::transpose(const void* from, int64_t from_elements, void* to, int64_t to_elements, int64_t batch,
                                 int64_t rows, int64_t columns) const {
  void* parameters[] = {&from, &from_elements, &to, &to_elements, &batch, &rows, &columns};
  return launch(transpose_, batch * rows * columns, parameters, "transpose");
}

Status* MatrixKernels::fill_pointers(void* to, const void* first, int64_t batch, int64_t elements) const {
  void* parameters[] = {&to, &first, &batch, &elements};
  return launch(pointers_, batch, parameters, "pointers");
}

Status* MatrixKernels::zero_upper_triangles(void* matrices, int64_t batch, int64_t n) const {
  void* parameters[] = {&matrices, &batch, &n};
  return launch(lower_, batch * n * n, parameters, "lower");
}

Status* MatrixKernels::copy_upper_triangles(const void* from, int64_t from_elements, void* to, int64_t batch,
                                            int64_t rows, int64_t columns, int64_t to_rows) const {
  void* parameters[] = {&from, &from_elements, &to, &batch, &rows, &columns, &to_rows};
  return launch(triangle_, batch * to_rows * columns, parameters, "triangle");
}

Status* MatrixKernels::determinants(const void* factors, const int* pivots, void* out, void* logs, int64_t batch,
                                    int64_t n) const {
  void* parameters[] = {&factors, &pivots, &out, &logs, &batch, &n};
  constexpr int64_t kBlock = 256;  // for each matrix
  return launch(determinants_, batch * kBlock, parameters, "determinants");
}

Status* MatrixKernels::check_info(const int* info, int64_t batch, nvidia::DeviceAssertion* assertion) const {
  void* parameters[] = {&info, &batch, &assertion};
  return launch(check_, batch, parameters, "check");
}

Status* MatrixKernels::check_diagonal(const void* matrices, int64_t batch, int64_t n,
                                      nvidia::DeviceAssertion* assertion) const {
  void* parameters[] = {&matrices, &batch, &n, &assertion};
  return launch(check_diagonal_, batch * n, parameters, "check_diagonal");
}

}  // namespace thunder::cusolver
