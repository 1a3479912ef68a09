// A stand-in for cuBLASLt: plain loops over column-major matrices. Its three algorithms do the same.
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <vector>

#include "control.h"
#include "elements.h"

namespace {

constexpr Codes kCodes{.f64 = 1, .bf16 = 14, .f16 = 2};  // of cudaDataType_t
constexpr int kAllocationFailed = 3, kInvalid = 7, kExecutionFailed = 13, kNotSupported = 15;
constexpr int kOutOfMemory = 2;  // of the driver
constexpr uint64_t kAlgorithms = 3;

struct Counts {
  std::atomic<int64_t> heuristics{0}, checks{0};
  std::array<std::atomic<int64_t>, kAlgorithms + 1> products{}, delay{};
};
Counts& counts() {
  static Counts* all = new Counts;
  return *all;
}

// What an entry point returns that is told to fail.
int told() {
  const int failed = fake_cuda_called();
  return !failed ? 0 : failed == kOutOfMemory ? kAllocationFailed : kExecutionFailed;
}
#define CALL() \
  if (const int failed = told()) return failed

constexpr int kFastTF32 = 77;     // of cublasComputeType_t
constexpr int kBiasEpilogue = 4;  // of cublasLtEpilogue_t

struct Desc {
  int compute = 0, scale = 0, transposed_a = 0, transposed_b = 0, epilogue = 0;
  const std::byte* bias = nullptr;
};
struct Layout {
  int type = 0;
  uint64_t rows = 0, columns = 0;
  int64_t leading = 0, stride = 0;
  int32_t batch = 1;
};

double element(const std::byte* data, const Layout& l, bool transposed, uint64_t row, uint64_t column) {
  if (transposed) std::swap(row, column);
  return kCodes.load(data + (row + column * static_cast<uint64_t>(l.leading)) * kCodes.bytes(l.type), l.type);
}

struct Product {
  Desc desc;
  Layout of_a, of_b, of_c, of_d;
  const std::byte *a, *b, *c;
  std::byte* d;
  double alpha, beta;
  uint64_t depth;
  int64_t delay;

  double value(int32_t batch, uint64_t row, uint64_t column) const {
    const auto at = [&](auto* data, const Layout& l) { return data + batch * l.stride * static_cast<int64_t>(kCodes.bytes(l.type)); };
    double sum = 0;
    for (uint64_t k = 0; k < depth; k++) {
      const double left = element(at(a, of_a), of_a, desc.transposed_a, row, k), right = element(at(b, of_b), of_b, desc.transposed_b, k, column);
      sum += desc.compute == kFastTF32 ? to_tf32(left) * to_tf32(right) : left * right;
    }
    sum *= alpha;
    if (beta != 0) sum += beta * element(at(c, of_c), of_c, false, row, column);
    if (desc.epilogue == kBiasEpilogue) sum += kCodes.load(desc.bias + row * kCodes.bytes(of_d.type), of_d.type);
    return sum;
  }

  void run() const {
    if (delay) usleep(static_cast<useconds_t>(delay));
    for (int32_t i = 0; i < of_d.batch; i++)
      for (uint64_t column = 0; column < of_d.columns; column++)
        for (uint64_t row = 0; row < of_d.rows; row++) {
          const int64_t at = i * of_d.stride + static_cast<int64_t>(row + column * static_cast<uint64_t>(of_d.leading));
          kCodes.store(d + at * static_cast<int64_t>(kCodes.bytes(of_d.type)), value(i, row, column), of_d.type);
        }
  }
};

}  // namespace

