// Histories as pages and pictures.
// covers: core/jit/reports/history/axes.cpp core/jit/reports/history/page.cpp core/jit/reports/history/picture.cpp
// covers: core/jit/reports/history/png.cpp
#include "jit/reports/history/axes.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <limits>

#include "base/status.h"

namespace thunder {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::vector<History> falling() {
  return {{"loss", {1.0, 0.5, kNan, 0.25}}, {"a<b", {0.0, 1.0}}};
}

TEST(Histories, say_how_they_end_where_they_are_least_and_what_is_not_finite) {
  EXPECT_EQ(legend(falling()[0]), "loss: 0.25 at the end, least 0.25 at 4, 1 not finite");
  EXPECT_EQ(legend({"x", {kNan}}), "x: no finite number");
}

TEST(Histories, have_axes_from_the_least_to_the_most_with_round_numbers) {
  const Axes axes = axes_of(falling());
  EXPECT_EQ(axes.count, 4u);
  EXPECT_FALSE(axes.logarithmic);
  EXPECT_EQ(axes.y(0), 0);
  EXPECT_EQ(axes.y(1), 1);
  EXPECT_EQ(axes.up[1].text, "0.2");
  EXPECT_EQ(axes.across.back().text, "4");
  const std::vector<History> wide = {{"x", {1e-4, 10}}};
  EXPECT_TRUE(axes_of(wide).logarithmic);
  EXPECT_NEAR(axes_of(wide).y(0.1), 0.6, 1e-12);
  const std::vector<History> flat = {{"x", {3, 3}}};
  EXPECT_EQ(axes_of(flat).y(3), 0.5);
}

TEST(Histories, refuse_to_draw_nothing) {
  const std::vector<History> none = {{"x", {kNan}}};
  EXPECT_THROW(history_page(none), Error);
  EXPECT_THROW(history_png({}), Error);
  const std::vector<History> far = {{"x", {-1.7e308, 1.7e308}}};
  EXPECT_THROW(history_page(far), Error);
}

TEST(Histories, are_lines_of_a_page_that_gaps_part) {
  const std::string page = history_page(falling());
  EXPECT_EQ(page.find("<!doctype html>"), 0u);
  size_t lines = 0;
  for (size_t at = 0; (at = page.find("<polyline", at)) != page.npos; at++) lines++;
  EXPECT_EQ(lines, 3u) << "two of the loss, one of the other";
  EXPECT_NE(page.find("a&lt;b: 1 at the end"), page.npos);
  EXPECT_EQ(page.find("a<b"), page.npos);
}

// The pixels of a PNG as we write it: one chunk of each kind.
std::string pixels(const std::string& png) {
  const size_t at = png.find("IDAT");
  const auto* length = reinterpret_cast<const unsigned char*>(&png[at - 4]);
  const uLong packed = static_cast<uLong>(length[0]) << 24 | length[1] << 16 | length[2] << 8 | length[3];
  std::string out(480 * (1 + 960 * 3), '\0');
  uLongf size = out.size();
  EXPECT_EQ(::uncompress(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(&png[at + 4]), packed), Z_OK);
  EXPECT_EQ(size, out.size());
  return out;
}

TEST(Histories, are_pictures_with_a_line_in_the_colour_of_each) {
  const std::string png = history_png(falling());
  EXPECT_EQ(png.substr(1, 3), "PNG");
  const std::string rows = pixels(png);
  for (const std::string colour : {std::string("\x24\x58\xb3"), std::string("\xd0\x78\x2a")})
    EXPECT_NE(rows.find(colour), rows.npos);
  const std::vector<History> one = {{"x", {1, 2}}};
  EXPECT_EQ(pixels(history_png(one)).find("\xd0\x78\x2a"), std::string::npos);
}

}  // namespace
}  // namespace thunder
