// cuDNN 9's graph interface, opened at run time: the entry points and constants that are used, declared by hand after
// cudnn_graph.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/status.h"
#include "device/cuda/driver.h"

namespace thunder::cudnn {

// Values of cudnnBackendDescriptorType_t, cudnnBackendAttributeType_t, cudnnBackendAttributeName_t and of the
// enumerations that attributes take; a test compares them with the header where that is installed.
enum Kind : int {
  kPointwise = 0,
  kConvolution = 1,
  kEngine = 2,
  kEngineConfig = 3,
  kHeuristics = 4,
  kPlan = 5,
  kForward = 10,
  kBackwardFilter = 11,
  kBackwardData = 12,
  kDoPointwise = 13,
  kGraph = 15,
  kVariantPack = 16,
  kTensor = 17,
  kMatmul = 18,
  kDoMatmul = 19,
  kReduction = 21,
  kDoReduction = 22,
  kDoReshape = 31,
};
enum Type : int {
  kTypeHandle = 0,
  kTypeDataType = 1,
  kTypeBoolean = 2,
  kTypeInt64 = 3,
  kTypeFloat = 4,
  kTypeDouble = 5,
  kTypePointer = 6,
  kTypeConvolutionMode = 7,
  kTypeHeuristicsMode = 8,
  kTypeNumericalNote = 11,
  kTypePointwiseMode = 14,
  kTypeDescriptor = 15,
  kTypeReductionOperator = 18,
};
enum Attribute : int {
  kPointwiseMode = 0,
  kPointwiseCompute = 1,
  kPointwiseAxis = 9,
  kConvolutionCompute = 100,
  kConvolutionMode = 101,
  kConvolutionDilations = 102,
  kConvolutionStrides = 103,
  kConvolutionPaddingAfter = 104,
  kConvolutionPaddingBefore = 105,
  kConvolutionDims = 106,
  kHeuristicsModeOf = 200,
  kHeuristicsGraph = 201,
  kHeuristicsResults = 202,
  kConfigEngine = 300,
  kPlanHandle = 400,
  kPlanConfig = 401,
  kPlanWorkspace = 402,
  kForwardAlpha = 700,         // then beta, the convolution, the filter, the image, the result
  kBackwardDataAlpha = 706,    // then the same
  kBackwardFilterAlpha = 712,  // then the same
  kDoPointwiseHow = 750,
  kDoPointwiseX = 751,
  kDoPointwiseB = 752,
  kDoPointwiseY = 753,
  kDoPointwiseT = 758,
  kGraphHandle = 800,
  kGraphOperations = 801,
  kTensorAlignment = 900,
  kTensorDataType = 901,
  kTensorSizes = 902,
  kTensorStrides = 903,
  kTensorId = 906,
  kTensorVirtual = 907,
  kTensorByValue = 908,
  kPackIds = 1000,
  kPackPointers = 1001,
  kPackWorkspace = 1003,
  kEngineNotes = 1303,
  kMatmulCompute = 1500,
  kDoMatmulA = 1520,
  kDoMatmulB = 1521,
  kDoMatmulC = 1522,
  kDoMatmulHow = 1523,
  kReductionOperator = 1600,
  kReductionCompute = 1601,
  kDoReductionX = 1610,
  kDoReductionY = 1611,
  kDoReductionHow = 1612,
  kDoReshapeX = 2200,
  kDoReshapeY = 2201,
};
enum DataType : int { kF32 = 0, kF64 = 1, kF16 = 2, kI32 = 4, kBF16 = 9, kBool = 11 };
// Values of cudnnPointwiseMode_t and cudnnReduceTensorOp_t.
enum Mode : int {
  kAdd = 0,
  kMul = 1,
  kDiv = 6,
  kSub = 9,
  kExp = 13,
  kLog = 15,
  kIdentity = 21,
  kGreaterEqual = 303,
  kIndex = 501,
  kSelect = 601,
};
enum Reduction : int { kSum = 0, kMax = 3 };
constexpr int kCrossCorrelation = 1;             // of cudnnConvolutionMode_t
constexpr int kModeFallback = 2, kModeA = 3;     // of cudnnBackendHeurMode_t
enum Note : int { kTensorCore = 0, kDownConverts = 1, kReducedPrecision = 2, kNondeterministic = 4, kNotes = 16 };

using Handle = struct OpaqueHandle*;
using Desc = void*;

#define THUNDER_CUDNN(X)                                                                              \
  X(version, size_t, cudnnGetVersion, ())                                                             \
  X(create, int, cudnnCreate, (Handle*))                                                              \
  X(destroy, int, cudnnDestroy, (Handle))                                                             \
  X(set_stream, int, cudnnSetStream, (Handle, nvidia::Stream))                                        \
  X(error_text, const char*, cudnnGetErrorString, (int status))                                       \
  X(make, int, cudnnBackendCreateDescriptor, (int kind, Desc*))                                       \
  X(drop, int, cudnnBackendDestroyDescriptor, (Desc))                                                 \
  X(set, int, cudnnBackendSetAttribute, (Desc, int name, int type, int64_t count, const void* values)) \
  X(get, int, cudnnBackendGetAttribute,                                                               \
    (Desc, int name, int type, int64_t wanted, int64_t* count, void* values))                         \
  X(finalize, int, cudnnBackendFinalize, (Desc))                                                      \
  X(execute, int, cudnnBackendExecute, (Handle, Desc plan, Desc pack))

struct Library {
#define THUNDER_CUDNN_MEMBER(member, result, symbol, parameters) result(*member) parameters = nullptr;
  THUNDER_CUDNN(THUNDER_CUDNN_MEMBER)
#undef THUNDER_CUDNN_MEMBER

  // CUDNN_STATUS_NOT_SUPPORTED and its sub-statuses mean that another executor takes the node.
  static Code code_of(int status) { return status / 1000 == 3 ? Code::declined : Code::backend; }

  // The process's cuDNN, opened at the first call: THUNDER_CUDNN, libcudnn.so.9, also in Python's packages and in the
  // toolkit's folder. Null: `why` says what was tried. Any thread.
  static const Library* open(std::string& why);
  // "libcudnn.so.9, 9.19.0"
  static const std::string& report();
};

}  // namespace thunder::cudnn
