// Vectors of AVX-512 for the files that are compiled for it. Nothing here has a name outside of the file that includes it.
#pragma once

#include <cstdint>

namespace thunder {
namespace {

struct Isa {
  static constexpr int64_t kLanes = 16, kRows = 12, kDots = 8;
  typedef float V __attribute__((vector_size(kLanes * sizeof(float))));
  typedef float U __attribute__((vector_size(kLanes * sizeof(float)), aligned(sizeof(float)), may_alias));
  typedef int32_t I __attribute__((vector_size(kLanes * sizeof(float))));
};

}  // namespace
}  // namespace thunder
