// What this processor can do on one thread, measured just now: multiply-adds in registers, and reading memory.
#pragma once

#include "support.h"

#include <sys/mman.h>

#include <new>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace bench {

#if defined(__x86_64__)
[[gnu::target("avx512f")]] inline double fma_avx512_ns(int64_t rounds) {
  __m512 sums[16];
  for (int i = 0; i < 16; i++) sums[i] = _mm512_set1_ps(static_cast<float>(i));
  const __m512 x = _mm512_set1_ps(0.999f), y = _mm512_set1_ps(0.001f);
  const double start = now_ns();
  for (int64_t r = 0; r < rounds; r++) {
#pragma GCC unroll 16
    for (int i = 0; i < 16; i++) sums[i] = _mm512_fmadd_ps(sums[i], x, y);
  }
  const double ns = now_ns() - start;
  for (int i = 0; i < 16; i++) asm volatile("" ::"v"(sums[i]));
  return ns;
}
[[gnu::target("avx2,fma")]] inline double fma_avx2_ns(int64_t rounds) {
  __m256 sums[12];
  for (int i = 0; i < 12; i++) sums[i] = _mm256_set1_ps(static_cast<float>(i));
  const __m256 x = _mm256_set1_ps(0.999f), y = _mm256_set1_ps(0.001f);
  const double start = now_ns();
  for (int64_t r = 0; r < rounds; r++) {
#pragma GCC unroll 12
    for (int i = 0; i < 12; i++) sums[i] = _mm256_fmadd_ps(sums[i], x, y);
  }
  const double ns = now_ns() - start;
  for (int i = 0; i < 12; i++) asm volatile("" ::"x"(sums[i]));
  return ns;
}

// Four places at a time: one stream alone does not keep the memory busy.
[[gnu::target("avx2")]] inline void read_avx2(const float* data, size_t n) {
  __m256 sums[4] = {};
  const size_t part = n / 4 / 16 * 16;
  for (size_t i = 0; i + 16 <= part; i += 16)
    for (size_t p = 0; p < 4; p++) {
      const float* at = data + p * part + i;
      sums[p] = _mm256_xor_ps(sums[p], _mm256_xor_ps(_mm256_loadu_ps(at), _mm256_loadu_ps(at + 8)));
    }
  for (__m256& s : sums) asm volatile("" ::"x"(s));
}
#endif

// ns of so many operations of f32, as multiply-adds of independent vectors of the widest kind; 0 where this is not known.
inline double fma_ns(double flops) {
#if defined(__x86_64__)
  const auto rounds = [flops](double vectors, double lanes) { return std::max(int64_t{1}, static_cast<int64_t>(flops / (vectors * lanes * 2))); };
  if (__builtin_cpu_supports("avx512f")) return fma_avx512_ns(rounds(16, 16));
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return fma_avx2_ns(rounds(12, 8));
#endif
  return 0;
}

// Memory of floats in large pages where the system gives them: with small ones a processor looks up addresses, not memory.
class LargePages {
 public:
  explicit LargePages(size_t floats) : bytes_((floats * sizeof(float) + kPage - 1) / kPage * kPage + kPage) {
    at_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at_ == MAP_FAILED) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
    madvise(at_, bytes_, MADV_HUGEPAGE);  // only a wish
#endif
    std::fill_n(data(), floats, 1.0f);
  }
  ~LargePages() { munmap(at_, bytes_); }
  LargePages(const LargePages&) = delete;
  LargePages& operator=(const LargePages&) = delete;
  float* data() const { return reinterpret_cast<float*>((reinterpret_cast<uintptr_t>(at_) + kPage - 1) & ~(kPage - 1)); }

 private:
  static constexpr size_t kPage = size_t{2} << 20;
  size_t bytes_;
  void* at_;
};

// ns of reading memory of so many bytes, written before, so many times; 0 where this is not known.
class Reading {
 public:
  explicit Reading(size_t bytes) : floats_(bytes / sizeof(float)), data_(floats_) {}
  double ns(int times) const {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) return times * mean_ns(times, [this] { read_avx2(data_.data(), floats_); });
#endif
    return 0;
  }

 private:
  size_t floats_;
  LargePages data_;
};

}  // namespace bench
