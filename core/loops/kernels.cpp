#include "loops/kernels.h"

#include <dlfcn.h>
#include <unistd.h>

#include <optional>
#include <sstream>

#include "base/build_id.h"
#include "base/text.h"

namespace thunder::loops {
namespace {

// The folders searched for the module: the library's own, its thunder/ below it, and above a test's program.
std::vector<std::string> module_paths() {
  std::vector<std::string> out;
  std::string here = file_of(reinterpret_cast<const void*>(&can_compile));
  here.resize(here.rfind('/') == std::string::npos ? 0 : here.rfind('/') + 1);
  for (const char* below : {"", "thunder/", "../lib/"}) out.push_back(cat(here, below, "thunder-llvm.so"));
  return out;
}

struct Module {
  MakeEmitter make = nullptr;
  Emitter* emitter = nullptr;
  std::optional<KernelCache> kernels;
  std::string generator;
  std::string why;  // there is no emitter
  Module() {
    find_emitter();
    // Identified by both: the module generates code for a nest, and the library makes the nest and its parameters.
    if (emitter) generator = cat(build_id(reinterpret_cast<const void*>(make)), ", ", emitter->target());
    kernels.emplace(emitter, emitter ? BlobStore::default_folder() : "",
                    cat(generator.substr(0, generator.find(',')), ", ", library_build()));
  }
  void find_emitter() {
    for (const std::string& path : module_paths()) {
      void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (!library) {
        // If the module exists, which library it lacks; otherwise the error of the first place.
        const std::string error = dlerror();
        if (why.empty() || ::access(path.c_str(), F_OK) == 0) why = error;
        continue;
      }
      make = reinterpret_cast<MakeEmitter>(dlsym(library, kMakeEmitter));
      if ((emitter = make ? make(kEmitterVersion, nullptr) : nullptr)) return;
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
  if (!module().emitter && why) *why = module().why;
  return module().emitter != nullptr;
}

bool can_run(std::string* why) { return module().kernels->has_given() || can_compile(why); }

std::string library_build() {
  return cat(kEmitterVersion, " ", build_id(reinterpret_cast<const void*>(&can_compile)));
}

const std::string& generator() { return module().generator; }
KernelCache& kernels() { return *module().kernels; }

// The target's description: "llvm", its version, the triple, the processor, features.
std::string compiler() {
  std::istringstream words(module().emitter->target());
  std::string llvm, version, triple, cpu;
  words >> llvm >> version >> triple >> cpu;
  return cat("LLVM ", version, " for ", triple, ", ", cpu);
}

KernelFn kernel(const CpuNest& nest) { return module().kernels->get(nest); }

HostTarget host_target() {
  std::istringstream words(module().emitter->target());
  std::string llvm, version;
  HostTarget host;
  words >> llvm >> version >> host.triple >> host.cpu >> host.features;
  return host;
}

Object compile_for(const TargetOptions& target, const CpuNest& nest, const char* name) {
  const std::unique_ptr<Emitter> emitter(module().make(kEmitterVersion, &target));
  if (!emitter) return Object{{}, cat("LLVM knows no processor \"", target.cpu, "\" for \"", target.triple, "\"")};
  return emitter->compile(nest, name);
}

std::string code_text(const CpuNest& nest, bool assembly) {
  return can_compile() ? module().emitter->text(nest, "kernel", assembly) : "";
}

KernelStatistics kernel_statistics() { return module().kernels->statistics(); }

}  // namespace thunder::loops
