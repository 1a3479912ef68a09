#include "program/arena/arena_order.h"

#include <algorithm>
#include <numeric>

#include "base/checked.h"

namespace thunder {
namespace {

// Sets of requests.
class Set {
 public:
  explicit Set(size_t size) : words_((size + 63) / 64) {}
  bool has(size_t i) const { return words_[i / 64] >> (i % 64) & 1; }
  void add(size_t i) { words_[i / 64] |= uint64_t{1} << (i % 64); }
  void add_all(const Set& other) {
    for (size_t i = 0; i < words_.size(); i++) words_[i] |= other.words_[i];
  }

 private:
  std::vector<uint64_t> words_;
};

bool live_together(const ArenaRequest& a, const ArenaRequest& b) { return a.first <= b.last && b.first <= a.last; }

}  // namespace

ArenaOrder::ArenaOrder(std::span<const ArenaRequest> placed) : from_bottom_(placed.size()) {
  std::vector<uint32_t> by_end(placed.size());
  std::iota(from_bottom_.begin(), from_bottom_.end(), 0u);
  std::iota(by_end.begin(), by_end.end(), 0u);
  std::stable_sort(by_end.begin(), by_end.end(), [&](auto a, auto b) { return placed[a].last < placed[b].last; });
  size_t ended = 0;
  for (uint32_t i = 0; i < placed.size(); i++) {
    while (placed[by_end[ended]].last < placed[i].first) events_.push_back({by_end[ended++], false});
    events_.push_back({i, true});
  }
  std::stable_sort(from_bottom_.begin(), from_bottom_.end(),
                   [&](auto a, auto b) { return placed[a].offset < placed[b].offset; });
  std::vector<Set> under(placed.size(), Set(placed.size()));  // by place in from_bottom_: all that lie under it
  int64_t top = 0;
  for (size_t i = 0; i < placed.size(); i++) {
    const ArenaRequest& r = placed[from_bottom_[i]];
    top = std::max(top, r.offset + r.bytes);
    first_.push_back(static_cast<uint32_t>(below_.size()));
    for (size_t k = i; k-- > 0;) {
      if (under[i].has(k) || !live_together(r, placed[from_bottom_[k]])) continue;
      under[i].add(k), under[i].add_all(under[k]);
      below_.push_back(from_bottom_[k]);
    }
  }
  first_.push_back(static_cast<uint32_t>(below_.size()));
  if (const size_t used = most_in_use(placed)) unused_ = static_cast<double>(top) / static_cast<double>(used) - 1;
}

size_t ArenaOrder::most_in_use(std::span<const ArenaRequest> requests) const {
  int64_t used = 0, most = 0;
  for (const Event& e : events_) {
    used = e.begins ? checked_add(used, requests[e.request].bytes) : used - requests[e.request].bytes;
    most = std::max(most, used);
  }
  return static_cast<size_t>(most);
}

std::optional<size_t> ArenaOrder::place(std::span<ArenaRequest> requests) const {
  int64_t top = 0;
  for (size_t i = 0; i < from_bottom_.size(); i++) {
    ArenaRequest& r = requests[from_bottom_[i]];
    r.offset = 0;
    for (uint32_t k = first_[i]; k < first_[i + 1]; k++)
      r.offset = std::max(r.offset, requests[below_[k]].offset + requests[below_[k]].bytes);
    top = std::max(top, checked_add(r.offset, r.bytes));
  }
  constexpr double kSlack = 0.02;
  if (static_cast<double>(top) > (1 + kSlack + 2 * unused_) * static_cast<double>(most_in_use(requests))) return {};
  return static_cast<size_t>(top);
}

}  // namespace thunder
