// A value of a model while it is imported into a scope.
#pragma once

#include <memory>
#include <vector>

#include "tensor/tensor.h"

namespace thunder::onnx {

// The elements of a small tensor as far as they are known while tracing: numbers, and formulas of symbolic sizes.
struct Host {
  DType dtype = DType::i64;
  Sizes shape;
  std::vector<Dim> ints;      // of integers and booleans
  std::vector<double> reals;  // of reals, each a number of the dtype

  bool holds_reals() const { return is_real(dtype); }
  size_t size() const { return holds_reals() ? reals.size() : ints.size(); }
  // Whether no element is a formula.
  bool constant() const;
};
using HostRef = std::shared_ptr<const Host>;

struct Value {
  Tensor* tensor = nullptr;  // the scope's, or one that the model keeps; null: absent, a list, or not made yet
  HostRef host;              // its elements, where they are known; of what is computed from weights they are not
  std::shared_ptr<const std::vector<Value>> list;  // a sequence
  bool is_present() const { return tensor || host || list; }
};

// Tensors with more elements are not kept on the host.
constexpr int64_t kMostHostElements = 1024;

HostRef host_of(std::vector<Dim> ints, DType dtype = DType::i64);  // a list
HostRef host_of(Dim one, DType dtype = DType::i64);                // of rank 0
// The elements of a concrete tensor on the host. Requires: no more than kMostHostElements.
HostRef host_of(const Tensor& t);
// Requires: constant.
Ref<Tensor> tensor_of(const Host& host, const Allocator& allocator);

}  // namespace thunder::onnx
