// A loop nest as CUDA C++: the second emitter, which keeps the nest honest about what is not of the CPU.
#pragma once

#include <string>

#include "loops/nest.h"

namespace thunder::loops {

struct CudaSource {
  std::string text;
  std::string error;  // why there is none
};

// extern "C" __global__ void NAME(Buffers, Parameters, Refusal*): Buffers holds the nest's arguments, Parameters what
// parameters() gives, Refusal is Refusal. A nest that reduces takes a block for each position along the outer
// axes, of kCudaThreads threads; another takes a thread for each element. Both stride over a grid of any size.
CudaSource cuda_source(const Nest& nest, const std::string& name);

// Threads of a block: a power of two, since their partial results meet in halves.
constexpr int kCudaThreads = 256;

}  // namespace thunder::loops
