// The vector operations of kernels, as templates over an instruction set. Isa has V, a vector of kLanes floats; U, the
// same without alignment; I, as many 32-bit integers; H, as many 16-bit reals without alignment; load_widened, which
// gives bf16 as an I; from_f16 and to_f16, between an H of f16 and a V, rounded to nearest even.
#pragma once

#include <cstdint>
#include <utility>

#include "loops/polynomials.h"

namespace thunder {

template <class Isa>
struct Vectors {
  using V = typename Isa::V;
  using U = typename Isa::U;
  using I = typename Isa::I;
  using H = typename Isa::H;
  static constexpr int64_t kLanes = Isa::kLanes;

  static V load(const float* p) { return *reinterpret_cast<const U*>(p); }
  static V load(const uint16_t* p) { return reinterpret_cast<V>(Isa::load_widened(p) << 16); }
  static float load_one(const float* p) { return *p; }
  static float load_one(const uint16_t* p) { return __builtin_bit_cast(float, static_cast<uint32_t>(*p) << 16); }
  static void store(float* p, V v) { *reinterpret_cast<U*>(p) = v; }
  // Members rather than shared inline functions: of those the linker keeps one copy, which could be the one compiled
  // with these instructions, for code that runs on machines without them.
  static int64_t min(int64_t a, int64_t b) { return a < b ? a : b; }
  static int64_t ceil_div(int64_t n, int64_t each) { return (n + each - 1) / each; }  // ceil(n / each)
  static V broadcast(float x) { return V{} + x; }
  static I lane_numbers() { return make_lane_numbers(std::make_integer_sequence<int32_t, kLanes>()); }  // 0, 1, 2 ...
  // The larger element; b where one is NaN.
  static V larger(V a, V b) { return a > b ? a : b; }

  // Copies `count` consecutive f32 or bf16 as f32.
  template <class T>
  static void copy(const T* from, int64_t count, float* to) {
    int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes) store(to + i, load(from + i));
    for (; i < count; i++) to[i] = load_one(from + i);
  }

