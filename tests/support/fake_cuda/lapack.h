// The CPU's LAPACK and BLAS for the stand-ins of cuSOLVER and cuBLAS, which take the same arguments: dense columns.
#pragma once

#include <dlfcn.h>

#include <functional>
#include <string>

#include "control.h"

namespace fake_lapack {

// A function of Fortran's interface, such as "potrf" of float as spotrf_.
template <class T, class F>
F* function(const char* name) {
  static void* const library = [] {
    void* const openblas = dlopen("libopenblas.so.0", RTLD_NOW);
    return openblas ? openblas : dlopen("liblapack.so.3", RTLD_NOW);
  }();
  const std::string symbol = std::string(sizeof(T) == 4 ? "s" : "d") + name + "_";
  return reinterpret_cast<F*>(dlsym(library, symbol.c_str()));
}

struct Handle {
  void* stream = nullptr;
};

// Does this on the handle's stream; what a library gives.
template <class F>
int enqueue(const Handle* handle, F&& f) {
  using Work = std::function<void()>;
  fake_cuda_enqueue(
      handle->stream, [](void* work) { (*static_cast<Work*>(work))(); }, [](void* work) { delete static_cast<Work*>(work); },
      new Work(std::forward<F>(f)));
  return 0;
}

}  // namespace fake_lapack
