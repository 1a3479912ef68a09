// ONNX Runtime, opened when it is first asked for, for the rest of the process.
#pragma once

#include <string>

#include "executors/onnxrt/abi.h"

namespace thunder::onnxrt {

class Runtime {
 public:
  // Null: there is none. `found` gets the version and the file, or every name that was looked for. Any thread.
  static const Runtime* open(std::string& found);

  // Owned by ONNX Runtime: its message becomes an error of ours. Throws Code::declined.
  void check(OrtStatus* failed) const;
  std::string message_of(OrtStatus* failed) const;  // releases it

  OrtEnv* env() const { return env_; }
  const OrtMemoryInfo* memory() const { return memory_; }
  const std::string& version() const { return version_; }

  // A function of the table.
  template <class... Args>
  OrtStatus* call(Place place, Args... args) const {
    return reinterpret_cast<OrtStatus* (*)(Args...)>(const_cast<void*>(table_[place]))(args...);
  }
  template <class T>
  void release(Place place, T* what) const {
    reinterpret_cast<void (*)(T*)>(const_cast<void*>(table_[place]))(what);
  }

 private:
  const void* const* table_ = nullptr;
  OrtEnv* env_ = nullptr;
  OrtMemoryInfo* memory_ = nullptr;
  std::string version_;
};

}  // namespace thunder::onnxrt
