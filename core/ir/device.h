// Where a tensor lives: DLPack's device kind << 16 | index, as in thunder.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace thunder {

enum class Device : int32_t { none = 0, cpu = 1 << 16 };
constexpr int32_t kCpuKind = 1, kCudaKind = 2;

inline Device cuda(int32_t index) { return static_cast<Device>(kCudaKind << 16 | index); }
inline int32_t kind(Device d) { return static_cast<int32_t>(d) >> 16; }
inline int32_t index(Device d) { return static_cast<int32_t>(d) & 0xffff; }

// "cpu", "cuda" (the first one) or "cuda:INDEX"; Device::none for any other name.
Device find_device(std::string_view text);

std::string name(Device d);

}  // namespace thunder
