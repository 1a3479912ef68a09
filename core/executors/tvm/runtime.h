// TVM's libraries, opened when they are first asked for, for the rest of the process.
#pragma once

#include <optional>
#include <string>
#include <span>

#include "executors/one_engine.h"
#include "executors/tvm/abi.h"
#include "executors/tvm/python.h"

namespace thunder::tvm {

class Runtime {
 public:
  // See OneEngine; `file` is a Python's.
  static const Runtime* open(std::string& found, std::string_view file = {});

  const Python& python() const { return *python_; }
  // Whether the frontend has this op of ONNX. Asks Python when it is first called.
  bool supports_op(std::string_view op) const;

  // Owned values from a call; throws what TVM raised.
  Value call(Object* function, std::span<const Value> arguments) const;
  Value call(const char* global, std::span<const Value> arguments) const;
  Object* function_of(Object* module, const char* name) const;
  void release(Object* object) const {
    if (object) functions_.release(object);
  }
  // The error that a function has raised, as text.
  std::string take_error_message() const;
  const Functions& functions() const { return functions_; }

 private:
  friend class OneEngine<Runtime>;
  std::string start(const Python& python);

  std::optional<Python> python_;
  Functions functions_ = {};
  mutable std::once_flag asked_;
  mutable Names ops_;
};

}  // namespace thunder::tvm
