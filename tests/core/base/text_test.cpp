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

TEST(Nearest, takes_another_case_and_exchanged_letters_for_small_slips) {
  constexpr std::string_view layers[] = {"ReLU6", "Relu", "SiLU"};
  EXPECT_EQ(nearest("relu", layers), "Relu");
  EXPECT_EQ(nearest("sotfmax", kNames), "softmax");
  EXPECT_EQ(nearest("xy", kNames), "");
}

TEST(Suggest, asks_whether_the_near_one_was_meant) {
  EXPECT_EQ(suggest("ad", kNames), " (did you mean 'add'?)");
}

TEST(Suggest, lists_few_names_where_none_is_near_and_no_long_list) {
  constexpr std::string_view three[] = {"b", "c", "a"};
  EXPECT_EQ(suggest("wholly_different", three), "; there are a, b, c");
  EXPECT_EQ(suggest("wholly_different", std::span(three).first(1)), "; there is b");
  EXPECT_EQ(suggest("wholly_different", {}), "");
  const std::vector<std::string> names(13, "name");
  EXPECT_EQ(suggest("wholly_different", std::vector<std::string_view>(names.begin(), names.end())), "");
}

TEST(Suggest, says_what_of_pytorch_is_not_here) {
  constexpr std::string_view convolutions[] = {"conv2d"};
  EXPECT_EQ(suggest("combinations", convolutions), "; PyTorch's 'combinations' is not in libthunder; there is conv2d");
  EXPECT_EQ(suggest("frobenius_norm", kNames), "; PyTorch's 'frobenius_norm' is not in libthunder; instead: norm");
  constexpr std::string_view near[] = {"Svd"};
  EXPECT_EQ(suggest("svd", near), " (did you mean 'Svd'?)") << "another case of a name that is here";
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
