// Structures of values as text from outside.
// covers: core/tracer/values.cpp
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

TEST(Structure, takes_an_empty_key_as_any_other_and_each_once) {
  Values v;
  v.open(true, "");
  v.key("b"), v.push(Any::integer(1));
  v.key(""), v.push(Any::integer(2));
  v.close();
  EXPECT_FALSE(v.status());
  EXPECT_EQ(v.structure(), "{\"\":*,\"b\":*}");
  EXPECT_EQ(v[0].i, 2);
  Values twice;
  twice.open(true, "");
  twice.key(""), twice.push(Any::integer(1));
  twice.key(""), twice.push(Any::integer(2));
  EXPECT_TRUE(twice.status());
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
