// Where a tensor lives: DLPack's device kind << 16 | index, as in thunder.h.
#pragma once

#include <cstdint>
#include <string>

#include "base/text.h"

namespace thunder {

enum class Device : int32_t { none = 0, cpu = 1 << 16 };
constexpr int32_t kCpuKind = 1, kCudaKind = 2;

inline Device cuda(int32_t index) { return static_cast<Device>(kCudaKind << 16 | index); }
inline int32_t kind(Device d) { return static_cast<int32_t>(d) >> 16; }
inline int32_t index(Device d) { return static_cast<int32_t>(d) & 0xffff; }

// "cpu", "cuda", which is the first, or "cuda:INDEX"; none: no device is called so.
inline Device find_device(std::string_view text) {
  if (text == "cpu") return Device::cpu;
  if (text == "cuda") return cuda(0);
  if (!text.starts_with("cuda:")) return Device::none;
  int32_t at = -1;
  const auto [end, error] = std::from_chars(text.data() + 5, text.data() + text.size(), at);
  return error == std::errc() && end == text.data() + text.size() && at >= 0 && at <= 0xffff ? cuda(at) : Device::none;
}

inline std::string name(Device d) {
  if (d == Device::cpu) return "cpu";
  if (kind(d) == kCudaKind) return cat("cuda:", index(d));
  return cat("device:", kind(d), ":", index(d));
}

}  // namespace thunder
