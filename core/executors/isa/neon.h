// Vectors of NEON, of which there are 32. Nothing here has a name outside of the file that includes it.
#pragma once

#include <cstdint>

namespace thunder {
namespace {

struct Isa {
  static constexpr const char* kName = "neon";
  static constexpr int64_t kLanes = 4, kRows = 12;
  typedef float V __attribute__((vector_size(kLanes * sizeof(float))));
  typedef float U __attribute__((vector_size(kLanes * sizeof(float)), aligned(sizeof(float)), may_alias));
  typedef int32_t I __attribute__((vector_size(kLanes * sizeof(float))));
  typedef uint16_t H __attribute__((vector_size(kLanes * sizeof(uint16_t)), aligned(sizeof(uint16_t)), may_alias));
  static I widened(const uint16_t* p) { return __builtin_convertvector(*reinterpret_cast<const H*>(p), I); }
};

}  // namespace
}  // namespace thunder
