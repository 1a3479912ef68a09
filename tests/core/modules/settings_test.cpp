// Options judged by a table.
#include "modules/settings.h"

#include "fixture.h"

namespace thunder {
namespace {

constexpr OptionRow kRows[] = {
    {"lr", ArgKind::real, "0.001", "A rate."},
    {"count", ArgKind::integer, "", "A count."},
    {"betas", ArgKind::reals, "0.9, 0.999", "Two rates."},
    {"flag", ArgKind::boolean, "true", "A flag."},
};

TEST(Settings, take_defaults_from_the_table) {
  Options given;
  given.set("count", Any::integer(3));
  Settings s(kRows, &given, "test");
  EXPECT_EQ(s.real("lr"), 0.001);
  EXPECT_EQ(s.integer("count"), 3);
  EXPECT_EQ(s.reals("betas"), (std::vector<double>{0.9, 0.999}));
  EXPECT_TRUE(s.flag("flag"));
}

TEST(Settings, take_an_integer_for_a_float) {
  Options given;
  given.set("count", Any::integer(3));
  given.set("lr", Any::integer(1));
  EXPECT_EQ(Settings(kRows, &given, "test").real("lr"), 1.0);
}

TEST(Settings, refuse_what_is_unknown_or_missing) {
  Options given;
  EXPECT_EQ(Modules::thrown([&] { Settings(kRows, nullptr, "test"); }), "test: option 'count' is missing: A count.");
  given.set("coun", Any::integer(3));
  EXPECT_NE(Modules::thrown([&] { Settings(kRows, &given, "test"); }).find("'count'"), std::string::npos);
}

}  // namespace
}  // namespace thunder