  // Rounded to nearest, ties to even; NaN stays NaN.
  static H to_bf16(V v) {
    const I bits = reinterpret_cast<I>(v);
    const I rounded = bits + 0x7fff + (bits >> 16 & 1);
    return __builtin_convertvector((v == v ? rounded : bits | 0x400000) >> 16, H);
  }
  static void narrow(const float* from, int64_t count, uint16_t* to) {
    int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes) *reinterpret_cast<H*>(to + i) = to_bf16(load(from + i));
    if (i == count) return;
    V rest{};
    for (int64_t x = 0; i + x < count; x++) rest[x] = from[i + x];
    const H last = to_bf16(rest);
    for (int64_t x = 0; i + x < count; x++) to[i + x] = last[x];
  }

  static void widen_f16(const uint16_t* from, int64_t count, float* to) {
    int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes) store(to + i, Isa::from_f16(from + i));
    if (i == count) return;
    uint16_t rest[kLanes] = {};
    for (int64_t x = 0; i + x < count; x++) rest[x] = from[i + x];
    const V last = Isa::from_f16(rest);
    for (int64_t x = 0; i + x < count; x++) to[i + x] = last[x];
  }
  static void narrow_f16(const float* from, int64_t count, uint16_t* to) {
    int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes) *reinterpret_cast<H*>(to + i) = Isa::to_f16(load(from + i));
    if (i == count) return;
    V rest{};
    for (int64_t x = 0; i + x < count; x++) rest[x] = from[i + x];
    const H last = Isa::to_f16(rest);
    for (int64_t x = 0; i + x < count; x++) to[i + x] = last[x];
  }

  static float sum(V v) {
    return fold_lanes<kLanes / 2>(v, [](V a, V b) { return a + b; }, std::make_integer_sequence<int64_t, kLanes>())[0];
  }
  static float max_lane(V v) {
    return fold_lanes<kLanes / 2>(v, larger, std::make_integer_sequence<int64_t, kLanes>())[0];
  }

  // e^x within 2 ulp for x <= 88; zero where the result would be subnormal.
  static V exp(V x) {
    constexpr float magic = 0x1.8p23f + 127, log2e = codegen::kLog2E, ln2 = codegen::kLn2[0],
                    ln2_rest = codegen::kLn2[1];
    constexpr float c0 = codegen::kExp[0], c1 = codegen::kExp[1], c2 = codegen::kExp[2], c3 = codegen::kExp[3],
                    c4 = codegen::kExp[4];
    // n = round(x / ln 2), in the lowest bits of the sum with its bias; r = x - n ln 2.
    const V shifted = x * log2e + magic;
    const V n = shifted - magic;
    V r = x - n * ln2;
    r = r - n * ln2_rest;
    const V rest = (((c4 * r + c3) * r + c2) * r + c1) * r + c0;
    const V p = (rest * r + 1) * r + 1;
    const V power = reinterpret_cast<V>(reinterpret_cast<I>(shifted) << 23);
    return x < -87.0f ? V{} : p * power;
  }

  // Transposes kLanes rows in place.
  static void transpose(V* rows) { transpose_by<kLanes / 2>(rows, std::make_integer_sequence<int64_t, kLanes>()); }

  // to[column * to_distance + row] = made(from[row * distance + column]) for f32 or bf16, and 0 for rows past the end,
  // up to whole vectors and `all_rows`. Where to_distance is less than that, the next column overwrites the padding.
  // `made` takes vectors and floats.
  template <class T, class F>
  static void copy_transposed(const T* from, int64_t distance, int64_t rows, int64_t all_rows, int64_t columns,
                              float* to, int64_t to_distance, const F& made) {
    for (int64_t row = (all_rows - 1) / kLanes * kLanes; row >= 0 && all_rows > 0; row -= kLanes) {
      int64_t column = 0;
      for (; column + kLanes <= columns; column += kLanes) {
        V block[kLanes];
#pragma GCC unroll 16
        for (int64_t i = 0; i < kLanes; i++)
          block[i] = row + i < rows ? made(load(from + (row + i) * distance + column)) : V{};
        transpose(block);
#pragma GCC unroll 16
        for (int64_t i = 0; i < kLanes; i++) store(to + (column + i) * to_distance + row, block[i]);
      }
      for (; column < columns; column++)
        for (int64_t i = 0; i < kLanes; i++)
          to[column * to_distance + row + i] =
              row + i < rows ? made(load_one(from + (row + i) * distance + column)) : 0;
    }
  }
  template <class T>
  static void copy_transposed(const T* from, int64_t distance, int64_t rows, int64_t all_rows, int64_t columns,
                              float* to, int64_t to_distance) {
    copy_transposed(from, distance, rows, all_rows, columns, to, to_distance, [](auto x) { return x; });
  }

 private:
  template <int32_t... kLane>
  static I make_lane_numbers(std::integer_sequence<int32_t, kLane...>) {
    return I{kLane...};
  }

  // Reduces by halves: lanes that are kHalf apart are joined, then kHalf / 2, until one lane has all.
  template <int64_t kHalf, class F, int64_t... kLane>
  static V fold_lanes(V v, F join, std::integer_sequence<int64_t, kLane...> lanes) {
    v = join(__builtin_shufflevector(v, v, (kLane ^ kHalf)...), v);
    if constexpr (kHalf > 1) return fold_lanes<kHalf / 2>(v, join, lanes);
    return v;
  }

  // Swaps the off-diagonal quarters of each block of 2 * kHalf rows and columns, then recurses into its quarters.
  template <int64_t kHalf, int64_t... kLane>
  static void transpose_by(V* rows, std::integer_sequence<int64_t, kLane...> lanes) {
#pragma GCC unroll 16
    for (int64_t i = 0; i < kLanes; i++) {
      if (i & kHalf) continue;
      const V a = rows[i], b = rows[i + kHalf];
      rows[i] = __builtin_shufflevector(a, b, ((kLane & kHalf) ? kLanes + kLane - kHalf : kLane)...);
      rows[i + kHalf] = __builtin_shufflevector(a, b, ((kLane & kHalf) ? kLanes + kLane : kLane + kHalf)...);
    }
    if constexpr (kHalf > 1) transpose_by<kHalf / 2>(rows, lanes);
  }
};

}  // namespace thunder
