// Vectors of AVX-512 for the files that are compiled for it. Nothing here has a name outside of the file that includes
// it.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace thunder {
namespace {

struct Isa {
  static constexpr const char* kName = "avx512";
  static constexpr int64_t kLanes = 16, kRows = 12;
  typedef float V __attribute__((vector_size(kLanes * sizeof(float))));
  typedef float U __attribute__((vector_size(kLanes * sizeof(float)), aligned(sizeof(float)), may_alias));
  typedef int32_t I __attribute__((vector_size(kLanes * sizeof(float))));
  typedef uint16_t H __attribute__((vector_size(kLanes * sizeof(uint16_t)), aligned(sizeof(uint16_t)), may_alias));
  // GCC 12 makes four shuffles of a conversion, and warns of what is not masked.
  static I load_widened(const uint16_t* p) {
    return reinterpret_cast<I>(
        _mm512_maskz_cvtepu16_epi32(0xffff, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))));
  }
  static V from_f16(const uint16_t* p) {
    return reinterpret_cast<V>(_mm512_maskz_cvtph_ps(0xffff, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))));
  }
  static H to_f16(V v) {
    return reinterpret_cast<H>(_mm512_maskz_cvtps_ph(0xffff, reinterpret_cast<__m512>(v), _MM_FROUND_TO_NEAREST_INT));
  }
};

}  // namespace
}  // namespace thunder
