// The softmax kernels as templates over the width of vectors.
#pragma once

#include "executors/cpu/attention/softmax.h"
#include "executors/cpu/vectors.h"

namespace thunder {

template <class Isa>
class SoftmaxBody : Vectors<Isa> {
  using typename Vectors<Isa>::V;
  using typename Vectors<Isa>::I;
  using Vectors<Isa>::kLanes, Vectors<Isa>::load, Vectors<Isa>::store, Vectors<Isa>::min, Vectors<Isa>::broadcast,
      Vectors<Isa>::larger, Vectors<Isa>::exp, Vectors<Isa>::sum, Vectors<Isa>::lane_numbers;
  static constexpr int64_t kWidth = 2 * kLanes;
  static constexpr float kMinusInfinity = -__builtin_inff();

  static void copy_transposed(const Matrix& from, int64_t rows, int64_t columns, float factor, float* to) {
    if (from.column == 1)
      return Vectors<Isa>::copy_transposed(from.data, from.row, rows, kWidth, columns, to, kWidth,
                                           [factor](auto x) { return x * factor; });
    for (int64_t column = 0; column < columns; column++)
      for (int64_t r = 0; r < kWidth; r++)
        to[column * kWidth + r] = r < rows ? from.data[r * from.row + column * from.column] * factor : 0;
  }

  // Adds the mask, and sets scores that a lane must not see to -inf.
  static void apply_mask(const Panel& p) {
    if (p.mask)
      for (int64_t r = 0; r < p.keys; r++)
        for (int64_t x = 0; x < kWidth; x += kLanes)
          store(p.scores + r * p.row + x, load(p.scores + r * p.row + x) + load(p.mask + r * kWidth + x));
    for (int64_t r = p.causal_end < 0 ? 0 : p.causal_end; r < p.keys; r++)
      for (int64_t x = 0; x < kWidth; x += kLanes) {
        const I before = lane_numbers() + static_cast<int32_t>(min(p.causal_end + x - r, kWidth));
        float* at = p.scores + r * p.row + x;
        store(at, before > 0 ? load(at) : broadcast(kMinusInfinity));
      }
  }

  // The number subtracted before exp: 0 for a lane without any score, whose weights are then 0.
  static V finite_shift(V running_max) { return running_max == kMinusInfinity ? V{} : running_max; }

  static void online_softmax(const Panel& p, float* running_max, float* total, float* factor) {
    apply_mask(p);
    V maxima[2] = {load(running_max), load(running_max + kLanes)}, other[2] = {maxima[0], maxima[1]};
    int64_t r = 0;
    for (; r + 2 <= p.keys; r += 2)
      for (int64_t x = 0; x < 2; x++) {
        maxima[x] = larger(load(p.scores + r * p.row + x * kLanes), maxima[x]);
        other[x] = larger(load(p.scores + (r + 1) * p.row + x * kLanes), other[x]);
      }
    for (; r < p.keys; r++)
      for (int64_t x = 0; x < 2; x++) maxima[x] = larger(load(p.scores + r * p.row + x * kLanes), maxima[x]);
    V shift[2], sums[2] = {};
    for (int64_t x = 0; x < 2; x++) {
      maxima[x] = larger(other[x], maxima[x]);
      shift[x] = finite_shift(maxima[x]);
    }
    for (r = 0; r < p.keys; r++)
#pragma GCC unroll 2
      for (int64_t x = 0; x < 2; x++) {
        float* at = p.scores + r * p.row + x * kLanes;
        const V e = exp(load(at) - shift[x]);
        sums[x] += e;
        store(at, e);
      }
    for (int64_t x = 0; x < 2; x++) {
      const V before = exp(load(running_max + x * kLanes) - shift[x]);
      store(factor + x * kLanes, before);
      store(total + x * kLanes, load(total + x * kLanes) * before + sums[x]);
      store(running_max + x * kLanes, maxima[x]);
    }
  }

  static void online_softmax_row(float* scores, int64_t keys, float* running_max, float* total, float* factor) {
    V maxima = broadcast(*running_max);
    int64_t j = 0;
    for (; j + kLanes <= keys; j += kLanes) maxima = larger(load(scores + j), maxima);
    float largest = Vectors<Isa>::max_lane(maxima);
    for (; j < keys; j++) largest = scores[j] > largest ? scores[j] : largest;
    const float shift = largest == kMinusInfinity ? 0 : largest;
    V sums{};
    j = 0;
    for (; j + kLanes <= keys; j += kLanes) {
      const V e = exp(load(scores + j) - shift);
      sums += e;
      store(scores + j, e);
    }
    V rest = broadcast(kMinusInfinity);
    for (int64_t l = 0; j + l < keys; l++) rest[l] = scores[j + l];
    rest = exp(rest - shift);
    for (int64_t l = 0; j + l < keys; l++) scores[j + l] = rest[l];
    *factor = exp(broadcast(*running_max - shift))[0];
    *total = *total * *factor + sum(sums + rest);
    *running_max = largest;
  }

  static void scale_rows(float* c, int64_t row, int64_t rows, int64_t columns, const float* factors) {
    for (int64_t r = 0; r < rows; r++, c += row) {
      int64_t x = 0;
      for (; x + kLanes <= columns; x += kLanes) store(c + x, load(c + x) * factors[r]);
      for (; x < columns; x++) c[x] *= factors[r];
    }
  }

  static void softmax_backward(const Panel& p, float* score_grads, const float* running_max, const float* inverse_total,
                               const float* delta, float scale) {
    apply_mask(p);
    for (int64_t r = 0; r < p.keys; r++)
#pragma GCC unroll 2
      for (int64_t x = 0; x < kWidth; x += kLanes) {
        float *score = p.scores + r * p.row + x, *score_grad = score_grads + r * p.row + x;
        const V probability = exp(load(score) - load(running_max + x)) * load(inverse_total + x);
        store(score, probability);
        store(score_grad, probability * (load(score_grad) - load(delta + x)) * scale);
      }
  }

 public:
  static constexpr SoftmaxKernels kKernels{kWidth,     copy_transposed, online_softmax, online_softmax_row,
                                           scale_rows, softmax_backward};
};

}  // namespace thunder
