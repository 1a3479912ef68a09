// A loop nest as CUDA C++.
#pragma once

#include <string>

#include "loops/cuda/schedule.h"
#include "loops/region.h"

namespace thunder::loops {

struct CudaSource {
  std::string text;
  std::string error;  // why there is none
};

// extern "C" __global__ void NAME(Buffers, Parameters, Numbers, DeviceAssertion*, char* scratch): Buffers holds the
// addresses of the nest's arguments, Parameters what parameters() gives and then the number of parts, Numbers 16 bytes
// for each argument that is passed by value, in their order (one that is never read, where there is none),
// DeviceAssertion is nvidia::DeviceAssertion. A nest without reductions takes a thread for each element. NAME_finish,
// with the same parameters, follows where rows are reduced in parts; it takes a thread for each row. Kernels stride
// over a grid of any size.
//
// If the schedule joins nests, the kernel's one parameter is JoinedNests, whose layout joined_layout() describes, and
// each block works on one of them.
CudaSource cuda_source(const Nest& nest, const CudaSchedule& schedule, const std::string& name);

// What the text depends on beside the nest's own text (print()) and the name: sizes of equal ones have one kernel.
struct CudaTextKey {
  CudaSchedule schedule;  // with 2 for any number of parts
  int finish_lanes = 0;   // where rows are reduced in parts
  std::vector<bool> uniform_selects = {};  // by expression
  friend bool operator==(const CudaTextKey&, const CudaTextKey&) = default;
};
CudaTextKey text_key(const Nest& nest, const CudaSchedule& schedule);
// Whether a select chooses the same operand for all elements of a pack.
bool is_uniform(const Nest& nest, const CudaSchedule& schedule, const Expr& select);

// The source of a region's kernel as the CUDA target writes it, whatever device it is for; or why there is none.
std::string cuda_text(LoweredRegion region);

// Bytes of a kernel's parameters, on every architecture.
constexpr size_t kMostParameterBytes = 4096;

// Of the table that the kernel of joined nests gets by value: rows for each of `nests`, all of one length, then the
// numbers of the first block of each and of one more. Offsets are in bytes.
struct JoinedLayout {
  uint32_t nests = 0;  // as many as a kernel's parameters hold
  size_t addresses = 0, sizes = 0, numbers = 0;  // of a nest: arguments in memory, parameters(), words of numbers
  size_t sizes_at = 0, numbers_at = 0, blocks_at = 0, bytes = 0;
};
JoinedLayout joined_layout(const Nest& nest, const std::vector<bool>& on_host);

// Whether nests of the same text may be joined: they compute each element alone, and report no index.
bool can_be_joined(const Nest& nest);

}  // namespace thunder::loops
