#include "onnx/operands.h"

#include <algorithm>
#include <numeric>

#include "base/text.h"
#include "onnx/importer.h"

namespace thunder::onnx {

Operand number_or_tensor(Node& n, size_t i, size_t beside) {
  const Host* h = n.known(i);
  if (!h || h->size() != 1 || h->shape.size() > beside || h->dtype == DType::boolean) return n[i];
  return h->holds_reals() ? Operand(h->reals[0]) : Operand(h->ints[0]);
}

Pair binary_operands(Node& n) {
  const DType a = n.dtype(0), b = n.dtype(1);
  n.require(a == b, "its inputs are ", name(a), " and ", name(b), ", they must be of one dtype");
  if (n.known(1) && !n.known(0)) return {n[0], number_or_tensor(n, 1, n.rank(0)), a};
  if (n.known(0) && !n.known(1)) return {number_or_tensor(n, 0, n.rank(1)), n[1], a};
  return {n[0], n[1], a};
}

Tensor* normalize_indices(Node& n, size_t input, Dim size) {
  if (const Host* h = n.known(input)) {
    const bool front = std::none_of(h->ints.begin(), h->ints.end(), [](Dim d) { return hint(d) < 0; });
    if (front) return n.cast(n[input], DType::i64);
  }
  Tensor* index = n.cast(n[input], DType::i64);
  return n.op("where", {n.op("lt", {index, 0}), n.op("add", {index, size}), index});
}

std::vector<int64_t> all_axes(size_t rank) {
  std::vector<int64_t> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

Tensor* permuted(Node& n, Tensor* x, const std::vector<int64_t>& order) {
  return order == all_axes(order.size()) ? x : n.op("permute", {x, order});
}

Tensor* arange_along(Node& n, Dim size, size_t axis, size_t rank, DType dtype) {
  Tensor* list = n.op("arange", {0, size, 1, dtype, n.importer().device});
  Shape shape(rank, Dim(1));
  shape[axis] = size;
  return rank == 1 ? list : n.op("reshape", {list, shape});
}

}  // namespace thunder::onnx
