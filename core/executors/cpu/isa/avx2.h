// Vectors of AVX2 for the files that are compiled for it. Nothing here has a name outside of the file that includes it.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace thunder {
namespace {

struct Isa {
  static constexpr const char* kName = "avx2";
  static constexpr int64_t kLanes = 8, kRows = 6;
  typedef float V __attribute__((vector_size(kLanes * sizeof(float))));
  typedef float U __attribute__((vector_size(kLanes * sizeof(float)), aligned(sizeof(float)), may_alias));
  typedef int32_t I __attribute__((vector_size(kLanes * sizeof(float))));
  typedef uint16_t H __attribute__((vector_size(kLanes * sizeof(uint16_t)), aligned(sizeof(uint16_t)), may_alias));
  // GCC 12 makes four shuffles of a conversion.
  static I load_widened(const uint16_t* p) {
    return reinterpret_cast<I>(_mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
  }
  static V from_f16(const uint16_t* p) {
    return reinterpret_cast<V>(_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
  }
  static H to_f16(V v) {
    return reinterpret_cast<H>(_mm256_cvtps_ph(reinterpret_cast<__m256>(v), _MM_FROUND_TO_NEAREST_INT));
  }
};

}  // namespace
}  // namespace thunder
