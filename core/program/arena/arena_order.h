// The order in which requests of an arena lie over each other, so that requests of the same lifetimes are placed for
// other sizes in one pass.
#pragma once

#include <optional>
#include <vector>

#include "program/arena/arena_plan.h"

namespace thunder {

class ArenaOrder {
 public:
  // More requests than this have no order: finding it takes time and memory that grow with their square.
  static constexpr size_t kMost = 4096;
  // Requires: the requests are placed, and those that live at the same time do not overlap; at most kMost.
  explicit ArenaOrder(std::span<const ArenaRequest> placed);
  // Places requests of the same lifetimes, each on top of those that it lay on. The bytes that the arena needs; none
  // where that is more than twice the share of unused bytes that the order had at first.
  std::optional<size_t> place(std::span<ArenaRequest> requests) const;

 private:
  size_t most_in_use(std::span<const ArenaRequest> requests) const;

  struct Event {
    uint32_t request;
    bool begins;
  };
  std::vector<Event> events_;            // in the order of time
  std::vector<uint32_t> from_bottom_;    // the requests by offset
  std::vector<uint32_t> first_, below_;  // by place in from_bottom_: where the requests that it lies on begin in below_
  double unused_ = 0;                    // of the bytes at first, as a share of those in use
};

}  // namespace thunder
