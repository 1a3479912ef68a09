// Operands that rows share.
#pragma once

#include "onnx/node.h"

namespace thunder::onnx {

// The input as a plain number where it is a known one and stands beside a tensor of this rank, which it then does not
// make larger; else the tensor.
Operand number_or_tensor(Node& n, size_t i, size_t beside);

// Two inputs of one dtype, which is checked.
struct Pair {
  Operand a, b;
  DType dtype;
};
Pair binary_operands(Node& n);

// The greatest number of positions computed on the host, whatever numbers a model has.
constexpr int64_t kMostPlaces = 1 << 20;

// Indices from the front: ONNX lets them count from the back.
Tensor* normalize_indices(Node& n, size_t input, Dim size);

// x with its dims in this order.
Tensor* permuted(Node& n, Tensor* x, const std::vector<int64_t>& order);
// 0, 1 ... rank - 1
std::vector<int64_t> all_axes(size_t rank);
// A tensor of shape [1, ..., size, ..., 1] with 0, 1 ... along `axis`.
Tensor* arange_along(Node& n, Dim size, size_t axis, size_t rank, DType dtype = DType::i64);

}  // namespace thunder::onnx
