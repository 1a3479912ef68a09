// How many kernels the stand-in for the driver has launched in this process.
#pragma once

#include <dlfcn.h>

#include <cstdlib>

#include "support/fake_cuda/control.h"

namespace thunder::test {

// -1: the driver is not the stand-in.
inline int64_t kernel_launches() {
  const char* const path = ::getenv("THUNDER_CUDA_DRIVER");
  void* const library = path ? ::dlopen(path, RTLD_NOW | RTLD_NOLOAD) : nullptr;
  auto* const counts = library ? reinterpret_cast<decltype(&fake_cuda_counts)>(::dlsym(library, "fake_cuda_counts")) : nullptr;
  if (!counts) return -1;
  FakeCudaCounts c;
  counts(&c);
  return c.launches;
}

}  // namespace thunder::test
