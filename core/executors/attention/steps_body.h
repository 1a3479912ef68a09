// The steps, written once for every width of vectors.
#pragma once

#include "executors/attention/steps.h"
#include "executors/cpu/vectors.h"

namespace thunder {

template <class Isa>
class StepsBody : Vectors<Isa> {
  using typename Vectors<Isa>::V;
  using typename Vectors<Isa>::I;
  using Vectors<Isa>::kLanes, Vectors<Isa>::load, Vectors<Isa>::store, Vectors<Isa>::least, Vectors<Isa>::all, Vectors<Isa>::larger,
      Vectors<Isa>::exp, Vectors<Isa>::sum;
  static constexpr int64_t kWidth = 2 * kLanes;
  static constexpr float kNone = -__builtin_inff();

  static void turn(const Matrix& from, int64_t rows, int64_t columns, float factor, float* to) {
    if (from.column == 1)
      return Vectors<Isa>::turn(from.data, from.row, rows, kWidth, columns, to, kWidth, [factor](auto x) { return x * factor; });
    for (int64_t column = 0; column < columns; column++)
      for (int64_t r = 0; r < kWidth; r++) to[column * kWidth + r] = r < rows ? from.data[r * from.row + column * from.column] * factor : 0;
  }

  // Adds the mask, and takes out what a lane does not see.
  static void hide(const Panel& p) {
    if (p.mask)
      for (int64_t r = 0; r < p.keys; r++)
        for (int64_t x = 0; x < kWidth; x += kLanes) store(p.scores + r * p.row + x, load(p.scores + r * p.row + x) + load(p.mask + r * kWidth + x));
    I lane{};
    for (int64_t l = 0; l < kLanes; l++) lane[l] = static_cast<int32_t>(l);
    for (int64_t r = p.hidden < 0 ? 0 : p.hidden; r < p.keys; r++)
      for (int64_t x = 0; x < kWidth; x += kLanes) {
        const I before = lane + static_cast<int32_t>(least(p.hidden + x - r, kWidth));
        float* at = p.scores + r * p.row + x;
        store(at, before > 0 ? load(at) : all(kNone));
      }
  }

  // What e^x is taken of, so that a lane without any score gets zeros.
  static V shift_of(V top) { return top == kNone ? V{} : top; }

  static void weigh(const Panel& p, float* top, float* total, float* factor) {
    hide(p);
    V tops[2] = {load(top), load(top + kLanes)}, other[2] = {tops[0], tops[1]};
    int64_t r = 0;
    for (; r + 2 <= p.keys; r += 2)
      for (int64_t x = 0; x < 2; x++) {
        tops[x] = larger(load(p.scores + r * p.row + x * kLanes), tops[x]);
        other[x] = larger(load(p.scores + (r + 1) * p.row + x * kLanes), other[x]);
      }
    for (; r < p.keys; r++)
      for (int64_t x = 0; x < 2; x++) tops[x] = larger(load(p.scores + r * p.row + x * kLanes), tops[x]);
    V shift[2], sums[2] = {};
    for (int64_t x = 0; x < 2; x++) {
      tops[x] = larger(other[x], tops[x]);
      shift[x] = shift_of(tops[x]);
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
      const V before = exp(load(top + x * kLanes) - shift[x]);
      store(factor + x * kLanes, before);
      store(total + x * kLanes, load(total + x * kLanes) * before + sums[x]);
      store(top + x * kLanes, tops[x]);
    }
  }

  static void weigh_row(float* scores, int64_t keys, float* top, float* total, float* factor) {
    V tops = all(*top);
    int64_t j = 0;
    for (; j + kLanes <= keys; j += kLanes) tops = larger(load(scores + j), tops);
    float largest = Vectors<Isa>::largest(tops);
    for (; j < keys; j++) largest = scores[j] > largest ? scores[j] : largest;
    const float shift = largest == kNone ? 0 : largest;
    V sums{};
    j = 0;
    for (; j + kLanes <= keys; j += kLanes) {
      const V e = exp(load(scores + j) - shift);
      sums += e;
      store(scores + j, e);
    }
    V rest = all(kNone);
    for (int64_t l = 0; j + l < keys; l++) rest[l] = scores[j + l];
    rest = exp(rest - shift);
    for (int64_t l = 0; j + l < keys; l++) scores[j + l] = rest[l];
    *factor = exp(all(*top - shift))[0];
    *total = *total * *factor + sum(sums + rest);
    *top = largest;
  }

  static void scale_rows(float* c, int64_t row, int64_t rows, int64_t columns, const float* factors) {
    for (int64_t r = 0; r < rows; r++, c += row) {
      int64_t x = 0;
      for (; x + kLanes <= columns; x += kLanes) store(c + x, load(c + x) * factors[r]);
      for (; x < columns; x++) c[x] *= factors[r];
    }
  }

  static void differentiate(const Panel& p, float* slopes, const float* top, const float* weight, const float* mean, float scale) {
    hide(p);
    for (int64_t r = 0; r < p.keys; r++)
#pragma GCC unroll 2
      for (int64_t x = 0; x < kWidth; x += kLanes) {
        float *score = p.scores + r * p.row + x, *slope = slopes + r * p.row + x;
        const V probability = exp(load(score) - load(top + x)) * load(weight + x);
        store(score, probability);
        store(slope, probability * (load(slope) - load(mean + x)) * scale);
      }
  }

 public:
  static constexpr Steps kSteps{kWidth, turn, weigh, weigh_row, scale_rows, differentiate};
};

}  // namespace thunder
