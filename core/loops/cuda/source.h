// A loop nest as CUDA C++.
#pragma once

#include <string>
#include <vector>

#include "loops/nest.h"

namespace thunder::loops {

// How a nest runs on a CUDA device: printed into the text of its kernel.
struct CudaSchedule {
  // Where the nest reduces: a block of kCudaThreads threads for each position along the outer axes, or a thread.
  enum class Rows : uint8_t { block, thread } rows = Rows::block;
  bool narrow = false;          // all positions and offsets fit in 32 bits
  bool split = false;           // rows are reduced in parts, which a second kernel joins in their order; requires splits(nest)
  std::vector<bool> on_host;    // by argument: a number of at most 16 bytes that is passed by value; empty: none
};

struct CudaSource {
  std::string text;
  std::string error;  // why there is none
};

// Whether a nest reduces at all; whether one pass over its rows is all that it needs.
bool reduces(const Nest& nest);
bool splits(const Nest& nest);
// How many results of reductions each part of a row has; each takes so many bytes of scratch.
size_t partial_results(const Nest& nest);
constexpr size_t kPartialBytes = 16;

// extern "C" __global__ void NAME(Buffers, Parameters, Numbers, Refusal*, char* scratch): Buffers holds the addresses of the nest's
// arguments, Parameters what parameters() gives and then the number of parts, Numbers 16 bytes for each argument that is
// passed by value, in their order (one that is never read, where there is none), Refusal is Refusal. A nest without
// reductions takes a thread for each element. NAME_finish, with the same parameters, follows where rows are reduced in parts;
// it takes a thread for each row. Kernels stride over a grid of any size.
CudaSource cuda_source(const Nest& nest, const CudaSchedule& schedule, const std::string& name);

// Threads of a block: a power of two, since their partial results meet in halves.
constexpr int kCudaThreads = 256;

}  // namespace thunder::loops
