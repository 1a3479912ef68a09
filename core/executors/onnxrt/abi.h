// The little of ONNX Runtime's C interface that is used, declared by hand: onnxruntime_c_api.h is a table of functions
// that only grows, so an index in it has meant the same function since the version that added it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace thunder::onnxrt {

struct OrtStatus;
struct OrtEnv;
struct OrtSession;
struct OrtSessionOptions;
struct OrtRunOptions;
struct OrtMemoryInfo;
struct OrtValue;
struct OrtIoBinding;

// The version of the table that is asked for: that of 1.19, the first whose wheels export OrtGetApiBase.
constexpr uint32_t kApiVersion = 19;

struct OrtApiBase {
  const void* const* (*get_api)(uint32_t version);
  const char* (*version)();
};

// Indices into the table.
enum Place : size_t {
  kGetErrorMessage = 2,
  kCreateEnv = 3,
  kCreateSessionFromArray = 8,
  kCreateSessionOptions = 10,
  kSetIntraOpNumThreads = 24,
  kCreateTensorWithData = 49,
  kCreateCpuMemoryInfo = 69,
  kReleaseStatus = 93,
  kReleaseSession = 95,
  kReleaseValue = 96,
  kReleaseSessionOptions = 100,
  kAddSessionConfigEntry = 130,
  kRunWithBinding = 133,
  kCreateIoBinding = 134,
  kReleaseIoBinding = 135,
  kBindInput = 136,
  kBindOutput = 137,
  kAddExternalInitializers = 210,
};

constexpr int kFatalOnly = 4;        // ORT_LOGGING_LEVEL_FATAL: lower levels print errors that are returned as well
constexpr int kDeviceAllocator = 0;  // OrtDeviceAllocator
constexpr int kDefaultMemory = 0;    // OrtMemTypeDefault

}  // namespace thunder::onnxrt
