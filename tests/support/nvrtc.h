// NVRTC, where it is installed (THUNDER_NVRTC names its library): texts of kernels are compiled with it without a GPU.
#pragma once

#include "device/cuda/compiler.h"

namespace thunder::test {

inline const nvidia::Compiler* nvrtc() {
  std::string why;
  return nvidia::Compiler::open(why);
}

// What the compiler says against the text for sm_90a, and the text; empty: nothing. Requires: nvrtc().
inline std::string refused_by_nvrtc(const nvidia::KernelSource& source) {
  const nvidia::Compiled made = nvrtc()->compile(source, 9, 0);
  return made.error.empty() ? "" : made.error + source.text;
}

}  // namespace thunder::test
