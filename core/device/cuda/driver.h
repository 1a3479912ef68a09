// NVIDIA's driver, opened at run time: the entry points that are used, declared by hand after cuda.h. Their types are
// the same in CUDA 12 and 13.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace thunder::nvidia {

using Pointer = unsigned long long;  // CUdeviceptr
using Context = struct CUctx_st*;
using Stream = struct CUstream_st*;
using Event = struct CUevent_st*;
using Module = struct CUmod_st*;
using Function = struct CUfunc_st*;
using Graph = struct CUgraph_st*;
using Executable = struct CUgraphExec_st*;
using Node = struct CUgraphNode_st*;

// Values of CUresult, CUdevice_attribute and of flags; a test compares them with cuda.h where that is installed.
enum Result : int {
  kSuccess = 0,
  kOutOfMemory = 2,
  kNoDevice = 100,
  kEccUncorrectable = 214,
  kNotReady = 600,
  kIllegalAddress = 700,
  kLaunchTimeout = 702,
  kAssert = 710,
  kHardwareStackError = 714,
  kIllegalInstruction = 715,
  kMisalignedAddress = 716,
  kInvalidAddressSpace = 717,
  kInvalidPc = 718,
  kLaunchFailed = 719,
  kUnknown = 999,
};
enum Attribute : int { kMultiprocessors = 16, kL2Bytes = 38, kMajor = 75, kMinor = 76, kSharedBytesOfBlock = 97 };
// A blocking stream and the legacy default stream wait for each other.
constexpr unsigned kBlockingStream = 0, kNonBlockingStream = 1, kEventWithTime = 0, kEventWithoutTime = 2;
constexpr unsigned kPortableHostMemory = 1, kMappedHostMemory = 2;
constexpr int kMemoryType = 2;      // of CUpointer_attribute
constexpr int kRelaxedCapture = 2;  // of CUstreamCaptureMode
constexpr int kMaxDynamicSharedBytes = 8;  // of CUfunction_attribute

// CUDA_KERNEL_NODE_PARAMS.
struct KernelNode {
  Function function;
  unsigned blocks_x, blocks_y, blocks_z, threads_x, threads_y, threads_z, shared_bytes;
  void **parameters, **extra, *kernel, *context;
};

