#include "base/utf8.h"

#include <gtest/gtest.h>

namespace thunder {
namespace {

TEST(Utf8, takes_the_first_and_last_of_each_length) {
  for (const char* text : {"", "a\x7f", "\xc2\x80\xdf\xbf", "\xe0\xa0\x80\xef\xbf\xbf", "\xed\x9f\xbf\xee\x80\x80",
                           "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"})
    EXPECT_TRUE(valid_utf8(text)) << text;
  EXPECT_TRUE(valid_utf8(std::string_view("\0", 1)));
}

TEST(Utf8, refuses_overlong_surrogate_and_cut_sequences) {
  for (const char* text : {"\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xf0\x8f\xbf\xbf", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                           "\xff", "\xf8\x88\x80\x80\x80", "a\xc3", "\xe2\x82", "\xf0\x9f\x98", "\xc3\x28"})
    EXPECT_FALSE(valid_utf8(text)) << text;
}

TEST(JsonQuote, escapes_what_json_demands_and_nothing_else) {
  EXPECT_EQ(json_quote("a/b"), R"("a/b")");
  EXPECT_EQ(json_quote("\"\\\n\t\x1f"), "\"\\\"\\\\\\n\\u0009\\u001f\"");
  EXPECT_EQ(json_quote("\xc3\xa9"), "\"\xc3\xa9\"");
}

}  // namespace
}  // namespace thunder
