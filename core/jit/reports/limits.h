// The machine's peak rates, measured on request, with which the times of steps are compared.
#pragma once

#include <string>

#include "jit/context/context.h"

namespace thunder {

struct MachineLimits {
  double gflops = 0;  // of a product of float32 matrices
  double gbytes = 0;  // per second, read and written, of memory beyond the caches
  std::string trouble;  // why one of them is 0
};

// By kernels of the library's own on all of its threads, in about a third of a second. Throws if memory runs out.
MachineLimits measure_limits(Context& context);

}  // namespace thunder
