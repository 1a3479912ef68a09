// A stand-in for those parts of cuBLAS that cuSOLVER's users need, by BLAS and LAPACK.
#include <algorithm>

#include "lapack.h"

namespace {

using fake_lapack::enqueue;
using fake_lapack::Handle;
constexpr int kAllocationFailed = 3, kExecutionFailed = 13, kOutOfMemory = 2;  // cublasStatus_t, and the driver's

int told() {
  const int failed = fake_cuda_called();
  return !failed ? 0 : failed == kOutOfMemory ? kAllocationFailed : kExecutionFailed;
}
#define CALL() \
  if (const int failed = told()) return failed

template <class T, class F>
F* lapack(const char* name) {
  return fake_lapack::function<T, F>(name);
}

struct Triangle {
  int side, upper, transposed, unit, rows, columns;
  template <class T>
  void solve(T alpha, const T* a, int lda, T* b, int ldb) const {
    using F = void(const char*, const char*, const char*, const char*, const int*, const int*, const T*, const T*, const int*, T*, const int*,
                   size_t, size_t, size_t, size_t);
    lapack<T, F>("trsm")(side ? "R" : "L", upper ? "U" : "L", transposed ? "T" : "N", unit ? "U" : "N", &rows, &columns, &alpha, a, &lda, b, &ldb,
                         1, 1, 1, 1);
  }
};
template <class T>
int trsm(Handle* h, const Triangle& t, const T* alpha, const T* a, int lda, T* b, int ldb) {
  CALL();
  return enqueue(h, [=, alpha = *alpha] { t.solve(alpha, a, lda, b, ldb); });
}
template <class T>
int trsm_batched(Handle* h, const Triangle& t, const T* alpha, const T* const* each, int lda, T* const* sides, int ldb, int batch) {
  CALL();
  return enqueue(h, [=, alpha = *alpha] {
    for (int i = 0; i < batch; i++) t.solve(alpha, each[i], lda, sides[i], ldb);
  });
}
template <class T>
int getrf_batched(Handle* h, int n, T* const* each, int lda, int* pivots, int* info, int batch) {
  CALL();
  return enqueue(h, [=] {
    auto* const f = lapack<T, void(const int*, const int*, T*, const int*, int*, int*)>("getrf");
    for (int i = 0; i < batch; i++) f(&n, &n, each[i], &lda, pivots + i * n, info + i);
  });
}
template <class T>
int getrs_batched(Handle* h, int transposed, int n, int sides, const T* const* each, int lda, const int* pivots, T* const* b, int ldb, int* wrong,
                  int batch) {
  CALL();
  *wrong = 0;
  return enqueue(h, [=] {
    using F = void(const char*, const int*, const int*, const T*, const int*, const int*, T*, const int*, int*, size_t);
    int info = 0;
    for (int i = 0; i < batch; i++) lapack<T, F>("getrs")(transposed ? "T" : "N", &n, &sides, each[i], &lda, pivots + i * n, b[i], &ldb, &info, 1);
  });
}

}  // namespace

extern "C" {

int cublasCreate_v2(Handle** out) {
  CALL();
  return *out = new Handle, 0;
}
int cublasDestroy_v2(Handle* h) { return delete h, 0; }
int cublasSetStream_v2(Handle* h, void* stream) {
  CALL();
  return h->stream = stream, 0;
}
#define FUNCTIONS(letter, T)                                                                                                            \
  int cublas##letter##trsm_v2(Handle* h, int side, int upper, int op, int unit, int m, int n, const T* alpha, const T* a, int lda,      \
                              T* b, int ldb) {                                                                                          \
    return trsm(h, {side, upper, op, unit, m, n}, alpha, a, lda, b, ldb);                                                               \
  }                                                                                                                                     \
  int cublas##letter##trsmBatched(Handle* h, int side, int upper, int op, int unit, int m, int n, const T* alpha, const T* const* each, \
                                  int lda, T* const* sides, int ldb, int batch) {                                                       \
    return trsm_batched(h, {side, upper, op, unit, m, n}, alpha, each, lda, sides, ldb, batch);                                         \
  }                                                                                                                                     \
  int cublas##letter##getrfBatched(Handle* h, int n, T* const* each, int lda, int* pivots, int* info, int batch) {                      \
    return getrf_batched(h, n, each, lda, pivots, info, batch);                                                                         \
  }                                                                                                                                     \
  int cublas##letter##getrsBatched(Handle* h, int op, int n, int sides, const T* const* each, int lda, const int* pivots, T* const* b,  \
                                   int ldb, int* wrong, int batch) {                                                                    \
    return getrs_batched(h, op, n, sides, each, lda, pivots, b, ldb, wrong, batch);                                                     \
  }
FUNCTIONS(S, float)
FUNCTIONS(D, double)
}
