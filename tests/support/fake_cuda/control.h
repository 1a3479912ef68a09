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
// The n-th call from now on, of any entry point that can fail, returns `result` (2: out of memory, 700: an illegal address ...)
// and does nothing; 0: none does.
void fake_cuda_fail_at(int64_t n, int result);
// Device memory may be read and written from here until the call with 0: for stand-ins of libraries above the driver.
void fake_cuda_reach(int32_t on);
// Does work on a stream now, or records it there while the stream is captured: for stand-ins of libraries above the driver.
void fake_cuda_enqueue(void* stream, void (*work)(void* arg), void (*drop)(void* arg), void* arg);
// Bytes of the device.
void fake_cuda_set_memory(size_t bytes);
}
