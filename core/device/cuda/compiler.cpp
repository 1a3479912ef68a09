#include "device/cuda/compiler.h"

#include <array>

#include "base/shared_library.h"
#include "base/text.h"

namespace thunder::nvidia {

struct OpenedCompiler {
  Compiler compiler;
  std::string why;

  OpenedCompiler() {
    static constexpr std::array kNames = {"libnvrtc.so.13", "libnvrtc.so.12"};
    const SharedLibrary library({"THUNDER_NVRTC", kNames});
    why = library.report();
    if (!library.opened()) return;
    Compiler& c = compiler;
    const bool whole = library.find("nvrtcVersion", c.version_) && library.find("nvrtcCreateProgram", c.create_) &&
                       library.find("nvrtcCompileProgram", c.compile_) &&
                       library.find("nvrtcGetProgramLogSize", c.log_size_) &&
                       library.find("nvrtcGetProgramLog", c.log_) && library.find("nvrtcGetCUBINSize", c.cubin_size_) &&
                       library.find("nvrtcGetCUBIN", c.cubin_) && library.find("nvrtcDestroyProgram", c.destroy_);
    int major = 0, minor = 0;
    if (!whole || c.version_(&major, &minor)) {
      why = cat(library.path(), " lacks functions of NVRTC 11.1 or later");
      return;
    }
    c.report_ = cat(library.path(), ", NVRTC ", major, ".", minor);
  }
};

const Compiler* Compiler::open(std::string& why) {
  static const OpenedCompiler opened;
  why = opened.why;
  return opened.compiler.report_.empty() ? nullptr : &opened.compiler;
}

std::string architecture(int major, int minor) { return cat("sm_", major, minor, major >= 9 ? "a" : ""); }

std::string KernelSource::key() const {
  if (!foreign) return text;
  return cat("a caller's", join(options, "", [](auto& o) { return cat("\n", o); }), "\n\n", text);
}

Compiled Compiler::compile(const KernelSource& source, int major, int minor) const {
  Compiled out;
  Program program = nullptr;
  if (const int failed = create_(&program, source.text.c_str(), "kernel.cu", 0, nullptr, nullptr)) {
    out.error = cat("nvrtcCreateProgram failed with ", failed);
    return out;
  }
  const std::string target = cat("--gpu-architecture=", architecture(major, minor));
  std::vector<const char*> options = {target.c_str(), "--device-as-default-execution-space"};
  if (!source.foreign) options.insert(options.end(), {"--std=c++17", "--fmad=false"});
  for (const std::string& o : source.options) options.push_back(o.c_str());
  const int failed = compile_(program, static_cast<int>(options.size()), options.data());
  size_t bytes = 0;
  if (failed) {
    log_size_(program, &bytes);
    out.error.resize(bytes);
    log_(program, out.error.data());
    if (out.error.size() <= 1) out.error = cat("nvrtcCompileProgram failed with ", failed);
  } else if (cubin_size_(program, &bytes) == 0) {
    out.cubin.resize(bytes);
    cubin_(program, out.cubin.data());
  }
  destroy_(&program);
  return out;
}

}  // namespace thunder::nvidia
