// What must hold of all placements of requests.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "program/arena/arena_plan.h"

namespace thunder {

using Requests = std::vector<ArenaRequest>;

inline void expect_apart(const Requests& requests, size_t top) {
  for (size_t i = 0; i < requests.size(); i++) {
    const ArenaRequest& a = requests[i];
    EXPECT_LE(static_cast<size_t>(a.offset + a.bytes), top);
    for (size_t j = 0; j < i; j++) {
      const ArenaRequest& b = requests[j];
      const bool together = a.first <= b.last && b.first <= a.last;
      EXPECT_FALSE(together && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes) << i << " and " << j;
    }
  }
}

}  // namespace thunder
