// CUDA C++ to machine code for sm_90 by NVRTC, opened at run time. Errors end the program.
#pragma once

#include <string>

#include "driver.h"

namespace driver {

inline void* nvrtc() {
  static void* handle = open({std::getenv("THUNDER_NVRTC"), "libnvrtc.so.13", "libnvrtc.so.12"});
  return handle;
}

template <class... A>
void call_nvrtc(const char* name, A... args) {
  if (const int failed = symbol<int (*)(A...)>(nvrtc(), name)(args...)) die(name, std::to_string(failed).c_str());
}

inline std::string cubin_of(const std::string& source, const std::vector<std::string>& more = {}) {
  void* program = nullptr;
  call_nvrtc("nvrtcCreateProgram", &program, source.c_str(), "kernels.cu", 0, nullptr, nullptr);
  std::vector<const char*> options{"-arch=sm_90", "-std=c++20", "-no-cache"};
  for (const std::string& option : more) options.push_back(option.c_str());
  if (symbol<int (*)(void*, int, const char**)>(nvrtc(), "nvrtcCompileProgram")(program, static_cast<int>(options.size()), options.data())) {
    size_t bytes = 0;
    call_nvrtc("nvrtcGetProgramLogSize", program, &bytes);
    std::string log(bytes, ' ');
    call_nvrtc("nvrtcGetProgramLog", program, log.data());
    die("nvrtcCompileProgram", log.c_str());
  }
  size_t bytes = 0;
  call_nvrtc("nvrtcGetCUBINSize", program, &bytes);
  std::string cubin(bytes, ' ');
  call_nvrtc("nvrtcGetCUBIN", program, cubin.data());
  call_nvrtc("nvrtcDestroyProgram", &program);
  return cubin;
}

}  // namespace driver