extern "C" {

void fake_cublaslt_counts(FakeCublasLtCounts* out) {
  out->heuristics = counts().heuristics, out->checks = counts().checks;
  for (size_t i = 0; i <= kAlgorithms; i++) out->products[i] = counts().products[i];
}
void fake_cublaslt_delay(uint64_t algorithm, int64_t microseconds) { counts().delay[algorithm] = microseconds; }

size_t cublasLtGetVersion() { return 130000; }
int cublasLtCreate(void** out) {
  CALL();
  return *out = new char, 0;
}
int cublasLtDestroy(void* handle) { return delete static_cast<char*>(handle), 0; }
int cublasLtMatmulDescCreate(Desc** out, int compute, int scale) {
  CALL();
  return *out = new Desc{compute, scale}, 0;
}
int cublasLtMatmulDescDestroy(Desc* d) { return delete d, 0; }
int cublasLtMatmulDescSetAttribute(Desc* d, int attribute, const void* value, size_t bytes) {
  CALL();
  if (attribute == 7 && bytes == 4) return std::memcpy(&d->epilogue, value, 4), 0;
  if (attribute == 8 && bytes == 8) return std::memcpy(&d->bias, value, 8), 0;
  if (bytes != 4 || (attribute != 3 && attribute != 4)) return kInvalid;
  return std::memcpy(attribute == 3 ? &d->transposed_a : &d->transposed_b, value, 4), 0;
}
int cublasLtMatrixLayoutCreate(Layout** out, int type, uint64_t rows, uint64_t columns, int64_t leading) {
  CALL();
  if (leading < static_cast<int64_t>(rows)) return kInvalid;
  return *out = new Layout{type, rows, columns, leading}, 0;
}
int cublasLtMatrixLayoutDestroy(Layout* l) { return delete l, 0; }
int cublasLtMatrixLayoutSetAttribute(Layout* l, int attribute, const void* value, size_t bytes) {
  CALL();
  if (attribute == 5 && bytes == 4) return std::memcpy(&l->batch, value, 4), 0;
  if (attribute == 6 && bytes == 8) return std::memcpy(&l->stride, value, 8), 0;
  return kInvalid;
}
int cublasLtMatmulPreferenceCreate(void** out) {
  CALL();
  return *out = new char, 0;
}
int cublasLtMatmulPreferenceDestroy(void* p) { return delete static_cast<char*>(p), 0; }
int cublasLtMatmulPreferenceSetAttribute(void*, int, const void*, size_t) {
  CALL();
  return 0;
}

struct Heuristic {
  uint64_t algorithm[8];
  size_t workspace;
  int state;
  float waves;
  int reserved[4];
};
int cublasLtMatmulAlgoGetHeuristic(void*, Desc*, Layout*, Layout*, Layout*, Layout*, void*, int wanted, Heuristic* out, int* found) {
  CALL();
  counts().heuristics++;
  for (*found = 0; *found < wanted && *found < static_cast<int>(kAlgorithms); ++*found) {
    const auto number = static_cast<uint64_t>(*found) + 1;
    out[*found] = {{number}, 1000 * number, 0, 1, {}};
  }
  return 0;
}
int cublasLtMatmulAlgoCheck(void*, Desc*, Layout*, Layout*, Layout*, Layout*, const uint64_t* algorithm, Heuristic* out) {
  CALL();
  counts().checks++;
  if (*algorithm < 1 || *algorithm > kAlgorithms) return kNotSupported;
  return *out = {{*algorithm}, 1000 * *algorithm, 0, 1, {}}, 0;
}

int cublasLtMatmul(void*, Desc* desc, const void* alpha, const std::byte* a, Layout* of_a, const std::byte* b, Layout* of_b, const void* beta,
                   const std::byte* c, Layout* of_c, std::byte* d, Layout* of_d, const uint64_t* algorithm, void*, size_t workspace, void* stream) {
  CALL();
  if (*algorithm < 1 || *algorithm > kAlgorithms || workspace < 1000 * *algorithm) return kInvalid;
  counts().products[*algorithm]++;
  const auto number = [&](const void* at) { return desc->scale == kCodes.f64 ? *static_cast<const double*>(at) : *static_cast<const float*>(at); };
  const uint64_t depth = desc->transposed_a ? of_a->rows : of_a->columns;
  const uint64_t rows = desc->transposed_a ? of_a->columns : of_a->rows, columns = desc->transposed_b ? of_b->rows : of_b->columns;
  if (rows != of_d->rows || columns != of_d->columns || depth != (desc->transposed_b ? of_b->columns : of_b->rows)) return kInvalid;
  auto* product = new Product{*desc, *of_a, *of_b, *of_c, *of_d, a, b, c, d, number(alpha), number(beta), depth, counts().delay[*algorithm]};
  fake_cuda_enqueue(
      stream, [](void* p) { static_cast<const Product*>(p)->run(); }, [](void* p) { delete static_cast<Product*>(p); }, product);
  return 0;
}
}
