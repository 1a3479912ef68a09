// ONNX Runtime driven bare: through its own interface, on memory that does not move.
#pragma once

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "executors/onnxrt/abi.h"

namespace bench::onnxruntime {

using namespace thunder::onnxrt;

inline const void* const* table = nullptr;
template <class... Args>
void ort(Place place, Args... args) {
  if (auto* failed = reinterpret_cast<OrtStatus* (*)(Args...)>(const_cast<void*>(table[place]))(args...)) {
    std::fprintf(stderr, "%s\n", reinterpret_cast<const char* (*)(OrtStatus*)>(const_cast<void*>(table[kGetErrorMessage]))(failed));
    std::exit(1);
  }
}

// A model in a file, as fast as it can be driven.
class Bare {
 public:
  Bare(const std::string& path, int threads) {
    std::ifstream file(path, std::ios::binary);
    const std::string model((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    OrtEnv* env = nullptr;
    OrtSessionOptions* options = nullptr;
    const char* const name = "bench";
    ort(kCreateEnv, kFatalOnly, name, &env);
    ort(kCreateSessionOptions, &options);
    ort(kSetIntraOpNumThreads, options, threads);
    const char *const key = "session.intra_op.allow_spinning", *const off = "0";
    ort(kAddSessionConfigEntry, options, key, off);
    ort(kCreateSessionFromArray, static_cast<const OrtEnv*>(env), static_cast<const void*>(model.data()), model.size(),
        static_cast<const OrtSessionOptions*>(options), &session_);
    ort(kCreateIoBinding, session_, &binding_);
    ort(kCreateCpuMemoryInfo, kDeviceAllocator, kDefaultMemory, &memory_);
  }
  void bind(Place place, const char* name, float* data, const std::vector<int64_t>& shape) {
    size_t n = sizeof(float);
    for (const int64_t d : shape) n *= static_cast<size_t>(d);
    OrtValue* value = nullptr;
    ort(kCreateTensorWithData, static_cast<const OrtMemoryInfo*>(memory_), static_cast<void*>(data), n, shape.data(), shape.size(), 1, &value);
    ort(place, binding_, name, static_cast<const OrtValue*>(value));
  }
  void run() { ort(kRunWithBinding, session_, static_cast<const OrtRunOptions*>(nullptr), static_cast<const OrtIoBinding*>(binding_)); }

 private:
  OrtSession* session_ = nullptr;
  OrtIoBinding* binding_ = nullptr;
  OrtMemoryInfo* memory_ = nullptr;
};

inline bool opens() {
  const char* file = std::getenv("THUNDER_ONNXRUNTIME");
  void* library = dlopen(file ? file : "libonnxruntime.so.1", RTLD_LAZY | RTLD_LOCAL);
  auto* base = library ? reinterpret_cast<const OrtApiBase* (*)()>(dlsym(library, "OrtGetApiBase")) : nullptr;
  table = base ? base()->get_api(kApiVersion) : nullptr;
  if (!table) std::fprintf(stderr, "engines: no ONNX Runtime: bench/setup-peers onnxruntime installs it, or THUNDER_ONNXRUNTIME names its file\n");
  return table != nullptr;
}

}  // namespace bench::onnxruntime
