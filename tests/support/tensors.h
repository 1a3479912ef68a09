// Small tensors for tests, from and to plain vectors.
#pragma once

#include <cstring>
#include <vector>

#include "tensor/tensor.h"

namespace thunder {

inline TensorType type_of(DType dtype, std::initializer_list<int64_t> sizes) {
  TensorType type;
  type.dtype = dtype;
  type.shape.assign(sizes.begin(), sizes.end());
  return type;
}

// T has the size of the dtype: uint8_t for bool, uint16_t for bf16.
template <class T>
Ref<Tensor> tensor_of(DType dtype, std::initializer_list<int64_t> sizes, const std::vector<T>& values) {
  auto t = Tensor::empty(default_allocator(), type_of(dtype, sizes));
  ensure(t->bytes() == values.size() * sizeof(T), "the test gives ", values.size(), " values for ", name(t->type()));
  if (!values.empty()) std::memcpy(t->data(), values.data(), t->bytes());
  return t;
}

// The elements in row-major order.
template <class T>
std::vector<T> values_of(const Tensor& t) {
  std::vector<T> out(static_cast<size_t>(t.elements()));
  auto dense = dense_copy(default_allocator(), t);
  if (!out.empty()) std::memcpy(out.data(), dense->data(), dense->bytes());
  return out;
}

}  // namespace thunder
