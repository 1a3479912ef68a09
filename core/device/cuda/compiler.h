// CUDA C++ to machine code through NVRTC, opened at run time; its functions are declared by hand after nvrtc.h.
#pragma once

#include <string>
#include <vector>

namespace thunder::nvidia {

// The source that machine code is compiled from.
struct KernelSource {
  KernelSource(std::string cuda) : text(std::move(cuda)) {}  // the library's own
  KernelSource(const char* cuda) : text(cuda) {}
  KernelSource(std::string cuda, std::vector<std::string> nvrtc)
      : text(std::move(cuda)), options(std::move(nvrtc)), foreign(true) {}

  std::string text;                  // CUDA C++
  std::vector<std::string> options;  // of NVRTC, in place of the library's own
  bool foreign = false;              // it is a caller's: errors in it are the caller's to correct

  // Different sources have different keys.
  std::string key() const;
};

struct Compiled {
  std::vector<char> cubin;
  std::string error;  // why there is none: the compiler's log
};

class Compiler {
 public:
  // The process's NVRTC, opened at the first call: THUNDER_NVRTC, libnvrtc.so.13 or .12, also in Python's packages and
  // in the toolkit's folder. Null: `why` says what was tried. Any thread.
  static const Compiler* open(std::string& why);

  // "libnvrtc.so.13, NVRTC 13.0": part of every key of machine code.
  const std::string& report() const { return report_; }
  // Compiles for sm_MAJORMINOR; from 9.0 on with the instructions of that architecture alone (sm_90a). Unless the
  // source is foreign, multiplications and additions are not contracted. Any thread, several at a time.
  Compiled compile(const KernelSource& source, int major, int minor) const;

 private:
  friend struct OpenedCompiler;
  using Program = struct _nvrtcProgram*;
  int (*version_)(int* major, int* minor) = nullptr;
  int (*create_)(Program*, const char* text, const char* name, int headers, const char* const* sources,
                 const char* const* names) = nullptr;
  int (*compile_)(Program, int options, const char* const* texts) = nullptr;
  int (*log_size_)(Program, size_t*) = nullptr;
  int (*log_)(Program, char*) = nullptr;
  int (*cubin_size_)(Program, size_t*) = nullptr;
  int (*cubin_)(Program, char*) = nullptr;
  int (*destroy_)(Program*) = nullptr;
  std::string report_;
};

// "sm_90a": what code for a device of this capability is called.
std::string architecture(int major, int minor);

}  // namespace thunder::nvidia
