// NVIDIA's NCCL, opened at run time: the entry points that are used, declared by hand after nccl.h of 2.18, to which
// newer ones only add.
#pragma once

#include <climits>
#include <cstddef>
#include <string>

#include "base/shared_library.h"
#include "device/cuda/driver.h"

namespace thunder::scale::nccl {

using Comm = struct ncclComm*;
struct UniqueId {
  char bytes[128];
};

constexpr int kOldest = 21800;  // 2.18.0, the first with splits and an error that can be asked for while it opens

// ncclConfig_t of that version, which says so.
struct Config {
  size_t size = sizeof(Config);
  unsigned magic = 0xcafebeef, version = kOldest;
  int blocking = 0;
  int cga_cluster_size = INT_MIN, min_ctas = INT_MIN, max_ctas = INT_MIN;  // INT_MIN: as the library likes it
  const char* net_name = nullptr;
  int split_share = INT_MIN;
};

// Values of ncclResult_t, ncclRedOp_t and ncclDataType_t; a test compares them with nccl.h where that is installed.
enum Result : int { kSuccess = 0, kRemoteError = 6, kInProgress = 7 };
enum Reduction : int { kSum = 0, kMax = 2, kMin = 3 };
enum Type : int { kInt8 = 0, kUint8 = 1, kInt32 = 2, kUint32 = 3, kInt64 = 4, kUint64 = 5, kFloat32 = 7, kFloat64 = 8 };

// Every function that must be there: X(member, symbol, parameters).
#define THUNDER_NCCL(X)                                                                                            \
  X(version, ncclGetVersion, (int* out))                                                                           \
  X(unique_id, ncclGetUniqueId, (UniqueId * out))                                                                  \
  X(init, ncclCommInitRankConfig, (Comm * out, int ranks, UniqueId id, int rank, const Config* config))            \
  X(split, ncclCommSplit, (Comm comm, int color, int key, Comm* out, const Config* config))                        \
  X(finalize, ncclCommFinalize, (Comm comm))                                                                       \
  X(destroy, ncclCommDestroy, (Comm comm))                                                                         \
  X(abort, ncclCommAbort, (Comm comm))                                                                             \
  X(async_error, ncclCommGetAsyncError, (Comm comm, int* out))                                                     \
  X(rank, ncclCommUserRank, (Comm comm, int* out))                                                                 \
  X(count, ncclCommCount, (Comm comm, int* out))                                                                   \
  X(group_start, ncclGroupStart, ())                                                                               \
  X(group_end, ncclGroupEnd, ())                                                                                   \
  X(device, ncclCommCuDevice, (Comm comm, int* out))                                                               \
  X(all_reduce, ncclAllReduce,                                                                                     \
    (const void* in, void* out, size_t count, int type, int reduction, Comm comm, nvidia::Stream stream))          \
  X(all_gather, ncclAllGather,                                                                                     \
    (const void* in, void* out, size_t count, int type, Comm comm, nvidia::Stream stream))                         \
  X(reduce_scatter, ncclReduceScatter,                                                                             \
    (const void* in, void* out, size_t count, int type, int reduction, Comm comm, nvidia::Stream stream))          \
  X(broadcast, ncclBroadcast,                                                                                      \
    (const void* in, void* out, size_t count, int type, int root, Comm comm, nvidia::Stream stream))               \
  X(send, ncclSend, (const void* in, size_t count, int type, int to, Comm comm, nvidia::Stream stream))            \
  X(recv, ncclRecv, (void* out, size_t count, int type, int from, Comm comm, nvidia::Stream stream))

struct Library {
#define THUNDER_NCCL_MEMBER(member, symbol, parameters) int(*member) parameters = nullptr;
  THUNDER_NCCL(THUNDER_NCCL_MEMBER)
#undef THUNDER_NCCL_MEMBER
  const char* (*error_text)(int result) = nullptr;  // ncclGetErrorString
  const char* (*last_error)(Comm comm) = nullptr;   // ncclGetLastError

  // The process's, opened at the first call: THUNDER_NCCL, libnccl.so.2. Throws not_found with every name that was
  // tried, or unimplemented: it is too old. Any thread.
  static const Library& open();
  // The file and its version; empty before it was opened.
  static const std::string& report();

  // Throws where a result is an error, with what the library says of it; true: in progress.
  bool check(int result, const char* function, Comm comm) const;
};

}  // namespace thunder::scale::nccl
