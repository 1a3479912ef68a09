// Structures of values as text from outside.
#include "tracer/structure.h"

#include <gtest/gtest.h>

#include "tracer/values.h"

namespace thunder {
namespace {

TEST(Structure, counts_leaves) {
  Values v;
  v.push(Any::integer(1));
  v.open(true, "pkg.Type");
  v.key("b\"\\"), v.push(Any::integer(1));
  v.key("a"), v.open(false, ""), v.close();
  v.key("c"), v.open(false, "tuple"), v.push(Any{}), v.push(Any{}), v.close();
  v.close();
  v.open(false, ""), v.close();
  EXPECT_EQ(structure_leaves(v.structure()), v.size()) << v.structure();
  EXPECT_EQ(structure_leaves(""), 0u);
  EXPECT_EQ(structure_leaves("*"), 1u);
}

TEST(Structure, rejects_malformed_text) {
  for (const char* text : {",", "*,", ",*", "**", "[", "]", "[]]", "[*", "[,]", "[*,]", "{*}", "{\"a\"}", "{\"a\":}", "{\"a:*}", "{\"a\":*,}",
                           "{\"b\":*,\"a\":*}", "{\"a\":*,\"a\":*}", "[*}", "{\"a\":*]", "tag", "tag*", "[*]*", "{\"\\n\":*}", "\"a\":*", "[\"a\":*]"})
    EXPECT_EQ(structure_leaves(text), std::nullopt) << text;
}

TEST(Structure, rejects_text_nested_too_deeply) {
  const auto nested = [](size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_EQ(structure_leaves(nested(kDeepestStructure)), 0u);
  EXPECT_EQ(structure_leaves(nested(kDeepestStructure + 1)), std::nullopt);
}

}  // namespace
}  // namespace thunder
