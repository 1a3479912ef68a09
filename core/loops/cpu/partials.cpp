#include "loops/cpu/partials.h"

#include <cstring>

#include "ops/kernels.h"

namespace thunder::loops {
namespace {

// Adds in runs of constant length, which the compiler vectorizes.
template <class T>
void add(T* sums, const T* more, int64_t n) {
  constexpr int64_t kRun = 16;
  int64_t i = 0;
  for (; i + kRun <= n; i += kRun) {
    T run[kRun];
    for (int64_t k = 0; k < kRun; k++) run[k] = sums[i + k] + more[i + k];
    for (int64_t k = 0; k < kRun; k++) sums[i + k] = run[k];
  }
  for (; i < n; i++) sums[i] += more[i];
}

template <class F>
void call_with_sum_type(DType d, F&& f) {
  by_dtype(d, [&](auto t) {
    if constexpr (!std::is_same_v<decltype(t), bool> && !kHalf<decltype(t)>) f(t);
  });
}

}  // namespace

PartialSums::PartialSums(std::vector<ColumnSum> sums, int64_t chunks) : sums_(std::move(sums)), chunks_(chunks) {
  for (const ColumnSum& s : sums_) {
    offsets_.push_back(chunk_bytes_);
    chunk_bytes_ += (static_cast<size_t>(s.elements) * size_of(s.dtype) + 63) / 64 * 64;
  }
}

void* PartialSums::at(const Sums& sums, int64_t chunk, size_t i) const {
  if (chunk == 0 && in_output(sums, sums_[i])) return output(sums, sums_[i]).data;
  return static_cast<std::byte*>(sums.launch->scratch) + static_cast<size_t>(chunk) * chunk_bytes_ + offsets_[i];
}

void PartialSums::zero_chunk(const Sums& sums, int64_t chunk, void** arguments) const {
  for (size_t i = 0; i < sums_.size(); i++) {
    arguments[sums_[i].argument] = at(sums, chunk, i);
    std::memset(at(sums, chunk, i), 0, static_cast<size_t>(sums_[i].elements) * size_of(sums_[i].dtype));
  }
}

void PartialSums::combine_finished(Sums& sums, int64_t first, int64_t chunk) const {
  for (int64_t many = 1; chunk & many; many *= 2) {
    const int64_t left = chunk & -2 * many;
    if (left < first) return;
    add_next_chunks(sums, left);
  }
}

void PartialSums::add_next_chunks(Sums& sums, int64_t chunk) const {
  const int64_t many = sums.covered[static_cast<size_t>(chunk)] + 1;
  for (size_t i = 0; i < sums_.size(); i++)
    call_with_sum_type(sums_[i].dtype, [&](auto t) {
      using T = decltype(t);
      add(static_cast<T*>(at(sums, chunk, i)), static_cast<const T*>(at(sums, chunk + many, i)), sums_[i].elements);
    });
  sums.covered[static_cast<size_t>(chunk)] = static_cast<uint8_t>(2 * many - 1);
}

void PartialSums::combine_all(Sums& sums) const {
  for (int64_t many = 1; many < chunks_; many *= 2)
    for (int64_t left = 0; left + many < chunks_; left += 2 * many)
      if (sums.covered[static_cast<size_t>(left)] < many) add_next_chunks(sums, left);
  for (size_t i = 0; i < sums_.size(); i++) {
    if (in_output(sums, sums_[i])) continue;
    const Buffer& out = output(sums, sums_[i]);
    call_with_sum_type(sums_[i].dtype, [&](auto t) {
      const auto* all = static_cast<const decltype(t)*>(at(sums, 0, i));
      by_dtype(out.dtype, [&](auto u) {
        using Out = decltype(u);
        for (int64_t k = 0; k < sums_[i].elements; k++) out.as<Out>()[k] = static_cast<Out>(all[k]);
      });
    });
  }
}

}  // namespace thunder::loops
