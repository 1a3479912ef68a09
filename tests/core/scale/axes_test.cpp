// Meshes as text, and where a rank is in one.
#include "scale/axes.h"

#include <gtest/gtest.h>

#include "base/status.h"

namespace thunder::scale {
namespace {

std::string message(std::string_view text, int64_t ranks) {
  try {
    parse_axes(text, ranks);
  } catch (const Error& e) {
    return e.message();
  }
  return "";
}

TEST(Axes, one_size_is_what_the_others_leave) {
  EXPECT_EQ(axes_text(parse_axes("data=2,tensor=-1", 8)), "data=2,tensor=4");
  EXPECT_EQ(axes_text(parse_axes("data=-1", 1)), "data=1");
}

TEST(Axes, the_last_one_varies_first_from_rank_to_rank) {
  const auto axes = parse_axes("data=2,pipe=3,tensor=2", 12);
  std::vector<std::vector<int64_t>> seen;
  for (int64_t rank = 0; rank < 12; rank++)
    seen.push_back({place_on_axis(axes, 0, rank).index, place_on_axis(axes, 1, rank).index,
                    place_on_axis(axes, 2, rank).index});
  EXPECT_EQ(seen[1], (std::vector<int64_t>{0, 0, 1}));
  EXPECT_EQ(seen[2], (std::vector<int64_t>{0, 1, 0}));
  EXPECT_EQ(seen[11], (std::vector<int64_t>{1, 2, 1}));
}

TEST(Axes, ranks_of_one_line_differ_along_the_axis_alone) {
  const auto axes = parse_axes("data=2,pipe=3,tensor=2", 12);
  for (size_t which = 0; which < 3; which++)
    for (int64_t a = 0; a < 12; a++)
      for (int64_t b = 0; b < 12; b++) {
        bool same = true;
        for (size_t other = 0; other < 3; other++)
          if (other != which) same = same && place_on_axis(axes, other, a).index == place_on_axis(axes, other, b).index;
        EXPECT_EQ(place_on_axis(axes, which, a).line == place_on_axis(axes, which, b).line, same);
      }
}

TEST(Axes, refuses_grids_of_another_number_of_ranks) {
  EXPECT_EQ(message("data=4", 2), "mesh: data=4 has 4 ranks, and the world 2");
  EXPECT_EQ(message("data=3,tensor=-1", 8), "mesh: 8 ranks cannot be divided by 3 for axis 'tensor' of data=3,tensor=-1");
}

TEST(Axes, refuses_what_is_no_mesh) {
  EXPECT_NE(message("data", 2).find("the size ''"), std::string::npos);
  EXPECT_NE(message("2=data", 2).find("'2=data' is no axis"), std::string::npos);
  EXPECT_NE(message("data=0", 2).find("must be positive"), std::string::npos);
  EXPECT_NE(message("data=1,data=2", 2).find("two axes are called 'data'"), std::string::npos);
  EXPECT_NE(message("a=-1,b=-1", 2).find("two axes have the size -1: 'a' and 'b'"), std::string::npos);
  EXPECT_NE(message("world=2", 2).find("always there"), std::string::npos);
}

}  // namespace
}  // namespace thunder::scale
