// One launch for nests of the same text, such as the updates of an optimizer's parameters.
#pragma once

#include <string>
#include <vector>

#include "device/cuda/device.h"
#include "loops/cuda/source.h"
#include "loops/target.h"

namespace thunder::loops {

// As many blocks as these threads take; how many a kernel has at most.
constexpr int64_t blocks_of(int64_t threads, int each = kCudaThreads) { return (threads + each - 1) / each; }
int64_t max_blocks(const nvidia::CudaDevice& device);

struct JoinedNests {
  struct Each {
    std::vector<int64_t> parameters;  // what the nest's parameters() gives comes first
    int64_t threads;                  // how many have work
  };
  Ref<nvidia::CudaDevice> device;
  const Nest& nest;  // one of them, with its schedule
  const CudaSchedule& schedule;
  std::string name;  // of the kernel
  std::vector<Each> each;  // no more than joined_layout() says
};

// Begins to compile the kernel. Its call gets the first of the launches, which lie in a row. Throws.
KernelPtr joined_launcher(const JoinedNests& nests);

}  // namespace thunder::loops
