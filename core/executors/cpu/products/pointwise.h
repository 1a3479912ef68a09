// Convolutions whose window is one pixel, and their gradients by the input: products of the weight and each image.
#pragma once

#include <algorithm>

#include "executors/cpu/products/batched_product.h"
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
    PointwiseRow<T>{"prims.conv2d", [](const Launch* l) { return pointwise_of<T>(l, 0); }, 2},
    PointwiseRow<T>{"prims.conv2d_input_grad", [](const Launch* l) { return pointwise_of<T>(l, 1); }, 3},
};

// Whether the window of a convolution is one pixel of all channels, and each pixel has one. Requires: its row.
template <class T>
bool is_pointwise(const PointwiseRow<T>& row, const Node& node, const Store& store) {
  const Sizes weight = concrete(store.type(node.args[1].v).shape);
  const auto all = [&](size_t arg, int64_t value) {
    const auto pair = pair_of(node.args[arg]);
    return pair[0] == value && pair[1] == value;
  };
  return weight[2] == 1 && weight[3] == 1 && all(row.first, 1) && all(row.first + 1, 0) &&
         node.args[row.first + 3].i == 1;
}

}  // namespace thunder
