#include <algorithm>
#include <array>

#include "jit/reports/history/png.h"
#include "jit/reports/history/glyphs.h"
#include "jit/reports/history/axes.h"

namespace thunder {
namespace {

using Colour = std::array<uint8_t, 3>;
constexpr Colour kPixelColours[] = {{36, 88, 179}, {208, 120, 42}, {46, 125, 79},  {122, 63, 163},
                               {179, 38, 30}, {27, 138, 148}, {138, 122, 27}, {95, 107, 122}};
constexpr Colour kInk = {29, 39, 51}, kGrid = {221, 227, 234};
constexpr int kPngWidth = 960, kPngHeight = 480, kLeft = 70, kRight = 20, kTop = 15, kRow = 16;

struct PngCanvas {
  std::vector<uint8_t> rgb = std::vector<uint8_t>(static_cast<size_t>(kPngWidth) * kPngHeight * 3, 255);
  // Paints a part of a pixel, from 0 to 1.
  void blend(int x, int y, Colour c, double part) {
    if (x < 0 || y < 0 || x >= kPngWidth || y >= kPngHeight) return;
    uint8_t* at = &rgb[(static_cast<size_t>(y) * kPngWidth + static_cast<size_t>(x)) * 3];
    for (size_t k = 0; k < 3; k++) at[k] = static_cast<uint8_t>(std::lround(at[k] + (c[k] - at[k]) * part));
  }
  // A line two pixels wide: each pixel by its distance.
  void line(double x0, double y0, double x1, double y1, Colour c) {
    const double dx = x1 - x0, dy = y1 - y0, length = dx * dx + dy * dy;
    const auto low = [](double a, double b) { return static_cast<int>(std::floor(std::min(a, b))) - 2; };
    const auto high = [](double a, double b) { return static_cast<int>(std::ceil(std::max(a, b))) + 2; };
    for (int y = low(y0, y1); y <= high(y0, y1); y++)
      for (int x = low(x0, x1); x <= high(x0, x1); x++) {
        const double at = length > 0 ? std::clamp(((x - x0) * dx + (y - y0) * dy) / length, 0.0, 1.0) : 0;
        const double distance = std::hypot(x - x0 - at * dx, y - y0 - at * dy);
        if (distance < 1.5) blend(x, y, c, std::min(1.0, 1.5 - distance));
      }
  }
  void text(int x, int y, std::string_view words) {
    for (char c : words) {
      const auto code = static_cast<unsigned char>(c);
      const uint8_t* glyph = kGlyphs[code < 32 || code > 126 ? '?' - ' ' : code - 32];
      for (int row = 0; row < kGlyphHeight; row++)
        for (int column = 0; column < kGlyphWidth; column++)
          if (glyph[row] >> (7 - column) & 1) blend(x + column, y + row, kInk, 1);
      x += kGlyphWidth;
    }
  }
};

}  // namespace

std::string history_png(std::span<const History> histories) {
  const Axes axes = axes_of(histories);
  PngCanvas picture;
  const int legends = static_cast<int>(std::min<size_t>(histories.size(), 10));
  const double below = kPngHeight - 35 - kRow * legends;
  const auto px = [](double x) { return kLeft + x * (kPngWidth - kLeft - kRight); };
  const auto py = [&](double y) { return below - y * (below - kTop); };
  for (const Tick& t : axes.up) {
    for (int x = kLeft; x < kPngWidth - kRight; x++) picture.blend(x, static_cast<int>(py(t.at)), kGrid, 1);
    const int wide = static_cast<int>(t.text.size()) * kGlyphWidth;
    picture.text(kLeft - 8 - wide, static_cast<int>(py(t.at)) - kGlyphHeight / 2, t.text);
  }
  for (const Tick& t : axes.across)
    picture.text(static_cast<int>(px(t.at)) - static_cast<int>(t.text.size()) * kGlyphWidth / 2,
                 static_cast<int>(below) + 8, t.text);
  for (size_t i = 0; i < histories.size(); i++) {
    const std::vector<double>& v = histories[i].values;
    for (size_t k = 0; k < v.size(); k++) {
      if (!std::isfinite(v[k])) continue;
      const bool last = k + 1 == v.size() || !std::isfinite(v[k + 1]), first = k == 0 || !std::isfinite(v[k - 1]);
      const size_t next = last ? k : k + 1;
      const double wide = first && last ? 2 : 0;  // one number alone is a dash
      picture.line(px(axes.x(k)) - wide, py(axes.y(v[k])), px(axes.x(next)) + wide, py(axes.y(v[next])),
                   kPixelColours[i % std::size(kPixelColours)]);
    }
  }
  for (int i = 0; i < legends; i++) {
    const int y = static_cast<int>(below) + 26 + kRow * i;
    picture.line(kLeft, y + 5, kLeft + 14, y + 5, kPixelColours[static_cast<size_t>(i) % std::size(kPixelColours)]);
    const char* scale = i == 0 && axes.logarithmic ? " (logarithmic)" : "";
    picture.text(kLeft + 22, y, legend(histories[static_cast<size_t>(i)]) + scale);
  }
  return encode_png(kPngWidth, kPngHeight, picture.rgb);
}

}  // namespace thunder
