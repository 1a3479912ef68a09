// The header declares what capi/abi.symbols lists, in the same order.
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace {

using Names = std::vector<std::string>;

std::string read(const char* path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

Names matches(const std::string& text, const char* pattern) {
  const std::regex name(pattern);
  Names names;
  for (std::sregex_iterator it(text.begin(), text.end(), name), end; it != end; ++it) names.push_back((*it)[1]);
  return names;
}

// thunder.h with its parts in their places, as a compiler sees it.
std::string header() {
  const std::string text = read("../include/thunder.h");
  const std::regex part("\\n#include \"(thunder/\\w+\\.h)\"");
  std::string whole;
  size_t from = 0;
  for (std::sregex_iterator it(text.begin(), text.end(), part), end; it != end; ++it) {
    whole += text.substr(from, it->position() - from) + read(("../include/" + (*it)[1].str()).c_str());
    from = it->position() + it->length();
  }
  return whole + text.substr(from);
}

// A declaration starts at the margin; fields and callbacks are indented or have no such name before a parenthesis.
TEST(Header, declares_the_exported_functions) {
  const Names declared = matches(header(), R"((?:^|\n)[a-zA-Z][^\n;(]*\b(thunder_\w+)\()");
  EXPECT_GT(declared.size(), 100u);
  EXPECT_EQ(declared, matches(read("../capi/abi.symbols"), R"((?:^|\n)(\w+))"));
}

TEST(Header, promises_no_exceptions_in_any_function) {
  const std::string text = header();
  EXPECT_EQ(matches(text, R"(\b(THUNDER_NOEXCEPT);)").size(),
            matches(read("../capi/abi.symbols"), R"((?:^|\n)(\w+))").size());
}

}  // namespace
