// A stand-in for cuSOLVER, by LAPACK.
#include <algorithm>
#include <vector>

#include "lapack.h"

namespace {

using fake_lapack::enqueue;
using fake_lapack::Handle;
constexpr int kAllocationFailed = 2, kExecutionFailed = 6, kOutOfMemory = 2;  // cusolverStatus_t, and the driver's
// Workspaces have a size, so that none is forgotten.
constexpr int kWorkspace = 16;

int told() {
  const int failed = fake_cuda_called();
  return !failed ? 0 : failed == kOutOfMemory ? kAllocationFailed : kExecutionFailed;
}
#define CALL() \
  if (const int failed = told()) return failed
int ask(int* size) {
  CALL();
  return *size = kWorkspace, 0;
}

template <class T, class F>
F* lapack(const char* name) {
  return fake_lapack::function<T, F>(name);
}
const char* fill(int upper) { return upper ? "U" : "L"; }

template <class T>
void factor_cholesky(int upper, int n, T* a, int lda, int* info) {
  lapack<T, void(const char*, const int*, T*, const int*, int*, size_t)>("potrf")(fill(upper), &n, a, &lda, info, 1);
}
template <class T>
int potrf(Handle* h, int upper, int n, T* a, int lda, T* work, int size, int* info) {
  CALL();
  return enqueue(h, [=] { work[size - 1] = 0, factor_cholesky(upper, n, a, lda, info); });
}
template <class T>
int potrf_batched(Handle* h, int upper, int n, T** each, int lda, int* info, int batch) {
  CALL();
  return enqueue(h, [=] {
    for (int i = 0; i < batch; i++) factor_cholesky(upper, n, each[i], lda, info + i);
  });
}
template <class T>
int getrf(Handle* h, int m, int n, T* a, int lda, T* work, int* pivots, int* info) {
  CALL();
  return enqueue(h, [=] {
    work[kWorkspace - 1] = 0;
    lapack<T, void(const int*, const int*, T*, const int*, int*, int*)>("getrf")(&m, &n, a, &lda, pivots, info);
  });
}
template <class T>
int getrs(Handle* h, int transposed, int n, int sides, const T* a, int lda, const int* pivots, T* b, int ldb, int* info) {
  CALL();
  using F = void(const char*, const int*, const int*, const T*, const int*, const int*, T*, const int*, int*, size_t);
  return enqueue(h, [=] { lapack<T, F>("getrs")(transposed ? "T" : "N", &n, &sides, a, &lda, pivots, b, &ldb, info, 1); });
}
template <class T>
int geqrf(Handle* h, int m, int n, T* a, int lda, T* tau, T* work, int size, int* info) {
  CALL();
  using F = void(const int*, const int*, T*, const int*, T*, T*, const int*, int*);
  return enqueue(h, [=] {
    work[size - 1] = 0;
    const int own_size = 64 * std::max(m, n);
    std::vector<T> own(static_cast<size_t>(own_size));
    lapack<T, F>("geqrf")(&m, &n, a, &lda, tau, own.data(), &own_size, info);
  });
}
template <class T>
int orgqr(Handle* h, int m, int n, int k, T* a, int lda, const T* tau, T* work, int size, int* info) {
  CALL();
  using F = void(const int*, const int*, const int*, T*, const int*, const T*, T*, const int*, int*);
  return enqueue(h, [=] {
    work[size - 1] = 0;
    const int own_size = 64 * std::max(m, n);
    std::vector<T> own(static_cast<size_t>(own_size));
    lapack<T, F>("orgqr")(&m, &n, &k, a, &lda, tau, own.data(), &own_size, info);
  });
}
template <class T>
int syevd(Handle* h, int vectors, int upper, int n, T* a, int lda, T* values, T* work, int size, int* info) {
  CALL();
  using F = void(const char*, const char*, const int*, T*, const int*, T*, T*, const int*, int*, const int*, int*, size_t, size_t);
  return enqueue(h, [=] {
    work[size - 1] = 0;
    const int own_size = 1 + 6 * n + 2 * n * n, places_size = 3 + 5 * n;
    std::vector<T> own(static_cast<size_t>(own_size));
    std::vector<int> places(static_cast<size_t>(places_size));
    lapack<T, F>("syevd")(vectors ? "V" : "N", fill(upper), &n, a, &lda, values, own.data(), &own_size, places.data(), &places_size, info, 1, 1);
  });
}
// Its right vectors are columns, LAPACK's are rows.
template <class T>
int gesvdj(Handle* h, int, int economic, int m, int n, T* a, int lda, T* s, T* u, int ldu, T* v, int ldv, T* work, int size, int* info, void*) {
  CALL();
  using F = void(const char*, const int*, const int*, T*, const int*, T*, T*, const int*, T*, const int*, T*, const int*, int*, int*, size_t);
  return enqueue(h, [=] {
    work[size - 1] = 0;
    const int least = std::min(m, n), rows = economic ? least : n, own_size = least * (6 + 4 * least) + 72 * std::max(m, n) + 1;
    std::vector<T> own(static_cast<size_t>(own_size)), vt(static_cast<size_t>(rows) * static_cast<size_t>(n));
    std::vector<int> places(8 * static_cast<size_t>(least));
    lapack<T, F>("gesdd")(economic ? "S" : "A", &m, &n, a, &lda, s, u, &ldu, vt.data(), &rows, own.data(), &own_size, places.data(), info, 1);
    for (int r = 0; r < rows; r++)
      for (int c = 0; c < n; c++) v[r * ldv + c] = vt[static_cast<size_t>(c) * static_cast<size_t>(rows) + static_cast<size_t>(r)];
  });
}

}  // namespace