// Every function that must be there: X(member, symbol, parameters).
#define THUNDER_CUDA_DRIVER(X)                                                                                        \
  X(init, cuInit, (unsigned flags))                                                                                   \
  X(version, cuDriverGetVersion, (int* out))                                                                          \
  X(error_name, cuGetErrorName, (int result, const char** out))                                                       \
  X(error_text, cuGetErrorString, (int result, const char** out))                                                     \
  X(device_count, cuDeviceGetCount, (int* out))                                                                       \
  X(device_get, cuDeviceGet, (int* out, int index))                                                                   \
  X(device_name, cuDeviceGetName, (char* out, int bytes, int device))                                                 \
  X(device_bytes, cuDeviceTotalMem_v2, (size_t* out, int device))                                                     \
  X(device_attribute, cuDeviceGetAttribute, (int* out, int attribute, int device))                                    \
  X(primary_retain, cuDevicePrimaryCtxRetain, (Context * out, int device))                                            \
  X(primary_release, cuDevicePrimaryCtxRelease_v2, (int device))                                                      \
  X(set_current, cuCtxSetCurrent, (Context context))                                                                  \
  X(memory_info, cuMemGetInfo_v2, (size_t * free, size_t* total))                                                     \
  X(allocate, cuMemAlloc_v2, (Pointer * out, size_t bytes))                                                           \
  X(deallocate, cuMemFree_v2, (Pointer at))                                                                           \
  X(pointer_attributes, cuPointerGetAttributes, (unsigned count, int* attributes, void** out, Pointer at))            \
  X(allocate_host, cuMemHostAlloc, (void** out, size_t bytes, unsigned flags))                                        \
  X(deallocate_host, cuMemFreeHost, (void* at))                                                                       \
  X(copy_in, cuMemcpyHtoDAsync_v2, (Pointer to, const void* from, size_t bytes, Stream stream))                       \
  X(copy_out, cuMemcpyDtoHAsync_v2, (void* to, Pointer from, size_t bytes, Stream stream))                            \
  X(copy, cuMemcpyDtoDAsync_v2, (Pointer to, Pointer from, size_t bytes, Stream stream))                              \
  X(set_bytes, cuMemsetD8Async, (Pointer to, unsigned char value, size_t bytes, Stream stream))                       \
  X(set_words, cuMemsetD32Async, (Pointer to, unsigned value, size_t words, Stream stream))                           \
  X(stream_create, cuStreamCreate, (Stream * out, unsigned flags))                                                    \
  X(stream_destroy, cuStreamDestroy_v2, (Stream stream))                                                              \
  X(stream_wait, cuStreamSynchronize, (Stream stream))                                                                \
  X(stream_query, cuStreamQuery, (Stream stream))                                                                     \
  X(stream_capturing, cuStreamIsCapturing, (Stream stream, int* capturing))                                           \
  X(stream_wait_event, cuStreamWaitEvent, (Stream stream, Event event, unsigned flags))                               \
  X(event_create, cuEventCreate, (Event * out, unsigned flags))                                                       \
  X(event_destroy, cuEventDestroy_v2, (Event event))                                                                  \
  X(event_record, cuEventRecord, (Event event, Stream stream))                                                        \
  X(event_wait, cuEventSynchronize, (Event event))                                                                    \
  X(event_query, cuEventQuery, (Event event))                                                                         \
  X(event_elapsed, cuEventElapsedTime, (float* ms, Event first, Event last))                                          \
  X(capture_begin, cuStreamBeginCapture_v2, (Stream stream, int mode))                                                \
  X(capture_info, cuStreamGetCaptureInfo_v2,                                                                          \
    (Stream stream, int* capturing, unsigned long long* id, Graph* graph, const Node** dependencies, size_t* count))  \
  X(capture_end, cuStreamEndCapture, (Stream stream, Graph * out))                                                    \
  X(graph_instantiate, cuGraphInstantiateWithFlags, (Executable * out, Graph graph, unsigned long long flags))        \
  X(graph_set_kernel, cuGraphExecKernelNodeSetParams_v2, (Executable graph, Node node, const KernelNode* parameters)) \
  X(graph_launch, cuGraphLaunch, (Executable graph, Stream stream))                                                   \
  X(graph_executable_destroy, cuGraphExecDestroy, (Executable graph))                                                 \
  X(graph_destroy, cuGraphDestroy, (Graph graph))                                                                     \
  X(module_load, cuModuleLoadData, (Module * out, const void* image))                                                 \
  X(module_unload, cuModuleUnload, (Module module))                                                                   \
  X(module_function, cuModuleGetFunction, (Function * out, Module module, const char* name))                          \
  X(function_set, cuFuncSetAttribute, (Function f, int attribute, int value))                                         \
  X(launch, cuLaunchKernel,                                                                                           \
    (Function f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,       \
     Stream s, void** parameters, void** extra))

struct Driver {
#define THUNDER_CUDA_MEMBER(member, symbol, parameters) int(*member) parameters = nullptr;
  THUNDER_CUDA_DRIVER(THUNDER_CUDA_MEMBER)
#undef THUNDER_CUDA_MEMBER

  // The process's driver, opened and initialised at the first call: THUNDER_CUDA_DRIVER, libcuda.so.1. Null: `why` says
  // what was tried, or what the driver answered. Any thread.
  static const Driver* open(std::string& why);
  // "libcuda.so.1, CUDA 13.0"; empty before it was opened.
  static const std::string& report();
};

// "CUDA_ERROR_X: what the driver says of it".
std::string text_of(const Driver& driver, int result);
// Whether the context of a device is lost with this result, for every later call of the process.
bool is_sticky(int result);

}  // namespace thunder::nvidia
