// Elements as NVIDIA's libraries name their types; what has another code is float32.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

// To the nearest number of 10 bits after the point, as tensor cores read float32 (TF32).
inline double to_tf32(double value) {
  auto single = static_cast<float>(value);
  uint32_t bits;
  std::memcpy(&bits, &single, 4);
  bits = (bits + 0xfffu + (bits >> 13 & 1u)) & ~0x1fffu;
  return std::memcpy(&single, &bits, 4), single;
}

struct Codes {
  int f64, bf16, f16;

  size_t bytes(int type) const { return type == f64 ? 8 : type == bf16 || type == f16 ? 2 : 4; }

  double load(const std::byte* at, int type) const {
    if (type == f64) {
      double v;
      return std::memcpy(&v, at, 8), v;
    }
    if (type == f16) {
      _Float16 half;
      return std::memcpy(&half, at, 2), static_cast<float>(half);
    }
    uint32_t bits = 0;
    std::memcpy(type == bf16 ? reinterpret_cast<std::byte*>(&bits) + 2 : reinterpret_cast<std::byte*>(&bits), at, bytes(type));
    float v;
    return std::memcpy(&v, &bits, 4), v;
  }

  // To bfloat16 to the nearest even; NaN stays quiet.
  void store(std::byte* at, double value, int type) const {
    if (type == f64) return void(std::memcpy(at, &value, 8));
    const auto single = static_cast<float>(value);
    if (type == f16) {
      const auto half = static_cast<_Float16>(single);
      return void(std::memcpy(at, &half, 2));
    }
    uint32_t bits;
    std::memcpy(&bits, &single, 4);
    if (type != bf16) return void(std::memcpy(at, &bits, 4));
    const auto half = static_cast<uint16_t>((single != single ? bits | 0x400000u : bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
    std::memcpy(at, &half, 2);
  }
};
