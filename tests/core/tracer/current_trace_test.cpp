#include "tracer/current_trace.h"

#include <gtest/gtest.h>

namespace thunder {
namespace {

TEST(CurrentTrace, is_one_for_all_that_is_traced_inside_of_a_function) {
  EXPECT_EQ(current_trace(), 0u);
  uint64_t first = 0;
  {
    const CurrentTrace outer(false);
    first = current_trace();
    EXPECT_NE(first, 0u);
    {
      const CurrentTrace inner(true);
      EXPECT_EQ(current_trace(), first);
    }
    {
      const CurrentTrace another(false);
      EXPECT_NE(current_trace(), first);
    }
    EXPECT_EQ(current_trace(), first);
  }
  EXPECT_EQ(current_trace(), 0u);
  const CurrentTrace next(false);
  EXPECT_NE(current_trace(), first);
}

}  // namespace
}  // namespace thunder
