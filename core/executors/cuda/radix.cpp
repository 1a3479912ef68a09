#include "executors/cuda/radix.h"

#include <algorithm>

namespace thunder::cuda_kernels {
namespace {

constexpr int64_t kThreads = 256, kDigits = 256, kLeastTile = 4096, kMostTiles = 1024;
constexpr size_t kAlignment = 256;

int64_t tile_of(int64_t count) {
  const int64_t each = (count + kMostTiles - 1) / kMostTiles;
  return std::max(kLeastTile, (each + kThreads - 1) / kThreads * kThreads);
}

size_t padded(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

std::vector<Digit> digits_below(uint64_t most, int64_t per_row) {
  std::vector<Digit> digits;
  for (int64_t shift = 0; shift < 64 && (most - 1) >> shift; shift += 8) digits.push_back({shift, per_row});
  return digits;
}

size_t RadixSort::scratch(int64_t count, size_t key_bytes) {
  const auto n = static_cast<size_t>(count);
  const int64_t tile = tile_of(count), tiles = (count + tile - 1) / tile;
  return 2 * padded(n * key_bytes) + 2 * padded(n * sizeof(uint32_t)) +
         padded(static_cast<size_t>(kDigits * (tiles + 1)) * sizeof(uint32_t));
}

RadixSort::RadixSort(void* scratch, int64_t count, size_t key_bytes)
    : count_(count), tile_(tile_of(count)), tiles_((count + tile_ - 1) / tile_) {
  auto* at = static_cast<std::byte*>(scratch);
  const auto next = [&](size_t bytes) {
    void* const out = at;
    at += padded(bytes);
    return out;
  };
  const auto n = static_cast<size_t>(count);
  for (void*& keys : keys_) keys = next(n * key_bytes);
  for (uint32_t*& numbers : numbers_) numbers = static_cast<uint32_t*>(next(n * sizeof(uint32_t)));
  counts_ = static_cast<uint32_t*>(next(static_cast<size_t>(kDigits * (tiles_ + 1)) * sizeof(uint32_t)));
  totals_ = counts_ + kDigits * tiles_;
}

Status* RadixSort::run(const CompiledNode& kernel, size_t first_step, std::span<const Digit> digits) {
  const uint32_t* numbers = nullptr;  // each its own place
  for (Digit d : digits) {
    const size_t to = 1 - at_;
    void* counting[] = {&keys_[at_], &numbers, &counts_, &d.shift, &d.per_row, &count_, &tile_, &tiles_};
    if (Status* failed = kernel.launch(tiles_, true, counting, first_step)) return failed;
    void* summing[] = {&counts_, &totals_, &tiles_};
    if (Status* failed = kernel.launch(kDigits, true, summing, first_step + 1)) return failed;
    void* moving[] = {&keys_[at_], &numbers, &keys_[to], &numbers_[to], &counts_, &totals_,
                      &d.shift, &d.per_row, &count_, &tile_, &tiles_};
    if (Status* failed = kernel.launch(tiles_, true, moving, first_step + 2)) return failed;
    at_ = to, numbers = numbers_[to];
  }
  return nullptr;
}

}  // namespace thunder::cuda_kernels
