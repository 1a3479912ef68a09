// A kernel of a caller's for CUDA devices: CUDA C++, PTX or machine code, with a rule that says how it is launched.
#pragma once

#include <string>
#include <vector>

#include "executors/kernels/device_kernel.h"

namespace thunder::kernels {

struct CudaKernelDesc {
  std::string function;              // the name of the kernel
  std::string source, image;         // one of them: CUDA C++, or PTX or machine code
  std::vector<std::string> options;  // of NVRTC
  // By commas. parameters: what the kernel takes, in order; empty: arguments in the schema's order, then results. A
  // tensor is its address; "null" is one; an integer formula is a long long, a float argument a double, a boolean one a
  // bool, unless "int", "unsigned", "long long", "size_t", "float", "double" or "bool" stands before it.
  std::string parameters;
  std::string grid, block;   // one to three formulas
  std::string shared_bytes;  // a formula; empty: 0
  bool strided = false;
};

// Behind the source's own text, which is told from it in the compiler's messages, stand for each tensor NAME whose
// NAME_t the source mentions the type of its elements, and `bfloat16`, which converts to and from float. `schema` lives
// as long as the kernel. Throws invalid_argument at what is not understood.
std::unique_ptr<DeviceKernel> cuda_kernel(CudaKernelDesc desc, const Schema& schema);

}  // namespace thunder::kernels
