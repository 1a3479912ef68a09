#include "executors/cuda/radix.h"

#include <algorithm>

namespace thunder::cuda_kernels {
namespace {

// Mirrored in the text.
constexpr int64_t kThreads = 256, kDigits = 256, kMostPasses = 12, kItems = 24, kItemsOf8Bytes = 16;
constexpr size_t kAlignment = 256;

int64_t count_tiles(int64_t count, size_t key_bytes) {
  const int64_t tile = kThreads * (key_bytes == sizeof(uint64_t) ? kItemsOf8Bytes : kItems);
  return (count + tile - 1) / tile;
}

size_t align_up(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// Bytes that begin as zero: totals of each digit, the next tile of each pass, the state of the first pass.
size_t zeroed_bytes(int64_t tiles) {
  return static_cast<size_t>(kMostPasses * kDigits + kDigits + tiles * kDigits) * sizeof(uint32_t);
}

struct Digits {
  int64_t n = 0, shift[kMostPasses] = {}, per_row[kMostPasses] = {};
};

}  // namespace

std::vector<Digit> digits_of_numbers_below(uint64_t most, int64_t per_row) {
  std::vector<Digit> digits;
  for (int64_t shift = 0; shift < 64 && (most - 1) >> shift; shift += 8) digits.push_back({shift, per_row});
  return digits;
}

size_t RadixSort::scratch(int64_t count, size_t key_bytes) {
  const auto n = static_cast<size_t>(count);
  const int64_t tiles = count_tiles(count, key_bytes);
  return 2 * align_up(n * key_bytes) + 2 * align_up(n * sizeof(uint32_t)) + zeroed_bytes(tiles) +
         static_cast<size_t>(tiles * kDigits) * sizeof(uint32_t);
}

RadixSort::RadixSort(void* scratch, int64_t count, size_t key_bytes)
    : count_(count), tiles_(count_tiles(count, key_bytes)) {
  auto* at = static_cast<std::byte*>(scratch);
  const auto next = [&](size_t bytes) {
    void* const out = at;
    at += align_up(bytes);
    return out;
  };
  const auto n = static_cast<size_t>(count);
  for (void*& keys : keys_) keys = next(n * key_bytes);
  for (uint32_t*& numbers : numbers_) numbers = static_cast<uint32_t*>(next(n * sizeof(uint32_t)));
  totals_ = static_cast<uint32_t*>(next(zeroed_bytes(tiles_)));
  next_tiles_ = totals_ + kMostPasses * kDigits;
  state_ = {next_tiles_ + kDigits, next_tiles_ + kDigits + tiles_ * kDigits};
}

Status* RadixSort::run(const CompiledNode& kernel, size_t first_step, std::span<const Digit> digits, bool by_value) {
  if (Status* failed = kernel.device.fill_with_zeros(totals_, zeroed_bytes(tiles_))) return failed;
  Digits all;
  for (Digit d : digits) all.shift[all.n] = d.shift, all.per_row[all.n++] = d.per_row;
  int64_t count = count_, tiles = tiles_;
  void* counting[] = {&keys_[at_], &totals_, &all, &count};
  // A block of 256 threads reads several of them, so that few sums go to the same totals.
  constexpr int64_t kReads = 16;
  if (Status* failed = kernel.launch((count_ + kReads - 1) / kReads, false, counting, first_step)) return failed;
  const uint32_t* numbers = by_value ? numbers_[at_] : nullptr;  // null: each its own place
  for (size_t pass = 0; pass < digits.size(); pass++) {
    const size_t to = 1 - at_;
    Digit d = digits[pass];
    const uint32_t* totals = totals_ + pass * kDigits;
    uint32_t *state = state_[pass % 2], *next_state = state_[1 - pass % 2], *next_tile = next_tiles_ + pass;
    void* moving[] = {&keys_[at_], &numbers,    &keys_[to], &numbers_[to], &totals, &state,
                      &next_state, &next_tile, &d.shift,   &d.per_row,    &count,  &tiles};
    if (Status* failed = kernel.launch(tiles_, true, moving, first_step + 1)) return failed;
    at_ = to, numbers = numbers_[to];
  }
  return nullptr;
}

}  // namespace thunder::cuda_kernels
