// A shared library that TVM compiled from a model, and its calls.
#pragma once

#include "executors/tvm/runtime.h"
#include "tensor/buffer.h"

namespace thunder {
class Status;
}

namespace thunder::tvm {

class Library {
 public:
  Library(const Runtime& tvm, const std::string& bytes);
  ~Library();
  Library(const Library&) = delete;

  // Runs it on dense buffers, by input and output. TVM allocates results itself, and they are copied from there. Null
  // or an owned status. Any number of threads at a time.
  Status* run(std::span<const Buffer> in, std::span<const Buffer> out) const;

 private:
  // TVM's machine for this library, which runs one call at a time, and tensors over the buffers of its last call.
  class Machine;
  std::unique_ptr<Machine> make_machine() const;
  void copy_results(const Value& result, std::span<const Buffer> out) const;

  const Runtime& tvm_;
  Object* module_ = nullptr;
  mutable Idle<Machine> idle_;
};

}  // namespace thunder::tvm
