// Positions of ranks as text.
#include "scale/notes.h"

#include <gtest/gtest.h>

namespace thunder::scale {
namespace {

TEST(Notes, a_position_is_read_back) {
  Position at;
  at.begun = {{"data", 12}, {"world", 3}};
  at.doing = "has been in its own code, data=7|";
  const Position back = Position::parse(at.text());
  EXPECT_EQ(back.begun, at.begun);
  EXPECT_EQ(back.doing, at.doing);
  EXPECT_EQ(back.begun_on("data"), 12u);
  EXPECT_EQ(back.begun_on("rows"), 0u);
}

TEST(Notes, a_long_position_loses_its_end) {
  Position at;
  at.begun = {{"data", 12}};
  at.doing.assign(5000, 'x');
  EXPECT_LT(at.text().size(), Group::kNoteBytes);
  EXPECT_EQ(Position::parse(at.text()).begun_on("data"), 12u);
}

TEST(Notes, what_is_no_position_says_nothing) {
  EXPECT_TRUE(Position::parse("").begun.empty());
  EXPECT_TRUE(Position::parse("data,=,|").begun_on("data") == 0);
}

}  // namespace
}  // namespace thunder::scale