extern "C" {

int cusolverGetVersion(int* version) { return *version = 12000, 0; }
int cusolverDnCreate(Handle** out) {
  CALL();
  return *out = new Handle, 0;
}
int cusolverDnDestroy(Handle* h) { return delete h, 0; }
int cusolverDnSetStream(Handle* h, void* stream) {
  CALL();
  return h->stream = stream, 0;
}
int cusolverDnCreateGesvdjInfo(void** out) {
  CALL();
  return *out = new char, 0;
}
int cusolverDnDestroyGesvdjInfo(void* info) { return delete static_cast<char*>(info), 0; }

#define FUNCTIONS(letter, T)                                                                                                             \
  int cusolverDn##letter##potrf_bufferSize(Handle*, int, int, T*, int, int* size) { return ask(size); }                                  \
  int cusolverDn##letter##potrf(Handle* h, int upper, int n, T* a, int lda, T* work, int size, int* info) {                              \
    return potrf(h, upper, n, a, lda, work, size, info);                                                                                 \
  }                                                                                                                                      \
  int cusolverDn##letter##potrfBatched(Handle* h, int upper, int n, T** each, int lda, int* info, int batch) {                           \
    return potrf_batched(h, upper, n, each, lda, info, batch);                                                                           \
  }                                                                                                                                      \
  int cusolverDn##letter##getrf_bufferSize(Handle*, int, int, T*, int, int* size) { return ask(size); }                                  \
  int cusolverDn##letter##getrf(Handle* h, int m, int n, T* a, int lda, T* work, int* pivots, int* info) {                               \
    return getrf(h, m, n, a, lda, work, pivots, info);                                                                                   \
  }                                                                                                                                      \
  int cusolverDn##letter##getrs(Handle* h, int op, int n, int sides, const T* a, int lda, const int* pivots, T* b, int ldb, int* info) { \
    return getrs(h, op, n, sides, a, lda, pivots, b, ldb, info);                                                                         \
  }                                                                                                                                      \
  int cusolverDn##letter##geqrf_bufferSize(Handle*, int, int, T*, int, int* size) { return ask(size); }                                  \
  int cusolverDn##letter##geqrf(Handle* h, int m, int n, T* a, int lda, T* tau, T* work, int size, int* info) {                          \
    return geqrf(h, m, n, a, lda, tau, work, size, info);                                                                                \
  }                                                                                                                                      \
  int cusolverDn##letter##orgqr_bufferSize(Handle*, int, int, int, const T*, int, const T*, int* size) { return ask(size); }             \
  int cusolverDn##letter##orgqr(Handle* h, int m, int n, int k, T* a, int lda, const T* tau, T* work, int size, int* info) {             \
    return orgqr(h, m, n, k, a, lda, tau, work, size, info);                                                                             \
  }                                                                                                                                      \
  int cusolverDn##letter##syevd_bufferSize(Handle*, int, int, int, const T*, int, const T*, int* size) { return ask(size); }             \
  int cusolverDn##letter##syevd(Handle* h, int vectors, int upper, int n, T* a, int lda, T* w, T* work, int size, int* info) {           \
    return syevd(h, vectors, upper, n, a, lda, w, work, size, info);                                                                     \
  }                                                                                                                                      \
  int cusolverDn##letter##gesvdj_bufferSize(Handle*, int, int, int, int, const T*, int, const T*, const T*, int, const T*, int,          \
                                            int* size, void*) {                                                                          \
    return ask(size);                                                                                                                    \
  }                                                                                                                                      \
  int cusolverDn##letter##gesvdj(Handle* h, int vectors, int economic, int m, int n, T* a, int lda, T* s, T* u, int ldu, T* v, int ldv,  \
                                 T* work, int size, int* info, void* jacobi) {                                                           \
    return gesvdj(h, vectors, economic, m, n, a, lda, s, u, ldu, v, ldv, work, size, info, jacobi);                                      \
  }
FUNCTIONS(S, float)
FUNCTIONS(D, double)
}
