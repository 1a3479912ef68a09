// cuBLASLt, opened at run time: the entry points that are used, declared by hand after cublasLt.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "device/cuda/driver.h"

namespace thunder::cublaslt {

// Values of cudaDataType_t, cublasComputeType_t, cublasOperation_t and cublasLt's attributes; a test compares them with
// the headers where those are installed.
enum DataType : int { kF32 = 0, kF64 = 1, kF16 = 2, kBF16 = 14 };
enum ComputeType : int { kCompute32F = 68, kCompute64F = 70, kCompute32FFastTF32 = 77 };
enum Operation : int { kNone = 0, kTransposed = 1 };
enum DescAttribute : int { kTransA = 3, kTransB = 4, kEpilogue = 7, kBiasPointer = 8 };
constexpr int kEpilogueBias = 4;  // of cublasLtEpilogue_t
enum LayoutAttribute : int { kBatchCount = 5, kBatchStride = 6 };
enum PreferenceAttribute : int {
  kMaxWorkspace = 1,
  kAlignmentOfA = 5,
  kAlignmentOfB = 6,
  kAlignmentOfC = 7,
  kAlignmentOfD = 8
};

using Handle = struct OpaqueHandle*;
using Desc = struct OpaqueDesc*;
using Layout = struct OpaqueLayout*;
using Preference = struct OpaquePreference*;
struct Algorithm {
  uint64_t data[8];
};
struct Heuristic {
  Algorithm algorithm;
  size_t workspace_bytes;
  int state;  // 0: this one can be used
  float waves;
  int reserved[4];
};

#define THUNDER_CUBLASLT(X)                                                                                           \
  X(version, size_t, cublasLtGetVersion, ())                                                                          \
  X(create, int, cublasLtCreate, (Handle*))                                                                           \
  X(destroy, int, cublasLtDestroy, (Handle))                                                                          \
  X(desc_create, int, cublasLtMatmulDescCreate, (Desc*, int compute, int scale))                                      \
  X(desc_destroy, int, cublasLtMatmulDescDestroy, (Desc))                                                             \
  X(desc_set, int, cublasLtMatmulDescSetAttribute, (Desc, int attribute, const void* value, size_t bytes))            \
  X(layout_create, int, cublasLtMatrixLayoutCreate,                                                                   \
    (Layout*, int type, uint64_t rows, uint64_t columns, int64_t leading))                                            \
  X(layout_destroy, int, cublasLtMatrixLayoutDestroy, (Layout))                                                       \
  X(layout_set, int, cublasLtMatrixLayoutSetAttribute, (Layout, int attribute, const void* value, size_t bytes))      \
  X(preference_create, int, cublasLtMatmulPreferenceCreate, (Preference*))                                            \
  X(preference_destroy, int, cublasLtMatmulPreferenceDestroy, (Preference))                                           \
  X(preference_set, int, cublasLtMatmulPreferenceSetAttribute,                                                        \
    (Preference, int attribute, const void* value, size_t bytes))                                                     \
  X(heuristic, int, cublasLtMatmulAlgoGetHeuristic,                                                                   \
    (Handle, Desc, Layout a, Layout b, Layout c, Layout d, Preference, int wanted, Heuristic* results, int* found))   \
  X(check, int, cublasLtMatmulAlgoCheck,                                                                              \
    (Handle, Desc, Layout a, Layout b, Layout c, Layout d, const Algorithm*, Heuristic* result))                      \
  X(matmul, int, cublasLtMatmul,                                                                                      \
    (Handle, Desc, const void* alpha, const void* a, Layout, const void* b, Layout, const void* beta,                 \
     const void* c, Layout, void* d, Layout, const Algorithm*, void* workspace, size_t bytes, nvidia::Stream))

struct Library {
#define THUNDER_CUBLASLT_MEMBER(member, result, symbol, parameters) result(*member) parameters = nullptr;
  THUNDER_CUBLASLT(THUNDER_CUBLASLT_MEMBER)
#undef THUNDER_CUBLASLT_MEMBER

  // The process's cuBLASLt, opened at the first call: THUNDER_CUBLASLT, libcublasLt.so.13 or .12, also in Python's
  // packages and in the toolkit's folder. Null: `why` says what was tried. Any thread.
  static const Library* open(std::string& why);
  // "libcublasLt.so.13, 13.0.2"
  static const std::string& report();
};

}  // namespace thunder::cublaslt
