// One blocked product for every matrix that the reference kernels multiply: strided ones, and images that are read as
// matrices of patches, so that a convolution needs no copy of its patches.
#pragma once

#include <array>
#include <cstdint>

#include "ir/type.h"

namespace thunder {

// Where the positions along one side of such a matrix lie. A position counts through up to three axes, the last one
// fastest; each step along an axis moves by `offset` elements and, in an image, by `y` and `x` pixels.
struct AxisPositions {
  std::array<int64_t, 3> size{1, 1, 1};  // the first is never read
  std::array<int64_t, 3> offset{};
  std::array<int64_t, 3> y{}, x{};
  int64_t first_y = 0, first_x = 0;

  // A single axis.
  static AxisPositions strided(int64_t stride) { return {.size = {1, 1, INT64_MAX}, .offset = {0, 0, stride}}; }
};

struct Image {
  int64_t height = -1, width = -1;    // -1: no image, only offsets
  int64_t row = 0, column = 0;        // elements from a stored pixel to the next one
  int64_t step_y = 1, step_x = 1;     // only pixels at multiples of these are stored; the others are zero
};

struct Operand {
  const void* data = nullptr;
  AxisPositions outer{};  // rows of the left operand, columns of the right one
  AxisPositions inner{};  // what is summed over
  Image image{};      // pixels outside of it are zero
};

struct ProductOutput {
  void* data = nullptr;
  AxisPositions rows{}, columns{};
};

// out[i, j] = sum over k of left[i, k] * right[k, j]. bf16 and f16 sum in f32, integers wrap. Requires: a dtype that
// by_dtype (ops/kernels.h) knows, and not boolean. Takes no memory but the stack's.
void matrix_product(DType dtype, const Operand& left, const Operand& right, const ProductOutput& out, int64_t rows,
                    int64_t columns, int64_t inner);

// The multiply-adds of products: each element of the left operand takes as many as the result has columns.
inline double multiply_adds_of_rows(const TensorType& left, const TensorType&, const TensorType& result) {
  return double(elements(left.shape).value()) * double(result.shape[result.rank() - 1].value());
}

}  // namespace thunder
