#include "base/text.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <vector>

namespace thunder {
namespace {

constexpr std::array<std::string_view, 4> kNames = {"softmax", "log_softmax", "sum", "add"};

TEST(Text, joins_parts_of_any_kind) {
  EXPECT_EQ(cat("a", 'b', std::string("c"), -1, 2u, true, std::string_view("d")), "abc-12trued");
  EXPECT_EQ(cat(std::numeric_limits<int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(cat(static_cast<const char*>(nullptr)), "(null)");
}

TEST(Text, writes_the_shortest_decimal_that_reads_back) {
  for (double v : {0.1, 0.1 + 0.2, 1e300, -5e-324, 9007199254740993.0, 100.0}) EXPECT_EQ(std::strtod(cat(v).c_str(), nullptr), v);
  EXPECT_EQ(cat(0.1), "0.1");
}

TEST(Text, separates_a_list) {
  std::vector<int> none, three{1, 2, 3};
  auto same = [](int i) { return i; };
  EXPECT_EQ(join(none, ", ", same), "");
  EXPECT_EQ(join(three, ", ", same), "1, 2, 3");
}

TEST(Nearest, finds_a_slip_of_the_finger) {
  EXPECT_EQ(nearest("sofmax", kNames), "softmax");
  EXPECT_EQ(nearest("softmax", kNames), "softmax");
  EXPECT_EQ(nearest("logsoftmax", kNames), "log_softmax");
  EXPECT_EQ(nearest("sun", kNames), "sum");
}

TEST(Nearest, stays_silent_when_nothing_is_near) {
  EXPECT_EQ(nearest("conv2d", kNames), "");
  EXPECT_EQ(nearest("", kNames), "");
  EXPECT_EQ(nearest("sum", {}), "");
  EXPECT_EQ(nearest(std::string(1000000, 's'), kNames), "");
}

TEST(Suggest, is_a_question_or_nothing) {
  EXPECT_EQ(suggest("ad", kNames), " (did you mean 'add'?)");
  EXPECT_EQ(suggest("conv2d", kNames), "");
}

TEST(Require, throws_the_callers_mistake_only_when_broken) {
  EXPECT_NO_THROW(require(true, "fine"));
  try {
    require(false, "got ", 3);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::invalid_argument);
    EXPECT_STREQ(e.what(), "got 3");
  }
}

TEST(Ensure, calls_itself_a_bug) {
  try {
    ensure(false, "x");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::internal);
    EXPECT_EQ(e.message(), "internal error, please report it: x");
  }
}

}  // namespace
}  // namespace thunder
