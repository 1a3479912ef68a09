// ONNX Runtime, opened when it is first asked for, for the rest of the process.
#pragma once

#include <string>

#include "executors/onnxrt/abi.h"
#include "executors/one_engine.h"

namespace thunder::onnxrt {

class Runtime {
 public:
  // See OneEngine.
  static const Runtime* open(std::string& found, std::string_view file = {});

  // Throws Code::declined with ONNX Runtime's message if it reports a failure, and releases the report.
  void check(OrtStatus* failed) const;
  std::string message_of(OrtStatus* failed) const;  // releases it

  OrtEnv* env() const { return env_; }
  const OrtMemoryInfo* memory() const { return memory_; }

  // Calls a function of the table.
  template <class... Args>
  OrtStatus* call(Place place, Args... args) const {
    return reinterpret_cast<OrtStatus* (*)(Args...)>(const_cast<void*>(table_[place]))(args...);
  }
  template <class T>
  void release(Place place, T* what) const {
    reinterpret_cast<void (*)(T*)>(const_cast<void*>(table_[place]))(what);
  }

 private:
  friend class OneEngine<Runtime>;
  std::string start(const SharedLibrary& library);

  const void* const* table_ = nullptr;
  OrtEnv* env_ = nullptr;
  OrtMemoryInfo* memory_ = nullptr;
};

}  // namespace thunder::onnxrt
