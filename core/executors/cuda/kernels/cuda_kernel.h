// A caller's kernel for CUDA devices: CUDA C++, PTX or machine code, with formulas for how it is launched.
#pragma once

#include <string>
#include <vector>

#include "executors/cuda/kernels/device_kernel.h"

namespace thunder::kernels {

struct CudaKernelDesc {
  std::string function;              // the name of the kernel
  std::string source, image;         // one of them: CUDA C++, or PTX or machine code
  std::vector<std::string> options;  // of NVRTC
  // Comma-separated lists. parameters: what is passed to the kernel, in order; empty: the arguments in the schema's
  // order, then the results. A tensor is passed as its address, "null" as a null one, an integer formula as long long,
  // a float argument as double, a boolean one as bool, or as the type that precedes it ("int", "unsigned", ...).
  std::string parameters;
  std::string grid, block;   // one to three formulas
  std::string shared_bytes;  // a formula; empty: 0
  bool strided = false;
};

// The source is compiled after declarations: for each tensor NAME whose NAME_t it mentions the type of its elements,
// and `bfloat16`, which converts to and from float. The compiler's messages number the lines of the source alone.
// `schema` must live as long as the kernel. Throws invalid_argument for descriptions that do not parse.
std::unique_ptr<DeviceKernel> cuda_kernel(CudaKernelDesc desc, const Schema& schema);

}  // namespace thunder::kernels
