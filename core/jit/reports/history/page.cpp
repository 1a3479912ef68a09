#include <cstdio>

#include "base/text.h"
#include "jit/reports/history/axes.h"

namespace thunder {
namespace {

constexpr const char* kPageColours[] = {"#3b74d8", "#d0782a", "#3d9a63", "#a05bcb",
                                        "#d24a42", "#26a3ae", "#a08f2a", "#7a8899"};
constexpr int kPageWidth = 900, kPageHeight = 420;

constexpr const char* kHead = R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>history</title>
<style>
:root { color-scheme: light dark; --ink: #1d2733; --line: #dde3ea; --paper: #fff; }
@media (prefers-color-scheme: dark) { :root { --ink: #e3e8ee; --line: #364150; --paper: #12171e; } }
body { margin: 16px; color: var(--ink); background: var(--paper); font: 15px/1.5 system-ui, sans-serif; }
svg { display: block; width: 100%; max-width: 1100px; height: auto; }
svg text { fill: var(--ink); font-size: 13px; }
svg .grid { stroke: var(--line); }
svg polyline { fill: none; stroke-width: 2; stroke-linejoin: round; }
ul { padding: 0; list-style: none; }
li span { display: inline-block; width: 14px; height: 10px; border-radius: 2px; }
</style>
</head>
<body>
)";

std::string html_escaped(std::string_view text) {
  std::string out;
  for (char c : text) out += c == '<' ? "&lt;" : c == '&' ? "&amp;" : c == '"' ? "&quot;" : std::string(1, c);
  return out;
}

std::string svg_number(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", v);
  return text;
}

double px(double x) { return 70 + x * (kPageWidth - 80); }
double py(double y) { return kPageHeight - 40 - y * (kPageHeight - 60); }

// The lines of one history: a gap ends one.
std::string lines_of(const History& h, const Axes& axes, const char* colour) {
  std::string out, points;
  size_t in_line = 0;
  const auto end = [&] {
    if (in_line == 1) points += " " + points;  // one point is drawn as a dot of round ends
    if (in_line)
      out += cat("<polyline stroke=\"", colour, "\" stroke-linecap=\"round\" points=\"", points, "\"/>\n");
    points.clear(), in_line = 0;
  };
  for (size_t i = 0; i < h.values.size(); i++) {
    if (!std::isfinite(h.values[i])) {
      end();
      continue;
    }
    points += cat(in_line++ ? " " : "", svg_number(px(axes.x(i))), ",", svg_number(py(axes.y(h.values[i]))));
  }
  end();
  return out;
}

}  // namespace

std::string history_page(std::span<const History> histories) {
  const Axes axes = axes_of(histories);
  const std::string names = join(histories, "; ", [](const History& h) { return html_escaped(legend(h)); });
  std::string out = cat(kHead, "<svg role=\"img\" viewBox=\"0 0 ", kPageWidth, " ", kPageHeight, "\" aria-label=\"",
                        names, "\">\n");
  for (const Tick& t : axes.up) {
    const std::string y = svg_number(py(t.at));
    out += cat("<line class=\"grid\" x1=\"", px(0), "\" x2=\"", px(1), "\" y1=\"", y, "\" y2=\"", y, "\"/>\n");
    out += cat("<text text-anchor=\"end\" x=\"", px(0) - 8, "\" y=\"", svg_number(py(t.at) + 4), "\">", t.text,
               "</text>\n");
  }
  for (const Tick& t : axes.across)
    out += cat("<text text-anchor=\"middle\" x=\"", svg_number(px(t.at)), "\" y=\"", kPageHeight - 16, "\">", t.text,
               "</text>\n");
  const auto colour = [](size_t i) { return kPageColours[i % std::size(kPageColours)]; };
  for (size_t i = 0; i < histories.size(); i++) out += lines_of(histories[i], axes, colour(i));
  out += "</svg>\n<ul>\n";
  for (size_t i = 0; i < histories.size(); i++)
    out += cat("<li><span style=\"background:", colour(i), "\"></span> ",
               html_escaped(legend(histories[i])), "</li>\n");
  return out + (axes.logarithmic ? "</ul>\n<p>The scale is logarithmic.</p>\n" : "</ul>\n") + "</body>\n</html>\n";
}

}  // namespace thunder
