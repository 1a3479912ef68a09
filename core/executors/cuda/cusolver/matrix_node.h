// Shared by the kernels of linear algebra that call cuSOLVER and cuBLAS.
#pragma once

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "executors/cuda/cusolver/matrix_kernels.h"
#include "executors/cuda/cusolver/session.h"
#include "program/kernel.h"

namespace thunder::cusolver {

// Memory that is handed out piece by piece: without any, only counted.
class Pieces {
 public:
  explicit Pieces(void* memory = nullptr) : memory_(static_cast<std::byte*>(memory)) {}
  template <class X>
  X* take(int64_t count) {
    constexpr size_t kAlignment = 256;
    std::byte* const at = memory_ ? memory_ + bytes_ : nullptr;
    bytes_ += (static_cast<size_t>(count) * sizeof(X) + kAlignment - 1) / kAlignment * kAlignment;
    return reinterpret_cast<X*>(at);
  }
  size_t bytes() const { return bytes_; }

 private:
  std::byte* const memory_;
  size_t bytes_ = 0;
};

// The last two dims are matrices, those before them a batch.
struct Matrices {
  explicit Matrices(const TensorType& t) : Matrices(concrete(t.shape)) {}
  explicit Matrices(const Sizes& sizes) : rows(sizes[sizes.size() - 2]), columns(sizes[sizes.size() - 1]) {
    for (size_t i = 0; i + 2 < sizes.size(); i++) batch *= sizes[i];
  }
  int64_t elements() const { return rows * columns; }
  int64_t all_elements() const { return batch * elements(); }
  int64_t batch = 1, rows, columns;
};

// Beyond such a size a batch is worked on matrix by matrix.
constexpr int64_t kMostBatched = 256;

// The error message for a `info` of the device that is not 0, and the matrix's number.
using Refusal = std::string (*)(int64_t index);

// T: float or double. Tensors are dense; the libraries see a matrix as its transpose, since they take columns.
template <class T>
class MatrixNode : public Kernel {
 public:
  template <class K>
  MatrixNode(const K* self, Session& session, const NodeView& view, Refusal refusal)
      : Kernel(self), session_(session), kept_(&session.device()), in_(view.store.type(view.node.args[0].v)) {
    MatrixKernels::begin_compiling(session.device(), kType);
    if (!refusal) return;
    assertion_ = session.device().watch([op = std::string(view.node.op->name()), refusal,
                                         batch = in_.batch](const nvidia::DeviceAssertion& r) {
      const std::string which = batch > 1 ? cat(" (matrix ", r.expr, " of the batch)") : std::string();
      return make<Status>(Code::invalid_argument, cat(op, ": ", refusal(r.index), which));
    });
  }
  ~MatrixNode() override {
    if (assertion_) kept_->unwatch(assertion_);
  }
  void finish_compiling() override { kernels_.emplace(session_.device(), kType); }
  size_t scratch() const override { return scratch_; }

 protected:
  static constexpr DType kType = sizeof(T) == sizeof(double) ? DType::f64 : DType::f32;
  const SolverFunctions<T>& solver() const { return session_.library().template solver_functions<T>(); }
  const BlasFunctions<T>& blas() const { return session_.library().template blas_functions<T>(); }
  Handle handle() const { return session_.handle(); }
  bool is_batched() const { return in_.batch > 1 && in_.rows <= kMostBatched; }
  int rows() const { return static_cast<int>(in_.rows); }
  int columns() const { return static_cast<int>(in_.columns); }
  int batch() const { return static_cast<int>(in_.batch); }
  Status* copy(const T* from, T* to, int64_t count) const {
    const int64_t bytes = count * static_cast<int64_t>(sizeof(T)), one = 1;
    if (!bytes || from == to) return nullptr;
    auto* source = reinterpret_cast<std::byte*>(const_cast<T*>(from));
    return session_.device().copy({source, 1, &bytes, &one}, {reinterpret_cast<std::byte*>(to), 1, &bytes, &one}, 1);
  }
  // Takes as much scratch memory as the areas of `own`, the kernel, come to.
  template <class Areas, class K>
  void reserve_scratch(const K& own) {
    Pieces pieces;
    Areas(pieces, own);
    scratch_ = pieces.bytes();
  }
  // The size of a workspace, in elements, which `ask` gets from the library.
  template <class F>
  int query_workspace(F&& ask, const char* what) {
    int size = 0;
    std::lock_guard lock(session_.mutex());
    session_.require(ask(&size), what);
    return size;
  }
  // Calls f(), which calls the libraries, on this thread's stream.
  template <class F>
  Status* run_with_library(const F& f) const {
    std::lock_guard lock(session_.mutex());
    if (Status* failed = session_.device().enter()) return failed;
    if (Status* failed = session_.follow_stream()) return failed;
    return f();
  }
  Status* status(int result, const char* what) const { return session_.status(result, what); }
  // Calls f(i), which gives what the library does, for each matrix.
  template <class F>
  Status* for_each_matrix(const char* what, const F& f) const {
    for (int64_t i = 0; i < in_.batch; i++)
      if (Status* failed = status(f(i), what)) return failed;
    return nullptr;
  }

  Session& session_;
  const Ref<nvidia::CudaDevice> kept_;
  const Matrices in_;
  nvidia::DeviceAssertion* assertion_ = nullptr;
  std::optional<MatrixKernels> kernels_;
  size_t scratch_ = 0;
};

// A kernel K<T> for the node's dtype.
template <template <class> class K>
KernelPtr make_for_dtype(Session& session, const NodeView& view) {
  if (view.store.type(view.node.args[0].v).dtype == DType::f64) return std::make_unique<K<double>>(session, view);
  return std::make_unique<K<float>>(session, view);
}

// The kernel for the op's name and the node's dtype. Null: there is none.
KernelPtr prepare_factors(Session& session, const NodeView& view);
KernelPtr prepare_system(Session& session, const NodeView& view);

}  // namespace thunder::cusolver
