#include "executors/cuda/cublaslt/thin.h"

#include <algorithm>

#include "base/text.h"
#include "executors/cuda/cublaslt/linear.h"
#include "loops/cuda/arithmetic.h"
#include "loops/cuda/prelude.h"

namespace thunder::cublaslt {
namespace {

constexpr int64_t kWarps = 8, kLanes = 32;  // of a block, and of a warp
constexpr int64_t kVectorBytes = 16;

constexpr char kText[] = R"(
struct Problem {
  const T *x, *b, *bias;
  T* out;
  i64 x_step, b_step, out_step;
  int columns, terms, first_block, unused;
};
struct Problems { Problem at[8]; int count; };
// A warp has a part of the terms of kColumns neighbouring columns, of which kParts warps of a block make the sums.
extern "C" __global__ void thin_product(const Problems all) {
  constexpr int vector = 16 / sizeof(T), warps = 8;
  int own = 0;
  while (own + 1 < all.count && (int)blockIdx.x >= all.at[own + 1].first_block) own++;
  const Problem p = all.at[own];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, part = warp % kParts;
  const i64 first = ((i64)((int)blockIdx.x - p.first_block) * (warps / kParts) + warp / kParts) * kColumns;
  const T* from[kColumns];
#pragma unroll
  for (int c = 0; c < kColumns; c++) from[c] = p.b + (first + c < p.columns ? first + c : p.columns - 1) * p.b_step;
  float sum[kRows][kColumns] = {};
  for (int k = (part * 32 + lane) * vector; k < p.terms; k += kParts * 32 * vector) {
    Pack<T, vector> read[kColumns];
#pragma unroll
    for (int c = 0; c < kColumns; c++) read[c] = *(const Pack<T, vector>*)(from[c] + k);
#pragma unroll
    for (int r = 0; r < kRows; r++) {
      const Pack<T, vector> row = *(const Pack<T, vector>*)(p.x + r * p.x_step + k);
#pragma unroll
      for (int c = 0; c < kColumns; c++)
#pragma unroll
        for (int v = 0; v < vector; v++) sum[r][c] += get(row.at[v]) * get(read[c].at[v]);
    }
  }
  __shared__ float shared[warps][kRows * kColumns];
#pragma unroll
  for (int r = 0; r < kRows; r++)
#pragma unroll
    for (int c = 0; c < kColumns; c++) {
      const float whole = of_warp<float>(sum[r][c], [](float a, float b) { return a + b; });
      if (lane == 0) shared[warp][r * kColumns + c] = whole;
    }
  __syncthreads();
  const int r = lane / kColumns, c = lane % kColumns;
  if (part || r >= kRows || first + c >= p.columns) return;
  float whole = shared[warp][lane];
  for (int other = 1; other < kParts; other++) whole += shared[warp + other][lane];
  if (p.bias) whole += get(p.bias[first + c]);
  p.out[r * p.out_step + first + c] = put(whole);
}
)";

// How a block's warps are shared out.
struct Shares {
  int64_t columns, parts;  // columns of a warp, parts of their terms
};

// Measured on an H200 in bfloat16: the fastest, or within 2 % of it, at 256 to 32000 columns of 2048 and 5632 terms.
Shares choose_shares(int64_t rows, int64_t columns, int64_t terms, int64_t vector) {
  Shares s = rows == 1 ? Shares{1, 4} : Shares{2, columns <= 4096 ? 4 : columns <= 8192 ? 2 : 1};
  while (s.parts > 1 && s.parts * kLanes * vector > terms) s.parts /= 2;
  return s;
}

// Whether it takes less time than cuBLASLt, whose tensor cores multiply more rows at once. Measured likewise.
bool is_faster(int64_t rows, int64_t columns, int64_t terms) {
  constexpr int64_t kFewColumns = 2048, kSmall = int64_t{1} << 20;
  return rows <= 2 || (rows <= 4 && columns <= kFewColumns) || (rows <= 8 && columns * terms <= kSmall);
}

bool is_one_matrix(const Buffer& b) {
  return std::all_of(b.shape, b.shape + b.rank - 2, [](int64_t n) { return n == 1; });
}

}  // namespace

