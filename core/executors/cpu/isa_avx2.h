// Vectors of AVX2 for the files that are compiled for it. Nothing here has a name outside of the file that includes it.
#pragma once

#include <cstdint>

namespace thunder {
namespace {

struct Isa {
  static constexpr int64_t kLanes = 8, kRows = 6, kDots = 4;
  typedef float V __attribute__((vector_size(kLanes * sizeof(float))));
  typedef float U __attribute__((vector_size(kLanes * sizeof(float)), aligned(sizeof(float)), may_alias));
  typedef int32_t I __attribute__((vector_size(kLanes * sizeof(float))));
};

}  // namespace
}  // namespace thunder
