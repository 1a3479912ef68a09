// A loop nest as CUDA C++.
#pragma once

#include <string>

#include "loops/cuda/schedule.h"

namespace thunder::loops {

struct CudaSource {
  std::string text;
  std::string error;  // why there is none
};

// extern "C" __global__ void NAME(Buffers, Parameters, Numbers, Refusal*, char* scratch): Buffers holds the addresses
// of the nest's arguments, Parameters what parameters() gives and then the number of parts, Numbers 16 bytes for each
// argument that is passed by value, in their order (one that is never read, where there is none), Refusal is Refusal. A
// nest without reductions takes a thread for each element. NAME_finish, with the same parameters, follows where rows
// are reduced in parts; it takes a thread for each row. Kernels stride over a grid of any size.
CudaSource cuda_source(const Nest& nest, const CudaSchedule& schedule, const std::string& name);

}  // namespace thunder::loops
