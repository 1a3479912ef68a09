// A mesh: the ranks of a world as a grid with named axes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace thunder::scale {

struct Axis {
  std::string name;
  int64_t size = 1;
};

// "data=2,tensor=-1": the axes of a grid of that many ranks, in row-major order; one of them may be -1, which is what
// the others leave. Throws invalid_argument naming both counts where the grid has another number of ranks.
std::vector<Axis> parse_axes(std::string_view text, int64_t ranks);

// "data=2,tensor=4".
std::string axes_text(const std::vector<Axis>& axes);

// Where a rank is along one of the axes, and which of the lines along that axis it is in.
struct PlaceOnAxis {
  int64_t index = 0, line = 0;
};
PlaceOnAxis place_on_axis(const std::vector<Axis>& axes, size_t which, int64_t rank);

}  // namespace thunder::scale
