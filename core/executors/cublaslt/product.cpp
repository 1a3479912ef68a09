#include "executors/cublaslt/product.h"

#include <array>
#include <optional>

#include "base/text.h"
#include "tensor/transfer.h"

namespace thunder::cublaslt {
namespace {

constexpr size_t kMostWorkspace = size_t{32} << 20;

void must(Status* failed) {
  if (failed) throw Error(Ref<Status>::adopt(failed));
}

// A launch of fewer operations ends before the host has prepared the next one, or leaves multiprocessors idle.
constexpr double kSmallLaunch = 4e9;

size_t aligned(size_t bytes) { return (bytes + 255) / 256 * 256; }

// The stride between matrices once all leading dims are merged; none: they cannot be merged.
std::optional<int64_t> joint_stride(const Sizes& shape, const Sizes& strides) {
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

static DataType type_of(DType dtype) {
  switch (dtype) {
    case DType::f64: return kF64;
    case DType::bf16: return kBF16;
    case DType::f16: return kF16;
    default: return kF32;
  }
}

bool multiplies(DType dtype) { return is_real(dtype); }

Session::Session(const Library& library, nvidia::CudaDevice& device) : library_(library), device_(device) {
  must(device.enter());
  must(status(library.create(&handle_), "cublasLtCreate"));
}
Session::~Session() { library_.destroy(handle_); }

Status* Session::status(int result, const char* what) const {
  if (!result) return nullptr;
  return make<Status>(Code::backend, cat(name(device_.id()), ": ", what, " failed with status ", result)).detach();
}

// The library's matrices are column-major: a row-major c = a b is its c' = b' a'.
Product::Product(const Session& session, const Buffer& a, const Buffer& b, const Buffer& c,
                 const ProductOptions& options)
    : session_(session), item_(size_of(c.dtype)), bias_(options.bias) {
  const int32_t rank = c.rank;
  m_ = c.shape[rank - 2], n_ = c.shape[rank - 1], k_ = a.shape[rank - 1];
  batch_ = rank > 2 ? c.shape[rank - 3] : 1;
  for (int32_t d = 0; d + 3 < rank; d++) outer_.push_back(c.shape[d]);
  type_ = type_of(c.dtype);
  compute_ = c.dtype == DType::f64                   ? kCompute64F
             : options.tf32 && c.dtype == DType::f32 ? kCompute32FFastTF32
                                                     : kCompute32F;
  scale_ = c.dtype == DType::f64 ? kF64 : kF32;
  of_a_ = describe(a), of_b_ = describe(b), of_c_ = describe(c);
  ensure(!of_c_.transposed && !of_c_.packed, "a product's result is dense");
  join_batches(a, b, c);
  if (of_a_.packed) packed_bytes_[0] = aligned(static_cast<size_t>(a.elements()) * item_);
  if (of_b_.packed) packed_bytes_[1] = aligned(static_cast<size_t>(b.elements()) * item_);
  if (!c.elements() || !k_) return;
  must(session.device().enter());
  try {
    const Library& l = session.library();
    must(session.status(l.desc_create(&desc_, compute_, scale_), "cublasLtMatmulDescCreate"));
    const int of_b = of_b_.transposed ? kTransposed : kNone, of_a = of_a_.transposed ? kTransposed : kNone;
    must(session.status(l.desc_set(desc_, kTransA, &of_b, sizeof of_b), "cublasLtMatmulDescSetAttribute"));
    must(session.status(l.desc_set(desc_, kTransB, &of_a, sizeof of_a), "cublasLtMatmulDescSetAttribute"));
    if (bias_) {
      // Heuristics look at the alignment of the bias; each run sets its address.
      const void* const anywhere = reinterpret_cast<const void*>(uintptr_t{256});
      must(session.status(l.desc_set(desc_, kEpilogue, &kEpilogueBias, sizeof kEpilogueBias),
                          "cublasLtMatmulDescSetAttribute"));
      must(session.status(l.desc_set(desc_, kBiasPointer, &anywhere, sizeof anywhere),
                          "cublasLtMatmulDescSetAttribute"));
    }
    const auto m = static_cast<uint64_t>(m_), n = static_cast<uint64_t>(n_), k = static_cast<uint64_t>(k_);
    make_layout(b_, of_b_, of_b_.transposed ? k : n, of_b_.transposed ? n : k);
    make_layout(a_, of_a_, of_a_.transposed ? m : k, of_a_.transposed ? k : m);
    make_layout(c_, of_c_, n, m);
    unaligned_ = choose_algorithm(static_cast<uint32_t>(item_));
    aligned_ = choose_algorithm(kAlignment);
  } catch (...) {
    destroy();
    throw;
  }
}

void Product::join_batches(const Buffer& a, const Buffer& b, const Buffer& c) {
  if (outer_.empty()) return;
  const double launch =
      2.0 * static_cast<double>(m_) * static_cast<double>(n_) * static_cast<double>(k_) * static_cast<double>(batch_);
  Matrix of_a = of_a_, of_b = of_b_, of_c = of_c_;
  for (auto [matrix, buffer] : {std::pair(&of_a, &a), std::pair(&of_b, &b)})
    if (launch < kSmallLaunch && !joint_stride(matrix->shape, matrix->strides) &&
        !broadcasts_matrices(matrix->shape, matrix->strides))
      *matrix = dense(*buffer);
  const auto stride_a = joint_stride(of_a.shape, of_a.strides), stride_b = joint_stride(of_b.shape, of_b.strides),
             stride_c = joint_stride(of_c.shape, of_c.strides);
  if (!stride_a || !stride_b || !stride_c) return;
  of_a.batch_stride = *stride_a, of_b.batch_stride = *stride_b, of_c.batch_stride = *stride_c;
  of_a_ = of_a, of_b_ = of_b, of_c_ = of_c;
  batch_ = 1, outer_.clear();
  for (int32_t d = 0; d + 2 < c.rank; d++) batch_ *= c.shape[d];
}

Product::~Product() { destroy(); }

void Product::destroy() {
  const Library& l = session_.library();
  for (Layout layout : {a_, b_, c_})
    if (layout) l.layout_destroy(layout);
  if (desc_) l.desc_destroy(desc_);
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

void Product::make_layout(Layout& layout, const Matrix& m, uint64_t rows, uint64_t columns) {
  const Library& l = session_.library();
  must(session_.status(l.layout_create(&layout, type_, rows, columns, m.leading), "cublasLtMatrixLayoutCreate"));
  const auto count = static_cast<int32_t>(batch_);
  must(session_.status(l.layout_set(layout, kBatchCount, &count, sizeof count), "cublasLtMatrixLayoutSetAttribute"));
  must(session_.status(l.layout_set(layout, kBatchStride, &m.batch_stride, sizeof m.batch_stride),
                       "cublasLtMatrixLayoutSetAttribute"));
}

Algorithm Product::choose_algorithm(uint32_t alignment) {
  const Library& l = session_.library();
  Preference preference = nullptr;
  must(session_.status(l.preference_create(&preference), "cublasLtMatmulPreferenceCreate"));
  const size_t most = kMostWorkspace;
  Heuristic found{};
  int count = 0;
  int failed = l.preference_set(preference, kMaxWorkspace, &most, sizeof most);
  for (int which : {kAlignmentOfA, kAlignmentOfB, kAlignmentOfC, kAlignmentOfD})
    if (!failed) failed = l.preference_set(preference, which, &alignment, sizeof alignment);
  if (!failed) failed = l.heuristic(session_.handle(), desc_, b_, a_, c_, c_, preference, 1, &found, &count);
  l.preference_destroy(preference);
  must(session_.status(failed, "cublasLtMatmulAlgoGetHeuristic"));
  if (!count || found.state) fail(Code::backend, "cuBLASLt has no algorithm for this product");
  workspace_bytes_ = std::max(workspace_bytes_, aligned(found.workspace_bytes));
  return found.algorithm;
}

Buffer Product::packed(const Buffer& b, const Matrix& m, void* at, Status*& failed) const {
  if (!m.packed) return b;
  Buffer dense = b;
  dense.data = at, dense.strides = m.strides.data();
  failed = copy_on_device(session_.device(), b, dense);
  return dense;
}

Status* Product::multiply(const std::byte* a, const std::byte* b, std::byte* c, const void* bias,
                          void* workspace) const {
  const double one_f64 = 1, zero_f64 = 0;
  const float one = 1, zero = 0;
  const void *alpha = scale_ == kF64 ? static_cast<const void*>(&one_f64) : &one,
             *beta = scale_ == kF64 ? static_cast<const void*>(&zero_f64) : &zero;
  const bool is_aligned =
      (reinterpret_cast<uintptr_t>(a) | reinterpret_cast<uintptr_t>(b) | reinterpret_cast<uintptr_t>(c)) % kAlignment ==
      0;
  const Algorithm& algorithm = is_aligned ? aligned_ : unaligned_;
  std::unique_lock<std::mutex> alone(bias_mutex_, std::defer_lock);
  if (bias_) {
    alone.lock();
    if (Status* failed = session_.status(session_.library().desc_set(desc_, kBiasPointer, &bias, sizeof bias),
                                         "cublasLtMatmulDescSetAttribute"))
      return failed;
  }
  const int result = session_.library().matmul(session_.handle(), desc_, alpha, b, b_, a, a_, beta, c, c_, c, c_,
                                               &algorithm, workspace, workspace_bytes_,
                                               static_cast<nvidia::Stream>(session_.device().native_stream()));
  return session_.status(result, "cublasLtMatmul");
}

Status* Product::run(const Buffer& a, const Buffer& b, const Buffer& c, const void* bias, void* scratch) const {
  if (!c.elements()) return nullptr;
  if (!k_) return session_.device().fill_with_zeros(c.data, static_cast<size_t>(c.elements()) * item_);
  if (Status* failed = session_.device().enter()) return failed;
  Status* failed = nullptr;
  const auto address = reinterpret_cast<uintptr_t>(scratch);
  auto* at = static_cast<std::byte*>(scratch) + ((kWorkspaceAlign - address % kWorkspaceAlign) % kWorkspaceAlign);
  const Buffer left = packed(a, of_a_, at + workspace_bytes_, failed);
  if (failed) return failed;
  const Buffer right = packed(b, of_b_, at + workspace_bytes_ + packed_bytes_[0], failed);
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
