// Stable orders of elements: as unsigned keys with their places, sorted digit by digit.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <new>

#include "base/status.h"
#include "ops/kernels.h"
#include "ops/parallel.h"

namespace thunder {

// ---- keys: unsigned numbers that are in the order of prims.sort, equal where elements are ----

template <class T>
using OrderKey = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

// 0 and -0 share a key, and all NaN have the greatest.
template <class T>
OrderKey<T> order_key(T v) {
  using Key = OrderKey<T>;
  if constexpr (std::is_integral_v<T>) {
    if constexpr (std::is_signed_v<T>)
      return static_cast<Key>(v) ^ static_cast<Key>(Key{1} << (8 * sizeof(Key) - 1));
    else return static_cast<Key>(v);
  } else {
    constexpr Key kSign = Key{1} << (8 * sizeof(Key) - 1);
    const auto number = static_cast<Compute<T>>(v);
    if (number != number) return ~Key{0};
    const Key bits = number == 0 ? Key{0} : std::bit_cast<Key>(number);
    return bits & kSign ? ~bits : bits | kSign;
  }
}
// The element that has this key. Zeros and NaN share keys, so the element's own bits are needed for them.
template <class T>
bool is_of_many(OrderKey<T> key) {
  using Key = OrderKey<T>;
  if constexpr (std::is_integral_v<T>) return false;
  else return key == ~Key{0} || key == Key{1} << (8 * sizeof(Key) - 1);
}
template <class T>
T of_key(OrderKey<T> key) {
  using Key = OrderKey<T>;
  constexpr Key kSign = Key{1} << (8 * sizeof(Key) - 1);
  if constexpr (std::is_integral_v<T>) {
    if constexpr (std::is_signed_v<T>) return static_cast<T>(key ^ kSign);
    else return static_cast<T>(key);
  } else {
    return static_cast<T>(std::bit_cast<Compute<T>>(key & kSign ? key ^ kSign : ~key));
  }
}

// ---- items: a key and a place; the lesser item is the lesser key, and of equal keys the lesser place ----

// Keys of 32 bits with places of 32.
struct PackedItem {
  uint64_t both;
  PackedItem() = default;
  PackedItem(uint64_t key, int64_t place) : both(key << 32 | static_cast<uint64_t>(place)) {}
  uint32_t key() const { return static_cast<uint32_t>(both >> 32); }
  int64_t place() const { return static_cast<int64_t>(both & UINT32_MAX); }
  friend bool operator<(PackedItem a, PackedItem b) { return a.both < b.both; }
};
struct WideItem {
  uint64_t of_key;
  int64_t at;
  WideItem() = default;
  WideItem(uint64_t key, int64_t place) : of_key(key), at(place) {}
  uint64_t key() const { return of_key; }
  int64_t place() const { return at; }
  friend bool operator<(const WideItem& a, const WideItem& b) {
    return a.of_key < b.of_key || (a.of_key == b.of_key && a.at < b.at);
  }
};
// Calls f(T{}, Item{}) with the type of the elements and what items of lines of this size are.
template <class F>
auto by_item(DType d, int64_t size, F&& f) {
  return by_dtype(d, [&](auto zero) {
    if (sizeof(OrderKey<decltype(zero)>) == 4 && size <= int64_t{UINT32_MAX}) return f(zero, PackedItem{});
    return f(zero, WideItem{});
  });
}

// ---- sorting by digits, from the least: items whose places ascend keep them so among equals ----

constexpr int kDigitBits = 8, kDigits = 1 << kDigitBits;
constexpr int64_t kFewItems = 256;  // below which comparing is faster

template <class Item>
size_t digit(const Item& item, int number) {
  return static_cast<size_t>(item.key() >> (number * kDigitBits)) & (kDigits - 1);
}
using DigitCounts = std::array<int64_t, kDigits>;

// Sorts n items; `spare` has room for as many. Returns where the result is: either array.
template <class Item>
Item* sort_items(Item* items, Item* spare, int64_t n) {
  if (n <= kFewItems) return std::sort(items, items + n), items;
  constexpr int kPasses = static_cast<int>(sizeof(items->key()));
  DigitCounts counts[kPasses] = {};
  for (int64_t i = 0; i < n; i++)
    for (int d = 0; d < kPasses; d++) counts[d][digit(items[i], d)]++;
  for (int d = 0; d < kPasses; d++) {
    DigitCounts& at = counts[d];
    if (at[digit(items[0], d)] == n) continue;  // all have the same
    int64_t sum = 0;
    for (int64_t& count : at) sum += std::exchange(count, sum);
    for (int64_t i = 0; i < n; i++) spare[at[digit(items[i], d)]++] = items[i];
    std::swap(items, spare);
  }
  return items;
}

// The same of one long line, on the threads of a kernel, in chunks that each have places of their own for each digit.
template <class Item>
Item* sort_items_together(const KernelArgs& k, Item* items, Item* spare, int64_t n) {
  constexpr int64_t kChunks = 16;
  std::array<DigitCounts, kChunks> counts;
  const auto begin_of = [n](int64_t chunk) { return n / kChunks * chunk + std::min(chunk, n % kChunks); };
  const auto each_chunk = [&](auto body) {
    Status* none = in_parts(k, kChunks, n, [&](int64_t first, int64_t end) {
      for (int64_t c = first; c < end; c++) body(counts[static_cast<size_t>(c)], begin_of(c), begin_of(c + 1));
    });
    (void)none;  // nothing refuses
  };
  for (int d = 0; d < static_cast<int>(sizeof(items->key())); d++) {
    each_chunk([&](DigitCounts& at, int64_t begin, int64_t end) {
      at.fill(0);
      for (int64_t i = begin; i < end; i++) at[digit(items[i], d)]++;
    });
    int64_t sum = 0;
    bool same = false;
    for (size_t value = 0; value < kDigits; value++) {
      const int64_t before = sum;
      for (DigitCounts& at : counts) sum += std::exchange(at[value], sum);
      same |= sum - before == n;
    }
    if (same) continue;
    each_chunk([&](DigitCounts& at, int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i++) spare[at[digit(items[i], d)]++] = items[i];
    });
    std::swap(items, spare);
  }
  return items;
}

// Uninitialized memory; null if there is none.
template <class Item>
std::unique_ptr<Item[]> room_for(int64_t n) {
  return std::unique_ptr<Item[]>(new (std::nothrow) Item[static_cast<size_t>(std::max<int64_t>(n, 1))]);
}

}  // namespace thunder
