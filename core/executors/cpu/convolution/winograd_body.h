// The transforms as templates over the width of vectors.
#pragma once

#include "executors/cpu/convolution/winograd_kernels.h"
#include "executors/cpu/vectors.h"

namespace thunder {

template <class Isa>
class WinogradBody : Vectors<Isa> {
  using typename Vectors<Isa>::V;
  using Vectors<Isa>::kLanes, Vectors<Isa>::load, Vectors<Isa>::store;

  static void split(const float* line, int64_t count, float* even, float* odd) {
    split_in_vectors<kLanes>(line, count, even, odd);
  }
  // In vectors of kWidth, or narrower ones for fewer pairs; the last one begins where it ends with the line.
  template <int64_t kWidth>
  static void split_in_vectors(const float* line, int64_t count, float* even, float* odd) {
    if (count < kWidth) {
      if constexpr (kWidth > 4) return split_in_vectors<kWidth / 2>(line, count, even, odd);
      for (int64_t i = 0; i < count; i++) even[i] = line[2 * i], odd[i] = line[2 * i + 1];
      return;
    }
    for (int64_t i = 0;; i = i + 2 * kWidth <= count ? i + kWidth : count - kWidth) {
      split_lanes<kWidth>(line + 2 * i, even + i, odd + i, std::make_integer_sequence<int64_t, kWidth>());
      if (i + kWidth == count) return;
    }
  }
  template <int64_t kWidth, int64_t... kLane>
  static void split_lanes(const float* line, float* even, float* odd, std::integer_sequence<int64_t, kLane...>) {
    typedef float U __attribute__((vector_size(kWidth * sizeof(float)), aligned(sizeof(float)), may_alias));
    const U a = *reinterpret_cast<const U*>(line), b = *reinterpret_cast<const U*>(line + kWidth);
    *reinterpret_cast<U*>(even) = __builtin_shufflevector(a, b, (2 * kLane)...);
    *reinterpret_cast<U*>(odd) = __builtin_shufflevector(a, b, (2 * kLane + 1)...);
  }

  static void copy_transposed(const float* from, int64_t distance, int64_t rows, int64_t columns, float* to,
                              int64_t to_distance) {
    Vectors<Isa>::copy_transposed(from, distance, rows, rows, columns, to, to_distance);
  }

  static void transform_inputs(const float* const pixels[16], int64_t count, float* v, int64_t distance) {
    for (int64_t t = 0; t < count; t += kLanes) {
      V down[4][4];  // [row, column]
#pragma GCC unroll 4
      for (int64_t j = 0; j < 4; j++) {
        const V d[] = {load(pixels[j] + t), load(pixels[4 + j] + t), load(pixels[8 + j] + t), load(pixels[12 + j] + t)};
        down[0][j] = d[0] - d[2], down[1][j] = d[1] + d[2], down[2][j] = d[2] - d[1], down[3][j] = d[1] - d[3];
      }
      float* to = v + t;
#pragma GCC unroll 4
      for (int64_t i = 0; i < 4; i++, to += 4 * distance) {
        const V* d = down[i];
        store(to, d[0] - d[2]), store(to + distance, d[1] + d[2]), store(to + 2 * distance, d[2] - d[1]),
            store(to + 3 * distance, d[1] - d[3]);
      }
    }
  }

  static void transform_output_grads(const float* const dy[4], int64_t count, float* m, int64_t distance) {
    for (int64_t t = 0; t < count; t += kLanes) {
      V down[4][2];  // [row, column]
#pragma GCC unroll 2
      for (int64_t j = 0; j < 2; j++) {
        const V first = load(dy[j] + t), second = load(dy[2 + j] + t);
        down[0][j] = first, down[1][j] = first + second, down[2][j] = first - second, down[3][j] = -second;
      }
      float* to = m + t;
#pragma GCC unroll 4
      for (int64_t i = 0; i < 4; i++, to += 4 * distance) {
        const V* d = down[i];
        store(to, d[0]), store(to + distance, d[0] + d[1]), store(to + 2 * distance, d[0] - d[1]),
            store(to + 3 * distance, -d[1]);
      }
    }
  }

