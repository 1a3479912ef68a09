// A Python interpreter that has TVM: it tells where TVM is and which ops it supports, and compiles models.
#pragma once

#include <chrono>
#include <string>
#include <unordered_set>

#include "base/child_process.h"
#include "base/hash.h"

namespace thunder::tvm {

using Names = std::unordered_set<std::string, TextHash, std::equal_to<>>;

class Python {
 public:
  // The given Python if it is not "", else the one that is found.
  explicit Python(std::string_view file);
  bool opened() const { return !runtime_.empty(); }
  const std::string& path() const { return path_; }
  const std::string& report() const { return report_; }  // what was tried, when none was found

  const std::string& version() const { return version_; }  // of TVM
  const std::string& ffi_library() const { return ffi_; }          // the file of libtvm_ffi.so
  const std::string& runtime_library() const { return runtime_; }  // and of libtvm_runtime.so
  const std::string& extra_library() const { return extra_; }      // and of what compiled code calls: sorting

  // Both keep their result on disk. This one gives the ops of ONNX that TVM's frontend has:
  Names ops() const;
  // The bytes of a shared library for this kind of machine. Throws Code::declined where TVM does not take the model.
  std::string compile(const std::string& model, std::string_view machine) const;

 private:
  std::string find_installation();  // where all is; what it lacks, or ""
  ChildEnd run(std::initializer_list<std::string_view> words, std::chrono::seconds longest) const;
  [[noreturn]] void fail_with_output(const ChildEnd& end) const;

  std::string path_, report_, version_, ffi_, runtime_, extra_;
};

}  // namespace thunder::tvm
