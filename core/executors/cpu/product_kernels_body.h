// The product kernels as templates over an instruction set. Isa: as for Tiles.
#pragma once

#include "executors/cpu/sliding_body.h"
#include "executors/cpu/thin_body.h"
#include "executors/cpu/transposed_body.h"

namespace thunder {

template <class Isa>
class ProductKernelsBody : Tiles<Isa> {
  using typename Tiles<Isa>::V, typename Tiles<Isa>::Block;
  using Tiles<Isa>::kLanes, Tiles<Isa>::kWidth, Tiles<Isa>::load, Tiles<Isa>::store, Tiles<Isa>::min;
  using Tiles<Isa>::can_read_in_place, Tiles<Isa>::pack, Tiles<Isa>::compute_tile, Tiles<Isa>::rows_at_once;
  static constexpr int64_t kDepth = 256;  // of a packed panel of b, which stays in the L1 cache
  static constexpr int64_t kPackedDepth = 768;  // of a prepacked panel, which is streamed from the L2 cache

  // b is of f32 or bf16.
  template <class P>
  static void multiply_small(const P& p) {
    float packed[kDepth * kWidth];
    const int64_t rows = rows_at_once(p.a);
    for (int64_t j = 0; j < p.n; j += kWidth) {
      const int64_t columns = min(kWidth, p.n - j);
      int64_t l = 0;
      do {  // once even when k is 0: c is written
        const auto* b = p.b.data + l * p.b.row + j * p.b.column;
        Block block{min(kDepth, p.k - l), columns, packed, kWidth, p.add || l > 0};
        if (!can_read_in_place(p.b, b, block)) pack(p.b, b, block, packed);
        for (int64_t i = 0; i < p.m; i += rows) {
          const Matrix a{p.a.data + i * p.a.row + l * p.a.column, p.a.row, p.a.column};
          compute_tile(min(rows, p.m - i), a, block, p.c + i * p.c_row + j, p.c_row);
        }
        l += kDepth;
      } while (l < p.k);
    }
  }

  static void multiply_panel(int64_t rows, int64_t depth, const float* a, const float* b, const int32_t* offsets,
                             float* c, bool add) {
    multiply_panel_rows<Isa::kRows>(rows, depth, a, b, offsets, c, add);
  }

  static void gather_panel(const Run* runs, int64_t n, const int32_t* offsets, int64_t depth, float* panel) {
    for (int64_t l = 0; l < depth; l++, panel += kWidth)
      for (int64_t r = 0; r < n; r++) {
        const float* from = runs[r].from + offsets[l];
        store(panel + runs[r].at, load(from));
        if (runs[r].count > kLanes) store(panel + runs[r].at + kLanes, load(from + kLanes));
      }
  }

  static void pack_panels(const Matrix& b, int64_t k, int64_t n, float* panels) {
    for (int64_t j = 0; j < n; j += kWidth, panels += k * kWidth)
      pack(b, b.data + j * b.column, Block{k, min(kWidth, n - j), nullptr, kWidth, false}, panels);
  }

  static void multiply_packed(const Product& p) {
    const int64_t rows = rows_at_once(p.a);
    int64_t l = 0;
    do {
      for (int64_t j = 0; j < p.n; j += kWidth) {
        const Block block{min(kPackedDepth, p.k - l), min(kWidth, p.n - j), p.b.data + j * p.b.column + l * p.b.row,
                          p.b.row, p.add || l > 0};
        for (int64_t i = 0; i < p.m; i += rows) {
          const Matrix a{p.a.data + i * p.a.row + l * p.a.column, p.a.row, p.a.column};
          compute_tile(min(rows, p.m - i), a, block, p.c + i * p.c_row + j, p.c_row);
        }
      }
      l += kPackedDepth;
    } while (l < p.k);
  }

  // One instantiation for each number of rows.
  template <int64_t kRows>
  static void multiply_panel_rows(int64_t rows, int64_t depth, const float* a, const float* b, const int32_t* offsets,
                                  float* c, bool add) {
    if constexpr (kRows > 1)
      if (rows < kRows) return multiply_panel_rows<kRows - 1>(rows, depth, a, b, offsets, c, add);
    V left[kRows], right[kRows];
#pragma GCC unroll 16
    for (int64_t i = 0; i < kRows; i++) {
      left[i] = add ? load(c + i * kWidth) : V{};
      right[i] = add ? load(c + i * kWidth + kLanes) : V{};
    }
    for (int64_t l = 0; l < depth; l++, a += kRows) {
      const V b_left = load(b + offsets[l]), b_right = load(b + offsets[l] + kLanes);
#pragma GCC unroll 16
      for (int64_t i = 0; i < kRows; i++) {
        left[i] += a[i] * b_left;
        right[i] += a[i] * b_right;
      }
    }
#pragma GCC unroll 16
    for (int64_t i = 0; i < kRows; i++) store(c + i * kWidth, left[i]), store(c + i * kWidth + kLanes, right[i]);
  }

 public:
  static constexpr ProductKernels kKernels{
      multiply_small<Product>, Thin<Isa>::template multiply<Product>, multiply_small<Bf16Product>,
      Thin<Isa>::template multiply<Bf16Product>, Vectors<Isa>::template copy<Bf16>, Vectors<Isa>::narrow,
      Vectors<Isa>::widen_f16, Vectors<Isa>::narrow_f16, multiply_panel, Isa::kRows, kWidth, gather_panel, pack_panels,
      multiply_packed, Transposed<Isa>::multiply, Sliding<Isa>::slide, Sliding<Isa>::slide_products,
      Sliding<Isa>::sum_lanes};
};

}  // namespace thunder
