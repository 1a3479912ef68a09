// How a test steers the stand-in for the driver: looked up by dlsym in the opened library.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

// What is alive; a test compares before and after.
struct FakeCudaCounts {
  int64_t blocks, bytes, host_blocks, streams, events, modules, graphs;
  int64_t calls;     // of all entry points since the last fake_cuda_fail_at
  int64_t launches;  // of kernels
};
void fake_cuda_counts(FakeCudaCounts* out);
// The n-th call from now on, of any entry point that can fail, those of libraries above the driver too, returns `result` (2:
// out of memory, 700: an illegal address ...) or what the library has for it, and does nothing; 0: none does.
void fake_cuda_fail_at(int64_t n, int result);
// Device memory may be read and written from here until the call with 0: for stand-ins of libraries above the driver.
void fake_cuda_reach(int32_t on);
// Does work on a stream now, or records it there while the stream is captured: for stand-ins of libraries above the driver.
void fake_cuda_enqueue(void* stream, void (*work)(void* arg), void (*drop)(void* arg), void* arg);
// The same, but the work, and all that the stream is asked for behind it, waits until `ready` gives another number than 0.
void fake_cuda_enqueue_when(void* stream, int32_t (*ready)(void* arg), void (*work)(void* arg), void (*drop)(void* arg), void* arg);
// From now on work that streams are asked for is done as late as it may be: when somebody waits for it, or for what was made to wait
// for it. So what orders streams too little is wrong at each run. 0: at once, as ever; all that is left is done first.
void fake_cuda_lazy(int32_t on);
// Bytes of the device.
void fake_cuda_set_memory(size_t bytes);
// For entry points of libraries above the driver: counts one call, and returns what it is told to fail with, or 0.
int fake_cuda_called(void);

// Of the stand-in for cuBLASLt, in its library: how often heuristics and checks of an algorithm were asked for, and how many
// products were asked for by each of its three algorithms (1 to 3).
struct FakeCublasLtCounts {
  int64_t heuristics, checks, products[4];
};
void fake_cublaslt_counts(FakeCublasLtCounts* out);
// Products by this algorithm take so much longer; 0: as long as they do.
void fake_cublaslt_delay(uint64_t algorithm, int64_t microseconds);

// Of the stand-in for NCCL, in its library. What it is asked for is in progress for so many questions about errors, 1 unless it
// is told (THUNDER_FAKE_NCCL_LATE for a whole process).
void fake_nccl_late(int64_t questions);
// What will never be over: 0 nothing, or one of these.
enum { FAKE_NCCL_INIT = 1, FAKE_NCCL_SPLIT = 2, FAKE_NCCL_LAUNCH = 3, FAKE_NCCL_RUN = 4, FAKE_NCCL_FINALIZE = 5 };
void fake_nccl_never(int32_t what);
// What the library's user did wrong in this process, a line for each: ranks whose collectives differ, operands that were written
// before the collective was over, communicators that ended under a graph that captured them; "": nothing.
const char* fake_nccl_complaints(void);
int64_t fake_nccl_communicators(void);  // that are alive in this process
int64_t fake_nccl_launches(void);       // of collectives by this process, those of a group as one

// Of the stand-in for cuDNN, in its library: no plan is made of products with more elements; 0: of any. And how often plans ran.
void fake_cudnn_most_elements(int64_t elements);
int64_t fake_cudnn_runs(void);
int64_t fake_cudnn_plans(void);  // that were made
}
