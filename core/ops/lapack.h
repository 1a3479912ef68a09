// The LAPACK of the machine, opened at its first use: the interface of Fortran, which is the same since version 3.0.
#pragma once

#include <cstdint>
#include <string>

namespace thunder {

// Matrices are dense columns. Characters have their length, 1, behind all other arguments, as Fortran compilers pass
// it.
template <class T>
struct LapackFunctions {
  using Int = const int*;
  using Char = const char*;
  void (*potrf)(Char uplo, Int n, T* a, Int lda, int* info, size_t);
  void (*trtrs)(Char uplo, Char trans, Char diag, Int n, Int nrhs, const T* a, Int lda, T* b, Int ldb, int* info,
                size_t, size_t, size_t);
  void (*getrf)(Int m, Int n, T* a, Int lda, int* pivots, int* info);
  void (*getrs)(Char trans, Int n, Int nrhs, const T* a, Int lda, Int pivots, T* b, Int ldb, int* info, size_t);
  void (*geqrf)(Int m, Int n, T* a, Int lda, T* tau, T* work, Int lwork, int* info);
  void (*orgqr)(Int m, Int n, Int k, T* a, Int lda, const T* tau, T* work, Int lwork, int* info);
  void (*gesdd)(Char jobz, Int m, Int n, T* a, Int lda, T* s, T* u, Int ldu, T* vt, Int ldvt, T* work, Int lwork,
                int* iwork, int* info, size_t);
  void (*syevd)(Char jobz, Char uplo, Int n, T* a, Int lda, T* w, T* work, Int lwork, int* iwork, Int liwork, int* info,
                size_t, size_t);
  // From the BLAS that it uses.
  void (*gemm)(Char transa, Char transb, Int m, Int n, Int k, const T* alpha, const T* a, Int lda, const T* b, Int ldb,
               const T* beta, T* c, Int ldc, size_t, size_t);
};

struct Lapack {
  LapackFunctions<float> f32;
  LapackFunctions<double> f64;
  // Several threads may call it at a time: OpenBLAS with threads of its own is built so, the reference may not be.
  bool reentrant = false;
  bool one_at_a_time = false;  // OpenBLAS without threads: calls share buffers
  template <class T>
  const LapackFunctions<T>& of() const {
    if constexpr (sizeof(T) == 4) return f32;
    else return f64;
  }
  // Null: there is none, and `why` says what was tried.
  static const Lapack* get(const std::string*& why);
};

}  // namespace thunder
