// Where a tensor lives: DLPack's device kind << 16 | index, as in thunder.h.
#pragma once

#include <cstdint>
#include <string>

#include "base/text.h"

namespace thunder {

enum class Device : int32_t { none = 0, cpu = 1 << 16 };

inline Device cuda(int32_t index) { return static_cast<Device>(2 << 16 | index); }
inline int32_t kind(Device d) { return static_cast<int32_t>(d) >> 16; }
inline int32_t index(Device d) { return static_cast<int32_t>(d) & 0xffff; }

inline std::string name(Device d) {
  if (d == Device::cpu) return "cpu";
  if (kind(d) == 2) return cat("cuda:", index(d));
  return cat("device:", kind(d), ":", index(d));
}

}  // namespace thunder
