#include "loops/kernels.h"

#include <dlfcn.h>
#include <sys/stat.h>

#include <optional>
#include <sstream>

#include "base/text.h"

namespace thunder::loops {
namespace {

// The file that a function's code was loaded from.
std::string file_of(const void* function) {
  Dl_info info;
  return dladdr(function, &info) && info.dli_fname ? info.dli_fname : "";
}

// Identifies a build of a file.
std::string stamp(const std::string& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) return "";
  return cat(static_cast<int64_t>(facts.st_size), " bytes of ", static_cast<int64_t>(facts.st_mtim.tv_sec), ".",
             static_cast<int64_t>(facts.st_mtim.tv_nsec));
}

// Where the module may be: beside the library (build tree), in its folder (installed), or above a test's program.
std::vector<std::string> places() {
  std::vector<std::string> out;
  std::string here = file_of(reinterpret_cast<const void*>(&can_compile));
  here.resize(here.rfind('/') == std::string::npos ? 0 : here.rfind('/') + 1);
  for (const char* below : {"", "thunder/", "../lib/"}) out.push_back(cat(here, below, "thunder-llvm.so"));
  return out;
}

struct Module {
  MakeEmitter make = nullptr;
  std::optional<KernelCache> kernels;
  std::string target;
  std::string why;
  Module() {
    for (const std::string& path : places()) {
      void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (!library) {
        // If the module exists, which library it lacks; otherwise the error of the first place.
        const std::string error = dlerror();
        if (why.empty() || !stamp(path).empty()) why = error;
        continue;
      }
      make = reinterpret_cast<MakeEmitter>(dlsym(library, kMakeEmitter));
      if (Emitter* emitter = make ? make(kEmitterVersion, nullptr) : nullptr) {
        // Identified by both: the module generates code for a nest, and the library makes the nest and its parameters.
        const std::string identity =
            cat(stamp(path), ", ", stamp(file_of(reinterpret_cast<const void*>(&can_compile))));
        target = emitter->target();
        kernels.emplace(*emitter, BlobStore::default_folder(), identity);
        return;
      }
      why = cat(path, make ? ": does not support this CPU" : ": is not an emitter");
    }
  }
};
// Never unloaded: compiled code and other libraries' exit handlers may still need it.
Module& module() {
  static Module* m = new Module;
  return *m;
}

}  // namespace

bool can_compile(std::string* why) {
  if (!module().kernels && why) *why = module().why;
  return module().kernels.has_value();
}

// The target's description: "llvm", its version, the triple, the processor, features.
std::string compiler() {
  std::istringstream words(module().target);
  std::string llvm, version, triple, cpu;
  words >> llvm >> version >> triple >> cpu;
  return cat("LLVM ", version, " for ", triple, ", ", cpu);
}

KernelFn kernel(const CpuNest& nest) { return module().kernels->get(nest); }

Object compile_for(const TargetOptions& target, const CpuNest& nest) {
  const std::unique_ptr<Emitter> emitter(module().make(kEmitterVersion, &target));
  return emitter ? emitter->compile(nest, "kernel") : Object{{}, cat("LLVM knows no machine \"", target.triple, "\"")};
}

KernelStatistics kernel_statistics() { return module().kernels ? module().kernels->statistics() : KernelStatistics(); }

}  // namespace thunder::loops
