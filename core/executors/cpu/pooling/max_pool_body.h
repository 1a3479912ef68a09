// Max pooling as a template over the width of vectors.
#pragma once

#include "executors/cpu/vectors.h"
#include "executors/cpu/pooling/max_pool.h"

namespace thunder {

template <class Isa>
class MaxPoolBody : Vectors<Isa> {
  using typename Vectors<Isa>::V;
  using typename Vectors<Isa>::I;
  using Vectors<Isa>::kLanes, Vectors<Isa>::load, Vectors<Isa>::store, Vectors<Isa>::min, Vectors<Isa>::lane_numbers;

  template <int64_t... kLane>
  static V load_even(const float* p, std::integer_sequence<int64_t, kLane...>) {
    return __builtin_shufflevector(load(p), load(p + kLanes), (2 * kLane)...);
  }

  // The pixels of `count` windows that are kStride apart, or `stride` if kStride is 0.
  template <int64_t kStride>
  static V load_pixels(const float* p, int64_t stride, int64_t count) {
    if constexpr (kStride == 1) return load(p);
    if constexpr (kStride == 2) return load_even(p, std::make_integer_sequence<int64_t, kLanes>());
    V v{};
    for (int64_t i = 0; i < count; i++) v[i] = p[i * stride];
    return v;
  }

  template <int64_t kStride>
  static bool pool_vectors(const WindowRow& w, float* values, int64_t* indices) {
    I none{};
    for (int64_t window = 0; window < w.windows; window += kLanes) {
      const int64_t count = min(kLanes, w.windows - window);
      V best = V{} - __builtin_inff();
      I at = I{} - 1;
      const I steps = lane_numbers() * static_cast<int32_t>(w.stride) + static_cast<int32_t>(window * w.stride);
      for (int64_t i = 0; i < w.rows; i++) {
        const float* p = w.pixels + i * w.pitch + window * w.stride;
        I place = steps + w.first[i];
        for (int64_t j = 0; j < w.taps; j++, p += w.dilation, place += static_cast<int32_t>(w.dilation)) {
          const V v = load_pixels<kStride>(p, w.stride, count);
          const I better = (v > best) | (v != v);
          best = better ? v : best;
          at = better ? place : at;
        }
      }
      if (count == kLanes) {
        store(values + window, best);
        for (int64_t i = 0; i < kLanes; i++) indices[window + i] = at[i];
        none |= at < 0;
      } else
        for (int64_t i = 0; i < count; i++)
          values[window + i] = best[i], indices[window + i] = at[i], none[i] |= at[i] < 0;
    }
    for (int64_t i = 0; i < kLanes; i++)
      if (none[i]) return true;
    return false;
  }

  static bool pool_row(const WindowRow& w, float* values, int64_t* indices) {
    static_assert(MaxPoolKernels::kMaxPacked == 2);
    return w.stride == 1   ? pool_vectors<1>(w, values, indices)
           : w.stride == 2 ? pool_vectors<2>(w, values, indices)
                           : pool_vectors<0>(w, values, indices);
  }

 public:
  static constexpr MaxPoolKernels kKernels{pool_row};
};

}  // namespace thunder
