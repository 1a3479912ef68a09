#include "executors/cuda/cublaslt/product.h"

#include <algorithm>

#include "base/text.h"
#include "base/thrown.h"
#include "tensor/transfer.h"

namespace thunder::cublaslt {
namespace {

// A launch of fewer operations ends before the host has prepared the next one, or leaves multiprocessors idle.
constexpr double kSmallLaunch = 4e9;

size_t align_up(size_t bytes) { return (bytes + 255) / 256 * 256; }

// The stride between matrices after merging all leading dims; none if they cannot be merged.
std::optional<int64_t> merged_batch_stride(const Sizes& shape, const Sizes& strides) {
  std::optional<int64_t> first;
  int64_t next = 0;
  for (size_t d = shape.size() - 2; d-- > 0;) {
    if (shape[d] == 1) continue;
    if (!first) first = strides[d];
    else if (strides[d] != next) return std::nullopt;
    next = strides[d] * shape[d];
  }
  return first.value_or(0);
}

// Whether some leading dim is broadcast: a dense copy would repeat its matrices.
bool broadcasts_matrices(const Sizes& shape, const Sizes& strides) {
  for (size_t d = 0; d + 2 < shape.size(); d++)
    if (shape[d] > 1 && strides[d] == 0) return true;
  return false;
}

}  // namespace

static DataType library_type(DType dtype) {
  switch (dtype) {
    case DType::f64: return kF64;
    case DType::bf16: return kBF16;
    case DType::f16: return kF16;
    default: return kF32;
  }
}

bool supports_dtype(DType dtype) { return is_real(dtype); }

Product::Product(const Session& session, const Buffer& a, const Buffer& b, const Buffer& c,
                 const ProductOptions& options)
    : session_(session), item_(size_of(c.dtype)) {
  const int32_t rank = c.rank;
  m_ = c.shape[rank - 2], n_ = c.shape[rank - 1], k_ = a.shape[rank - 1];
  batch_ = rank > 2 ? c.shape[rank - 3] : 1;
  for (int32_t d = 0; d + 3 < rank; d++) outer_.push_back(c.shape[d]);
  of_a_ = describe(a), of_b_ = describe(b), of_c_ = describe(c);
  ensure(!of_c_.transposed && !of_c_.packed, "a product's result is dense");
  join_batches(a, b, c);
  if (of_a_.packed) packed_bytes_[0] = align_up(static_cast<size_t>(a.elements()) * item_);
  if (of_b_.packed) packed_bytes_[1] = align_up(static_cast<size_t>(b.elements()) * item_);
  if (!c.elements() || !k_) return;
  if (Status* failed = session.device().enter()) throw Error(Ref<Status>::adopt(failed));
  const int compute = c.dtype == DType::f64                   ? kCompute64F
                      : options.tf32 && c.dtype == DType::f32 ? kCompute32FFastTF32
                                                              : kCompute32F;
  problem_.emplace(session, ProblemShape{library_type(c.dtype), compute, c.dtype == DType::f64 ? kF64 : kF32, m_, n_,
                                         k_, batch_, options.bias, of_a_, of_b_, of_c_});
  const Choice choice = session.algorithms().find(
      session, *problem_, {kAlignment, Problem::kMostWorkspace, options.timed, options.of_class});
  aligned_ = choice.algorithm, workspace_bytes_ = align_up(choice.workspace_bytes);
}

void Product::join_batches(const Buffer& a, const Buffer& b, const Buffer& c) {
  if (outer_.empty()) return;
  const double launch =
      2.0 * static_cast<double>(m_) * static_cast<double>(n_) * static_cast<double>(k_) * static_cast<double>(batch_);
  Matrix of_a = of_a_, of_b = of_b_, of_c = of_c_;
  for (auto [matrix, buffer] : {std::pair(&of_a, &a), std::pair(&of_b, &b)})
    if (launch < kSmallLaunch && !merged_batch_stride(matrix->shape, matrix->strides) &&
        !broadcasts_matrices(matrix->shape, matrix->strides))
      *matrix = dense(*buffer);
  const auto stride_a = merged_batch_stride(of_a.shape, of_a.strides),
             stride_b = merged_batch_stride(of_b.shape, of_b.strides),
             stride_c = merged_batch_stride(of_c.shape, of_c.strides);
  if (!stride_a || !stride_b || !stride_c) return;
  of_a.batch_stride = *stride_a, of_b.batch_stride = *stride_b, of_c.batch_stride = *stride_c;
  of_a_ = of_a, of_b_ = of_b, of_c_ = of_c;
  batch_ = 1, outer_.clear();
  for (int32_t d = 0; d + 2 < c.rank; d++) batch_ *= c.shape[d];
}

Product::Matrix Product::describe(const Buffer& b) const {
  const int32_t r = b.rank;
  const int64_t rows = b.shape[r - 2], columns = b.shape[r - 1], row = b.strides[r - 2], column = b.strides[r - 1];
  Matrix m;
  m.shape.assign(b.shape, b.shape + r), m.strides.assign(b.strides, b.strides + r);
  if ((column == 1 || columns == 1) && (row >= columns || rows == 1)) {
    m.leading = std::max(rows == 1 ? columns : row, int64_t{1});
  } else if ((row == 1 || rows == 1) && (column >= rows || columns == 1)) {
    m.transposed = true, m.leading = std::max(columns == 1 ? rows : column, int64_t{1});
  } else {
    return dense(b);
  }
  m.batch_stride = r > 2 ? m.strides[static_cast<size_t>(r - 3)] : 0;
  return m;
}

Product::Matrix Product::dense(const Buffer& b) {
  const auto r = static_cast<size_t>(b.rank);
  Matrix m;
  m.packed = true, m.shape.assign(b.shape, b.shape + r), m.strides = dense_strides({b.shape, r});
  m.leading = std::max(b.shape[r - 1], int64_t{1});
  m.batch_stride = r > 2 ? m.strides[r - 3] : 0;
  return m;
}

Buffer Product::pack_if_needed(const Buffer& b, const Matrix& m, void* at, Status*& failed) const {
  if (!m.packed) return b;
  Buffer dense = b;
  dense.data = at, dense.strides = m.strides.data();
  failed = copy_on_device(session_.device(), b, dense);
  return dense;
}

Status* Product::multiply(const std::byte* a, const std::byte* b, std::byte* c, const void* bias,
                          void* workspace) const {
  const bool is_aligned =
      (reinterpret_cast<uintptr_t>(a) | reinterpret_cast<uintptr_t>(b) | reinterpret_cast<uintptr_t>(c)) % kAlignment ==
      0;
  if (is_aligned) return problem_->run(a, b, c, bias, workspace, workspace_bytes_, aligned_);
  return catch_as_status([&] {
    const AlgorithmUse use{static_cast<uint32_t>(item_), workspace_bytes_};
    const Algorithm algorithm = session_.algorithms().find(session_, *problem_, use).algorithm;
    return problem_->run(a, b, c, bias, workspace, workspace_bytes_, algorithm);
  });
}

Status* Product::run(const Buffer& a, const Buffer& b, const Buffer& c, const void* bias, void* scratch) const {
  if (!c.elements()) return nullptr;
  if (!k_) return session_.device().fill_with_zeros(c.data, static_cast<size_t>(c.elements()) * item_);
  if (Status* failed = session_.device().enter()) return failed;
  Status* failed = nullptr;
  const auto address = reinterpret_cast<uintptr_t>(scratch);
  auto* at = static_cast<std::byte*>(scratch) + ((kWorkspaceAlign - address % kWorkspaceAlign) % kWorkspaceAlign);
  const Buffer left = pack_if_needed(a, of_a_, at + workspace_bytes_, failed);
  if (failed) return failed;
  const Buffer right = pack_if_needed(b, of_b_, at + workspace_bytes_ + packed_bytes_[0], failed);
  if (failed) return failed;
  const auto item = static_cast<int64_t>(item_);
  int64_t outer = 1;
  for (int64_t size : outer_) outer *= size;
  for (int64_t i = 0; i < outer; i++) {
    int64_t rest = i, at_a = 0, at_b = 0, at_c = 0;
    for (size_t d = outer_.size(); d-- > 0; rest /= outer_[d]) {
      const int64_t index = rest % outer_[d];
      at_a += index * left.strides[d], at_b += index * right.strides[d], at_c += index * c.strides[d];
    }
    failed = multiply(left.as<std::byte>() + at_a * item, right.as<std::byte>() + at_b * item,
                      c.as<std::byte>() + at_c * item, bias, at);
    if (failed) return failed;
  }
  return nullptr;
}

}  // namespace thunder::cublaslt
