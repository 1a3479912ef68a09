// An ONNX Runtime session whose inputs and outputs lie in the library's memory.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "executors/onnxrt/runtime.h"
#include "tensor/buffer.h"

namespace thunder {
class Status;
}

namespace thunder::onnxrt {

// A constant of the model, whose data it shares.
struct SharedConstant {
  std::string name;
  Buffer data;  // dense
};

class Session {
 public:
  // Throws Code::declined where ONNX Runtime does not take the model.
  Session(const Runtime& runtime, const std::string& model, std::vector<std::string> inputs,
          std::vector<std::string> outputs, std::span<const SharedConstant> constants, size_t threads);
  ~Session();
  Session(const Session&) = delete;

  // Runs it on dense buffers, by input and output. Null or an owned status. Any number of threads at a time.
  Status* run(std::span<const Buffer> in, std::span<const Buffer> out) const;

 private:
  // Values over the buffers of a call. They stay as long as the next call has the same ones.
  struct Bound;
  OrtStatus* bind(Bound& bound, std::span<const Buffer> buffers, size_t first, std::span<const std::string> names,
                  Place place) const;

  const Runtime& runtime_;
  OrtSession* session_ = nullptr;
  std::vector<OrtValue*> constants_;
  std::vector<std::string> inputs_, outputs_;
  mutable Idle<Bound> idle_;
};

}  // namespace thunder::onnxrt
