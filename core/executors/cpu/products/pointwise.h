// Convolutions whose window is one pixel, and their gradients: products of the weight and each image.
#pragma once

#include <algorithm>

#include "executors/cpu/products/algorithms.h"
#include "ir/shape.h"
#include "ops/pair.h"

namespace thunder {

// y[n, rows, pixels] = w[rows, depth] x[n, depth, pixels]. `row`: which dim of the weight counts the rows.
template <class T>
BatchedProduct<T> pointwise_of(const Launch* launch, size_t row) {
  const Buffer &x = launch->inputs[0], &w = launch->inputs[1], &y = launch->outputs[0];
  const int64_t images = y.shape[0], rows = y.shape[1], depth = x.shape[1], height = y.shape[2], width = y.shape[3];
  const MatrixOf<T> weight{w.as<T>(), w.strides[row], w.strides[1 - row]};
  BatchedProduct<T> p;
  if (height * width == 1) {  // images are the rows of one product
    p.each = {images,
              rows,
              depth,
              {x.as<T>(), x.strides[0], x.strides[1]},
              {weight.data, weight.column, weight.row},
              y.as<T>(),
              y.strides[0],
              false};
    return p;
  }
  const bool one = height == 1 || x.strides[2] == width * x.strides[3];  // a row of pixels follows the one before
  p.each = {rows,
            one ? height * width : width,
            depth,
            weight,
            {x.as<T>(), x.strides[1], x.strides[3]},
            y.as<T>(),
            y.strides[1],
            false};
  p.batch[p.rank++] = {images, 0, x.strides[0], y.strides[0]};
  if (!one) p.batch[p.rank++] = {height, 0, x.strides[2], y.strides[2]};
  return p;
}

// Rows of ProductRow whose products are so; `first` is the index of the argument stride.
template <class T>
struct PointwiseRow {
  std::string_view op;
  BatchedProduct<T> (*products)(const Launch*);
  size_t first;
};
template <class T>
constexpr std::array kPointwiseRows = {
    PointwiseRow<T>{name(Prim::conv2d), [](const Launch* l) { return pointwise_of<T>(l, 0); }, 2},
    PointwiseRow<T>{name(Prim::conv2d_input_grad), [](const Launch* l) { return pointwise_of<T>(l, 1); }, 3},
};

// Whether a convolution has a window of one pixel, stride 1, no padding and one group; `first` is the index of the
// argument stride.
inline bool is_pointwise(const Node& node, const Sizes& weight, size_t first) {
  const auto all = [&](size_t arg, int64_t value) {
    const auto pair = pair_of(node.args[arg]);
    return pair[0] == value && pair[1] == value;
  };
  return weight[2] == 1 && weight[3] == 1 && all(first, 1) && all(first + 1, 0) && node.args[first + 3].i == 1;
}

// The gradient by the weight: dw[rows, columns] = sum over n and pixels of dy[n, rows, pixel] x[n, columns, pixel], a
// product for each image that is added to those before.
class PointwiseWeightGrad : public Kernel {
 public:
  static constexpr Prim kOp = Prim::conv2d_weight_grad;

  PointwiseWeightGrad(const Backends& m, Available a) : Kernel(this), backends_(m), available_(std::move(a)) {}

  static bool claims(const NodeView& view) {
    return is_pointwise(view.node, concrete(view.store.type(view.node.results[0]).shape), 3);
  }
  static GemmSize typical_gemm_size(const NodeView& view) {
    const auto sizes = [&](size_t arg) { return concrete(view.store.type(view.node.args[arg].v).shape); };
    const Sizes dy = sizes(0), x = sizes(1);
    return {dy[1], x[1], dy[2] * dy[3]};
  }

  Status* run(const Launch* launch) const {
    const Buffer &dy = launch->inputs[0], &x = launch->inputs[1];
    const int64_t height = dy.shape[2], width = dy.shape[3];
    if (height * width == 1) return add_row_product(launch, 0, 0, 0, dy.shape[0], false);  // the sum is over images
    const bool one = height == 1 || (dy.strides[2] == width * dy.strides[3] && x.strides[2] == width * x.strides[3]);
    const int64_t rows = one ? 1 : height, parts = dy.shape[0] * rows;
    if (!parts) return add_row_product(launch, 3, 0, 0, 0, false);
    for (int64_t part = 0; part < parts; part++)
      if (Status* failed = add_row_product(launch, 3, part / rows, part % rows, one ? height * width : width, part > 0))
        return failed;
    return nullptr;
  }

 private:
  // Sums along an axis, of so many elements, of a row of an image.
  Status* add_row_product(const Launch* launch, int axis, int64_t image, int64_t row, int64_t depth, bool add) const {
    const Buffer &dy = launch->inputs[0], &x = launch->inputs[1], &dw = launch->outputs[0];
    const auto at = [&](const Buffer& b) { return b.as<float>() + image * b.strides[0] + row * b.strides[2]; };
    BatchedProduct<float> p;
    p.each = {dw.shape[0],
              dw.shape[1],
              depth,
              {at(dy), dy.strides[1], dy.strides[axis]},
              {at(x), x.strides[axis], x.strides[1]},
              dw.as<float>(),
              dw.strides[0],
              add};
    return run_products(backends_, available_, launch, p);
  }

  const Backends& backends_;
  const Available available_;
};

}  // namespace thunder