  // Four points to three taps.
  static void transform_points_to_taps(const V u[4], V out[3]) {
    const V both = (u[1] + u[2]) * 0.5f;
    out[0] = u[0] + both, out[1] = (u[1] - u[2]) * 0.5f, out[2] = both + u[3];
  }

  static void transform_weight_grads(const float* u, int64_t u_distance, int64_t count, float* taps, int64_t distance) {
    for (int64_t t = 0; t < count; t += kLanes) {
      V down[4][3];  // [column, row]
      for (int64_t j = 0; j < 4; j++) {
        const float* at = u + j * u_distance + t;
        const V points[] = {load(at), load(at + 4 * u_distance), load(at + 8 * u_distance), load(at + 12 * u_distance)};
        transform_points_to_taps(points, down[j]);
      }
      for (int64_t i = 0; i < 3; i++) {
        const V points[] = {down[0][i], down[1][i], down[2][i], down[3][i]};
        V row[3];
        transform_points_to_taps(points, row);
        for (int64_t j = 0; j < 3; j++) store(taps + (3 * i + j) * distance + t, row[j]);
      }
    }
  }

  // Three taps to four points.
  static void transform_taps_to_points(const V g[3], V out[4]) {
    const V ends = (g[0] + g[2]) * 0.5f, middle = g[1] * 0.5f;
    out[0] = g[0], out[1] = ends + middle, out[2] = ends - middle, out[3] = g[2];
  }

  static void transform_weights(const float* taps, float* u, int64_t distance) {
    constexpr int64_t kRow = WinogradKernels::kMaxLanes;
    for (int64_t x = 0; x < kRow; x += kLanes) {
      V down[3][4];  // [column, row]
      for (int64_t j = 0; j < 3; j++) {
        const V g[] = {load(taps + j * kRow + x), load(taps + (3 + j) * kRow + x), load(taps + (6 + j) * kRow + x)};
        transform_taps_to_points(g, down[j]);
      }
      for (int64_t i = 0; i < 4; i++) {
        const V g[] = {down[0][i], down[1][i], down[2][i]};
        V row[4];
        transform_taps_to_points(g, row);
        for (int64_t j = 0; j < 4; j++) store(u + (4 * i + j) * distance + x, row[j]);
      }
    }
  }

  static void transform_outputs(const float* m, int64_t distance, int64_t count, float* const rows[2]) {
    for (int64_t t = 0; t < count; t += kLanes) {
      V down[2][4];  // [row, column]
#pragma GCC unroll 4
      for (int64_t j = 0; j < 4; j++) {
        const float* at = m + j * distance + t;
        const V first = load(at), second = load(at + 4 * distance), third = load(at + 8 * distance),
                last = load(at + 12 * distance);
        down[0][j] = first + second + third, down[1][j] = second - third - last;
      }
#pragma GCC unroll 2
      for (int64_t i = 0; i < 2; i++) {
        const V* d = down[i];
        interleave(d[0] + d[1] + d[2], d[1] - d[2] - d[3], rows[i] + 2 * t,
                   std::make_integer_sequence<int64_t, kLanes>());
      }
    }
  }

  template <int64_t... kLane>
  static void interleave(V even, V odd, float* to, std::integer_sequence<int64_t, kLane...>) {
    store(to, __builtin_shufflevector(even, odd, (kLane / 2 + kLane % 2 * kLanes)...));
    store(to + kLanes, __builtin_shufflevector(even, odd, ((kLane + kLanes) / 2 + kLane % 2 * kLanes)...));
  }

 public:
  static constexpr WinogradKernels kKernels{
      split, copy_transposed, transform_inputs, transform_weights, transform_outputs, transform_output_grads,
      transform_weight_grads};
};

}  // namespace thunder
