// Tensors of a model: borrowed from its file where they lie aligned, else copied.
#pragma once

#include "onnx/external.h"
#include "onnx/model.h"
#include "tensor/tensor.h"

namespace thunder::onnx {

// The source of a model's tensors.
class TensorReader {
 public:
  TensorReader(Ref<Mapping> file, std::string path, Allocator allocator)
      : file_(std::move(file)), external_(std::move(path)), allocator_(allocator) {}

  // Throws naming the tensor: damaged ones, dtypes that we lack, external data that may not be read. `later`: a large
  // one that has to be copied is copied by `finish`, so that opening a file reads none of it.
  Ref<Tensor> tensor(const TensorProto& t, bool later = false);
  void copy_deferred();
  // Fills it with zeros where the file has no value.
  Ref<Tensor> dense(const SparseProto& s);
  // The type that `tensor` would have, before it is made.
  static TensorType type_of(const TensorProto& t);
  const Ref<Mapping>& file() const { return file_; }

 private:
  struct Bytes {
    std::span<std::byte> bytes;
    Ref<Mapping> owner;
  };
  struct Copy {
    Ref<Tensor> to;
    Bytes from;
  };
  Bytes raw_bytes(const TensorProto& t, size_t wanted);
  Bytes external_bytes(const TensorProto& t, size_t wanted);

  Ref<Mapping> file_;
  ExternalFiles external_;
  Allocator allocator_;
  std::vector<Copy> later_;
};

}  // namespace thunder::onnx
