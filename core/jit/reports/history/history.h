// Numbers over their positions, such as the losses of a training loop, as a page or a picture.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace thunder {

struct History {
  std::string name;
  std::vector<double> values;  // a NaN or an infinity is a gap in the line
};

// A page of HTML that needs nothing beside itself. Throws where there is no finite number to draw.
std::string history_page(std::span<const History> histories);
// The same as a picture, PNG of 960 x 480.
std::string history_png(std::span<const History> histories);

}  // namespace thunder
