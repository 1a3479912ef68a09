#include "base/json.h"

#include <gtest/gtest.h>

#include <string>

namespace thunder {
namespace {

constexpr size_t kFine = std::string_view::npos;

TEST(Json, takes_what_the_format_allows) {
  for (std::string_view text : {"{}", " [ ] ", "null", "-0.5e+10", "\"a\\u00e9\\ud83d\\ude00\\n\"", "{\"a\":[1,2,{\"b\":true}],\"c\":\"\"}"})
    EXPECT_EQ(json_error(text), kFine) << text;
}

TEST(Json, says_where_a_text_stops_being_json) {
  for (auto [text, at] : {std::pair<std::string_view, size_t>{"", 0}, {"{", 1}, {"{\"a\" 1}", 5}, {"[1,]", 3}, {"01", 1}, {"1.", 2},
                          {"\"a", 2}, {"\"\\x\"", 3}, {"\"\\ud83d\"", 7}, {"{} x", 3}, {"tru", 0}, {"[\"\t\"]", 2}})
    EXPECT_EQ(json_error(text), at) << text;
}

TEST(Json, bounds_what_a_text_can_ask_of_its_reader) {
  EXPECT_EQ(json_error(std::string(400, '[') + std::string(400, ']')), kFine);
  EXPECT_NE(json_error(std::string(100000, '[')), kFine);
  EXPECT_NE(json_error(std::string(61, '1')), kFine);
}

}  // namespace
}  // namespace thunder
