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

// Memory of numbers in large pages where the system gives them: with small ones a processor looks up addresses, not memory.
class LargePages {
 public:
  explicit LargePages(size_t count) : bytes_((count * sizeof(uint32_t) + kPage - 1) / kPage * kPage + kPage) {
    at_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at_ == MAP_FAILED) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
    madvise(at_, bytes_, MADV_HUGEPAGE);  // only a wish
#endif
    std::fill_n(data(), count, 1);
  }
  ~LargePages() { munmap(at_, bytes_); }
  LargePages(const LargePages&) = delete;
  LargePages& operator=(const LargePages&) = delete;
  uint32_t* data() const { return reinterpret_cast<uint32_t*>((reinterpret_cast<uintptr_t>(at_) + kPage - 1) & ~(kPage - 1)); }

 private:
  static constexpr size_t kPage = size_t{2} << 20;
  size_t bytes_;
  void* at_;
};

// Reads from so many places at a time.
#if defined(__x86_64__)
[[gnu::target_clones("default", "avx2", "avx512f")]]
#endif
[[gnu::optimize("O3")]] inline void read_from(size_t places, const uint32_t* data, size_t count) {
  constexpr size_t kLanes = 32;
  uint32_t sums[kLanes] = {};
  const size_t part = count / places / kLanes * kLanes;
  for (size_t i = 0; i < part; i += kLanes)
    for (size_t p = 0; p < places; p++)
      for (size_t lane = 0; lane < kLanes; lane++) sums[lane] ^= data[p * part + i + lane];
  for (uint32_t& sum : sums) asm volatile("" ::"r"(sum));
}

// ns of reading memory of so many bytes, written before, so many times: from one place at a time, or from several where that is
// faster. One may not keep the memory busy, and several may meet in a bank of it.
class Reading {
 public:
  explicit Reading(size_t bytes) : count_(bytes / sizeof(uint32_t)), data_(count_) {
    const auto from = [this](size_t places) { return median_ns(5, 1, [&] { read_from(places, data_.data(), count_); }); };
    double best = from(places_);
    for (const size_t places : {2, 4})
      if (const double ns = from(places); ns < best) best = ns, places_ = places;
  }
  double ns(int times) const {
    return times * mean_ns(times, [this] { read_from(places_, data_.data(), count_); });
  }

 private:
  size_t count_, places_ = 1;
  LargePages data_;
};

}  // namespace bench
