// The little of NVIDIA's driver interface that these measurements use, opened at run time: declared by hand after cuda.h of
// CUDA 13.0. Errors end the program: it is a benchmark.
#pragma once

#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace driver {

using Pointer = unsigned long long;  // device memory
using Stream = struct CUstream_st*;
using Event = struct CUevent_st*;
using Module = struct CUmod_st*;
using Function = struct CUfunc_st*;

[[noreturn]] inline void die(const char* what, const char* why) {
  std::fprintf(stderr, "%s: %s\n", what, why);
  std::exit(1);
}

inline void* open(std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (void* handle = name && *name ? dlopen(name, RTLD_NOW | RTLD_LOCAL) : nullptr) return handle;
  die("dlopen", dlerror());
}

template <class F>
F symbol(void* library, const char* name) {
  void* found = dlsym(library, name);
  if (!found) die(name, "not in the library");
  return reinterpret_cast<F>(found);
}

// driver::call<int, int*, int>("cuDeviceGet", &device, 0)
template <class... A>
void call(const char* name, A... args) {
  static void* library = open({"libcuda.so.1"});
  if (const int failed = symbol<int (*)(A...)>(library, name)(args...)) {
    const char* text = "?";
    symbol<int (*)(int, const char**)>(library, "cuGetErrorString")(failed, &text);
    die(name, text);
  }
}

inline void start() {
  int device = 0;
  void* context = nullptr;
  call("cuInit", 0u);
  call("cuDeviceGet", &device, 0);
  call("cuDevicePrimaryCtxRetain", &context, device);
  call("cuCtxSetCurrent", context);
  char name[100];
  int version = 0;
  call("cuDeviceGetName", name, 100, device);
  call("cuDriverGetVersion", &version);
  std::printf("%s, driver interface %d.%d\n", name, version / 1000, version % 1000 / 10);
}

inline Pointer allocate(size_t bytes) {
  Pointer p = 0;
  call("cuMemAlloc_v2", &p, bytes);
  return p;
}
inline void free(Pointer p) { call("cuMemFree_v2", p); }
inline void upload(Pointer to, const void* from, size_t bytes) { call("cuMemcpyHtoD_v2", to, from, bytes); }
inline void download(void* to, Pointer from, size_t bytes) { call("cuMemcpyDtoH_v2", to, from, bytes); }
inline void wait() { call("cuCtxSynchronize"); }

// Microseconds of each of `runs` by events, after three to warm up: the median.
template <class F>
double median_time(int runs, const F& run) {
  for (int i = 0; i < 3; i++) run();
  std::vector<float> times;
  Event begin = nullptr, end = nullptr;
  call("cuEventCreate", &begin, 0u);
  call("cuEventCreate", &end, 0u);
  for (int i = 0; i < runs; i++) {
    call("cuEventRecord", begin, Stream{});
    run();
    call("cuEventRecord", end, Stream{});
    call("cuEventSynchronize", end);
    float ms = 0;
    call("cuEventElapsedTime_v2", &ms, begin, end);
    times.push_back(ms * 1000);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

}  // namespace driver
