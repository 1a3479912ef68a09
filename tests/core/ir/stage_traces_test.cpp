// The traces of a compile, of which the first ones may be deferred.
#include "ir/stage_traces.h"

#include <gtest/gtest.h>

namespace thunder {
namespace {

Trace stage(const char* pass) {
  Trace out;
  out.pass = pass;
  return out;
}

TEST(StageTraces, makes_the_deferred_ones_once_and_when_they_are_looked_at) {
  int times = 0;
  const auto before = std::make_shared<const DeferredTraces>([&] {
    times++;
    return std::vector<Trace>{stage("recorded"), stage("cse")};
  });
  const StageTraces traces({stage("claim"), stage("lower")}, before);
  EXPECT_EQ(traces.back().pass, "lower");
  EXPECT_EQ(traces.made().size(), 2u);
  EXPECT_EQ(times, 0);
  EXPECT_EQ(traces.front().pass, "recorded");
  EXPECT_EQ(StageTraces(traces).all().size(), 4u);
  EXPECT_EQ(times, 1);
}

}  // namespace
}  // namespace thunder
