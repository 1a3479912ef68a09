#include "program/arena/arena_plan.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <vector>

#include "base/checked.h"

namespace thunder {
namespace {

// A best-fit allocator of offsets. It keeps the free ranges by offset, and grows the arena where none is large enough.
class BestFit {
 public:
  int64_t allocate(int64_t bytes) {
    auto best = free_.end();
    for (auto it = free_.begin(); it != free_.end(); ++it)
      if (it->second >= bytes && (best == free_.end() || it->second < best->second)) best = it;
    if (best == free_.end()) {
      // Grow, from the last free range if it touches the end.
      int64_t at = top_;
      if (!free_.empty() && std::prev(free_.end())->first + std::prev(free_.end())->second == top_) {
        at = std::prev(free_.end())->first;
        free_.erase(std::prev(free_.end()));
      }
      top_ = checked_add(at, bytes);
      return at;
    }
    const int64_t at = best->first, left = best->second - bytes;
    free_.erase(best);
    if (left) free_[at + bytes] = left;
    return at;
  }
  void release(int64_t at, int64_t bytes) {
    auto next = free_.lower_bound(at);
    if (next != free_.end() && at + bytes == next->first) bytes += next->second, next = free_.erase(next);
    if (next != free_.begin()) {
      auto before = std::prev(next);
      if (before->first + before->second == at) return void(before->second += bytes);
    }
    free_[at] = bytes;
  }
  size_t top() const { return static_cast<size_t>(top_); }

 private:
  std::map<int64_t, int64_t> free_;
  int64_t top_ = 0;
};

// Calls begin(r) and end(r) of requests in the order of time; what ends at a time ends after all that begin then.
template <class Requests, class Begin, class End>
void for_each_in_time_order(Requests requests, const Begin& begin, const End& end) {
  std::vector<size_t> by_end(requests.size());
  std::iota(by_end.begin(), by_end.end(), size_t{0});
  std::stable_sort(by_end.begin(), by_end.end(),
                   [&](size_t a, size_t b) { return requests[a].last < requests[b].last; });
  size_t ended = 0;
  const auto end_before = [&](size_t time) {
    while (ended < by_end.size() && requests[by_end[ended]].last < time) end(requests[by_end[ended++]]);
  };
  for (auto& r : requests) end_before(r.first), begin(r);
}

// More requests than this are placed in the order of time alone.
constexpr size_t kMostRequests = 20000;

size_t place_by_size(std::span<ArenaRequest> requests) {
  std::vector<ArenaRequest*> by_size, placed;  // placed: by offset
  for (ArenaRequest& r : requests) by_size.push_back(&r);
  std::stable_sort(by_size.begin(), by_size.end(),
                   [](const ArenaRequest* a, const ArenaRequest* b) { return a->bytes > b->bytes; });
  placed.reserve(requests.size());
  int64_t top = 0;
  for (ArenaRequest* r : by_size) {
    int64_t end = 0, best = -1, least = 0;  // `end`: of what lives at the same time and was looked at
    for (const ArenaRequest* p : placed) {
      if (p->last < r->first || r->last < p->first) continue;
      const int64_t gap = p->offset - end;
      if (gap >= r->bytes && (best < 0 || gap < least)) best = end, least = gap;
      end = std::max(end, p->offset + p->bytes);
    }
    r->offset = best < 0 ? end : best;
    top = std::max(top, checked_add(r->offset, r->bytes));
    placed.insert(std::upper_bound(placed.begin(), placed.end(), r,
                                   [](const ArenaRequest* a, const ArenaRequest* b) { return a->offset < b->offset; }),
                  r);
  }
  return static_cast<size_t>(top);
}

}  // namespace

size_t place_in_order(std::span<ArenaRequest> requests) {
  BestFit fit;
  for_each_in_time_order(
      requests, [&](ArenaRequest& r) { r.offset = fit.allocate(r.bytes); },
      [&](const ArenaRequest& r) { fit.release(r.offset, r.bytes); });
  return fit.top();
}

size_t max_bytes_in_use(std::span<const ArenaRequest> requests) {
  int64_t used = 0, most = 0;
  for_each_in_time_order(
      requests, [&](const ArenaRequest& r) { most = std::max(most, used = checked_add(used, r.bytes)); },
      [&](const ArenaRequest& r) { used -= r.bytes; });
  return static_cast<size_t>(most);
}

size_t place_tightly(std::span<ArenaRequest> requests) {
  const size_t top = place_in_order(requests);
  if (requests.size() > kMostRequests || top == max_bytes_in_use(requests)) return top;
  std::vector<ArenaRequest> other(requests.begin(), requests.end());
  const size_t by_size = place_by_size(other);
  if (by_size >= top) return top;
  std::copy(other.begin(), other.end(), requests.begin());
  return by_size;
}

}  // namespace thunder
