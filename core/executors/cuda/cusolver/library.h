// cuSOLVER and cuBLAS, opened at run time: the entry points that are used, declared by hand after cusolverDn.h and
// cublas_v2.h.
#pragma once

#include <string>

#include "device/cuda/driver.h"

namespace thunder::cusolver {

using Handle = struct OpaqueHandle*;
using BlasHandle = struct OpaqueBlasHandle*;
using Jacobi = struct OpaqueJacobi*;

// Values of cublasFillMode_t, cublasOperation_t, cublasSideMode_t, cublasDiagType_t and cusolverEigMode_t.
enum Fill : int { kLower = 0, kUpper = 1 };
enum Operation : int { kNone = 0, kTransposed = 1 };
enum Side : int { kRight = 1 };
enum Diagonal : int { kNonUnit = 0, kUnit = 1 };
enum Vectors : int { kVectors = 1 };

// Matrices are dense columns. `info` is of the device: 0, or which minor or pivot is the first that is none.
// X(member, name behind "cusolverDnS" or "cusolverDnD", parameters)
#define THUNDER_CUSOLVER(X)                                                                                            \
  X(potrf_size, potrf_bufferSize, (Handle, int fill, int n, T*, int leading, int* size))                              \
  X(potrf, potrf, (Handle, int fill, int n, T*, int leading, T* work, int size, int* info))                           \
  X(potrf_batched, potrfBatched, (Handle, int fill, int n, T** each, int leading, int* info, int batch))              \
  X(getrf_size, getrf_bufferSize, (Handle, int rows, int columns, T*, int leading, int* size))                        \
  X(getrf, getrf, (Handle, int rows, int columns, T*, int leading, T* work, int* pivots, int* info))                  \
  X(getrs, getrs,                                                                                                      \
    (Handle, int operation, int n, int sides, const T*, int leading, const int* pivots, T* sides_of, int sides_leading,\
     int* info))                                                                                                       \
  X(geqrf_size, geqrf_bufferSize, (Handle, int rows, int columns, T*, int leading, int* size))                        \
  X(geqrf, geqrf, (Handle, int rows, int columns, T*, int leading, T* tau, T* work, int size, int* info))             \
  X(orgqr_size, orgqr_bufferSize,                                                                                      \
    (Handle, int rows, int columns, int reflectors, const T*, int leading, const T* tau, int* size))                  \
  X(orgqr, orgqr,                                                                                                      \
    (Handle, int rows, int columns, int reflectors, T*, int leading, const T* tau, T* work, int size, int* info))     \
  X(syevd_size, syevd_bufferSize,                                                                                      \
    (Handle, int vectors, int fill, int n, const T*, int leading, const T* values, int* size))                        \
  X(syevd, syevd,                                                                                                      \
    (Handle, int vectors, int fill, int n, T*, int leading, T* values, T* work, int size, int* info))                 \
  X(gesvdj_size, gesvdj_bufferSize,                                                                                    \
    (Handle, int vectors, int economic, int rows, int columns, const T*, int leading, const T* values, const T* left,  \
     int left_leading, const T* right, int right_leading, int* size, Jacobi))                                         \
  X(gesvdj, gesvdj,                                                                                                    \
    (Handle, int vectors, int economic, int rows, int columns, T*, int leading, T* values, T* left, int left_leading,  \
     T* right, int right_leading, T* work, int size, int* info, Jacobi))

// X(member, name behind "cublasS" or "cublasD", parameters)
#define THUNDER_CUBLAS(X)                                                                                              \
  X(trsm, trsm_v2,                                                                                                     \
    (BlasHandle, int side, int fill, int operation, int diagonal, int rows, int columns, const T* alpha, const T*,     \
     int leading, T* sides, int sides_leading))                                                                       \
  X(trsm_batched, trsmBatched,                                                                                         \
    (BlasHandle, int side, int fill, int operation, int diagonal, int rows, int columns, const T* alpha,              \
     const T* const* each, int leading, T* const* sides, int sides_leading, int batch))                               \
  X(getrf_batched, getrfBatched, (BlasHandle, int n, T* const* each, int leading, int* pivots, int* info, int batch)) \
  X(getrs_batched, getrsBatched,                                                                                       \
    (BlasHandle, int operation, int n, int sides, const T* const* each, int leading, const int* pivots,               \
     T* const* sides_of, int sides_leading, int* host_info, int batch))

#define THUNDER_CUSOLVER_MEMBER(member, symbol, parameters) int(*member) parameters = nullptr;
template <class T>
struct SolverFunctions {
  THUNDER_CUSOLVER(THUNDER_CUSOLVER_MEMBER)
};
template <class T>
struct BlasFunctions {
  THUNDER_CUBLAS(THUNDER_CUSOLVER_MEMBER)
};
#undef THUNDER_CUSOLVER_MEMBER

struct Solver {
  int (*create)(Handle*) = nullptr;
  int (*destroy)(Handle) = nullptr;
  int (*set_stream)(Handle, nvidia::Stream) = nullptr;
  int (*create_jacobi)(Jacobi*) = nullptr;
  int (*destroy_jacobi)(Jacobi) = nullptr;
  int (*version)(int*) = nullptr;
  SolverFunctions<float> f32;
  SolverFunctions<double> f64;
};
struct Blas {
  int (*create)(BlasHandle*) = nullptr;
  int (*destroy)(BlasHandle) = nullptr;
  int (*set_stream)(BlasHandle, nvidia::Stream) = nullptr;
  BlasFunctions<float> f32;
  BlasFunctions<double> f64;
};

struct Library {
  const Solver* solver;
  const Blas* blas;

  template <class T>
  const SolverFunctions<T>& solver_functions() const {
    if constexpr (sizeof(T) == sizeof(float)) return solver->f32;
    else return solver->f64;
  }
  template <class T>
  const BlasFunctions<T>& blas_functions() const {
    if constexpr (sizeof(T) == sizeof(float)) return blas->f32;
    else return blas->f64;
  }

  // Both libraries of the process, opened at the first call: THUNDER_CUSOLVER, libcusolver.so.12 or .11, and
  // THUNDER_CUBLAS, libcublas.so.13 or .12, also in Python's packages and in the toolkit's folder. Null: `why` says
  // what was tried. Any thread.
  static const Library* open(std::string& why);
  // "libcusolver.so.12, 12.0.4"
  static const std::string& report();
};

}  // namespace thunder::cusolver
