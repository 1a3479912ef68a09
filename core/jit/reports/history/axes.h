// Where the numbers of histories stand in a picture, and which numbers are written beside it.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "jit/reports/history/history.h"

namespace thunder {

struct Tick {
  double at = 0;  // a fraction of the axis, from the left or from below
  std::string text;
};

struct Axes {
  size_t count = 0;  // of the longest history
  double least = 0, most = 0;
  bool logarithmic = false;  // where all numbers are positive and the most is a thousand times the least
  std::vector<Tick> across, up;

  double x(size_t i) const { return count < 2 ? 0.5 : static_cast<double>(i) / static_cast<double>(count - 1); }
  double y(double value) const {
    const double low = logarithmic ? std::log10(least) : least, high = logarithmic ? std::log10(most) : most;
    return ((logarithmic ? std::log10(value) : value) - low) / (high - low);
  }
};

Axes axes_of(std::span<const History> histories);
// "loss: 0.25 at the end, least 0.2 at 17", and how many are not finite.
std::string legend(const History& history);

}  // namespace thunder
