#include "jit/reports/history/axes.h"

#include <algorithm>
#include <cstdio>
#include <limits>

#include "base/status.h"
#include "base/text.h"

namespace thunder {
namespace {

constexpr int kTicks = 6;

std::string short_number(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", v);
  return text;
}

// The least of 1, 2, 5, 10 ... that divides `range` into few parts.
double nice_step(double range) {
  const double power = std::pow(10, std::floor(std::log10(range / kTicks)));
  for (double times : {1.0, 2.0, 5.0})
    if (range / (power * times) <= kTicks) return power * times;
  return power * 10;
}

void add_ticks(Axes& axes) {
  if (axes.logarithmic) {
    const double first = std::ceil(std::log10(axes.least)), last = std::floor(std::log10(axes.most));
    const double step = std::max(1.0, std::ceil((last - first) / kTicks));
    for (double power = first; power <= last; power += step) {
      const double value = std::pow(10, power);
      axes.up.push_back({axes.y(value), short_number(value)});
    }
  } else {
    const double step = nice_step(axes.most - axes.least);
    for (double k = std::ceil(axes.least / step); k * step <= axes.most; k++)
      axes.up.push_back({axes.y(k * step), short_number(k * step)});
  }
  const auto step = static_cast<size_t>(std::max(1.0, nice_step(static_cast<double>(axes.count))));
  for (size_t i = 0; i < axes.count; i += step) axes.across.push_back({axes.x(i), cat(i + 1)});
}

}  // namespace

Axes axes_of(std::span<const History> histories) {
  Axes out;
  out.least = std::numeric_limits<double>::infinity(), out.most = -out.least;
  for (const History& h : histories) {
    out.count = std::max(out.count, h.values.size());
    for (double v : h.values)
      if (std::isfinite(v)) out.least = std::min(out.least, v), out.most = std::max(out.most, v);
  }
  require(out.least <= out.most, "plot_history: there is no finite number to draw");
  out.logarithmic = out.least > 0 && out.most >= 1000 * out.least;
  if (out.least == out.most) {
    const double around = out.least == 0 ? 1 : std::abs(out.least) / 2;
    out.least -= around, out.most += around;
  }
  require(std::isfinite(out.most - out.least), "plot_history: from ", out.least, " to ", out.most,
        " is more than a double holds");
  add_ticks(out);
  return out;
}

std::string legend(const History& history) {
  const std::vector<double>& v = history.values;
  size_t least = v.size(), gaps = 0;
  for (size_t i = 0; i < v.size(); i++) {
    if (!std::isfinite(v[i])) gaps++;
    else if (least == v.size() || v[i] < v[least]) least = i;
  }
  if (least == v.size()) return cat(history.name, ": no finite number");
  return cat(history.name, ": ", short_number(v.back()), " at the end, least ", short_number(v[least]), " at ",
             least + 1, gaps ? cat(", ", gaps, " not finite") : "");
}

}  // namespace thunder