std::optional<ThinProduct> ThinProduct::find(nvidia::CudaDevice& device, const ThinOperands& o) {
  const auto item = static_cast<int64_t>(size_of(o.out->dtype));
  const int64_t terms = o.b->shape[o.b->rank - 2], columns = o.b->shape[o.b->rank - 1], vector = kVectorBytes / item,
                step = o.b->strides[o.b->rank - 1];
  if (o.out->dtype == DType::f64 || !o.out->elements() || !is_one_matrix(*o.b) || terms < kLanes * vector ||
      std::max(terms, columns) > INT32_MAX)
    return std::nullopt;
  const int64_t rows = o.out->elements() / columns;
  const std::optional<int64_t> x_step = merged_row_stride(*o.x), out_step = merged_row_stride(*o.out);
  const bool dense = o.b->strides[o.b->rank - 2] == 1 && o.x->strides[o.x->rank - 1] == 1 &&
                     (columns == 1 || o.out->strides[o.out->rank - 1] == 1) && (!o.bias || o.bias->strides[0] == 1);
  if (!dense || !x_step || !out_step || terms % vector || *x_step % vector || step % vector ||
      !is_faster(rows, columns, terms))
    return std::nullopt;
  return ThinProduct(device,
                     {nullptr, nullptr, nullptr, nullptr, *x_step, step, *out_step, static_cast<int32_t>(columns),
                      static_cast<int32_t>(terms), 0},
                     o.out->dtype, rows);
}

ThinProduct::ThinProduct(nvidia::CudaDevice& device, const Problem& sizes, DType dtype, int64_t rows)
    : device_(&device), sizes_(sizes) {
  const Shares s = choose_shares(rows, sizes.columns, sizes.terms, kVectorBytes / static_cast<int64_t>(size_of(dtype)));
  text_ = cat(loops::kCudaNarrowReals, loops::kCudaPrelude, loops::kCudaRowsPrelude, "typedef ",
              loops::memory_type_name(dtype), " T;\n__device__ inline float get(T v) { return ",
              loops::from_memory_text(dtype, "v"), "; }\n__device__ inline T put(float v) { return ",
              loops::to_memory_text(dtype, "v"), "; }\nconstexpr int kRows = ", rows, ", kColumns = ", s.columns,
              ", kParts = ", s.parts, ";", kText);
  const int64_t each = kWarps / s.parts * s.columns;
  blocks_ = (sizes.columns + each - 1) / each;
  device.begin_compiling(text_);
}

void ThinProduct::finish_compiling() {
  if (function_) return;
  function_ = device_->function(text_, "thin_product");
  text_.clear(), text_.shrink_to_fit();
}

bool ThinProduct::is_aligned(const ThinOperands& o) {
  return (reinterpret_cast<uintptr_t>(o.x->data) | reinterpret_cast<uintptr_t>(o.b->data)) % kVectorBytes == 0;
}

Status* ThinProduct::run(std::span<const ThinProduct> products, std::span<const ThinOperands> operands) {
  const ThinProduct& first = products[0];
  if (Status* failed = first.device_->enter()) return failed;
  Problems all{};
  int64_t blocks = 0;
  for (size_t i = 0; i < products.size(); i++) {
    const ThinOperands& o = operands[i];
    Problem& p = all.at[i] = products[i].sizes_;
    p.x = o.x->data, p.b = o.b->data, p.bias = o.bias ? o.bias->data : nullptr, p.out = o.out->data;
    p.first_block = static_cast<int32_t>(blocks);
    blocks += products[i].blocks_;
  }
  all.count = static_cast<int32_t>(products.size());
  void* parameters[] = {&all};
  return first.device_->launch(first.function_,
                               {static_cast<unsigned>(blocks), static_cast<unsigned>(kWarps * kLanes)}, parameters,
                               "a thin product");
}

}  // namespace thunder::cublaslt
