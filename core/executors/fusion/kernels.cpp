#include "executors/fusion/kernels.h"

#include <dlfcn.h>

#include <cstdlib>
#include <mutex>
#include <unordered_map>

#include "base/text.h"

namespace thunder::fusion {
namespace {

// Where the module lies: beside the library, as built; in its folder, as installed; above a test's program.
std::vector<std::string> places() {
  std::vector<std::string> out;
  Dl_info info;
  std::string here = dladdr(reinterpret_cast<void*>(&can_compile), &info) && info.dli_fname ? info.dli_fname : "";
  here.resize(here.rfind('/') == std::string::npos ? 0 : here.rfind('/') + 1);
  for (const char* below : {"", "thunder/", "../lib/"}) out.push_back(cat(here, below, "thunder-llvm.so"));
  return out;
}

struct Module {
  Emitter* emitter = nullptr;
  std::string why;
  Module() {
    for (const std::string& path : places()) {
      void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (!library) {
        why = dlerror();
        continue;
      }
      auto make = reinterpret_cast<MakeEmitter>(dlsym(library, kMakeEmitter));
      emitter = make ? make(kEmitterVersion) : nullptr;
      if (emitter) return;
      why = cat(path, make ? ": does not support this CPU" : ": is not an emitter");
    }
  }
};
// Never unloaded: compiled code and other libraries' exit handlers may still need it.
Module& module() {
  static Module* m = new Module;
  return *m;
}

struct Kernels {
  std::mutex mutex;
  std::unordered_map<std::string, KernelFn> by_text;
};
Kernels& kernels() {
  static Kernels* k = new Kernels;
  return *k;
}

KernelFn compile(const Nest& nest) {
  Emitter& emitter = *module().emitter;
  Object object = emitter.compile(nest, "kernel");
  require(object.error.empty(), "fusion: ", object.error, "\nin ", print(nest));
  std::string error;
  KernelFn fn = emitter.load(object.code, "kernel", error);
  require(fn != nullptr, "fusion: ", error);
  return fn;
}

}  // namespace

bool can_compile(std::string* why) {
  if (!module().emitter && why) *why = module().why;
  return module().emitter != nullptr;
}

KernelFn kernel(const Nest& nest) {
  const std::string text = print(nest);
  Kernels& all = kernels();
  {
    std::lock_guard lock(all.mutex);
    if (auto it = all.by_text.find(text); it != all.by_text.end()) return it->second;
  }
  KernelFn fn = compile(nest);
  std::lock_guard lock(all.mutex);
  return all.by_text.try_emplace(text, fn).first->second;
}

}  // namespace thunder::fusion
