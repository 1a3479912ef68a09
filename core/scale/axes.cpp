#include "scale/axes.h"

#include <charconv>

#include "base/checked.h"
#include "base/text.h"
#include "ops/world_collectives.h"

namespace thunder::scale {
namespace {

bool is_name(std::string_view text) {
  bool good = !text.empty() && !(text[0] >= '0' && text[0] <= '9');
  for (char c : text) good = good && ((c | 32) >= 'a' && (c | 32) <= 'z' ? true : c == '_' || (c >= '0' && c <= '9'));
  return good;
}

Axis parse_axis(std::string_view part) {
  const size_t equals = part.find('=');
  Axis axis{std::string(part.substr(0, equals)), 0};
  require(is_name(axis.name), "mesh: '", part, "' is no axis: 'data=2' is one, -1 is what the others leave");
  require(axis.name != kWorldAxis, "mesh: the axis 'world' is of all ranks, and always there");
  const std::string_view number = equals == part.npos ? "" : part.substr(equals + 1);
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), axis.size);
  require(error == std::errc() && end == number.data() + number.size() && (axis.size > 0 || axis.size == -1),
          "mesh: axis '", axis.name, "' has the size '", number,
          "'; it must be positive, or -1: what the others leave");
  return axis;
}

}  // namespace

std::vector<Axis> parse_axes(std::string_view text, int64_t ranks) {
  std::vector<Axis> axes;
  Axis* open = nullptr;
  int64_t product = 1;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    axes.push_back(parse_axis(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  for (Axis& a : axes) {
    for (const Axis& other : axes)
      require(&a == &other || a.name != other.name, "mesh: two axes are called '", a.name, "'");
    require(a.size != -1 || !open, "mesh: two axes have the size -1: '", open ? open->name : "", "' and '", a.name,
            "'");
    if (a.size == -1)
      open = &a;
    else
      product = checked_mul(product, a.size);
  }
  if (open) {
    require(ranks % product == 0, "mesh: ", ranks, " ranks cannot be divided by ", product, " for axis '", open->name,
            "' of ", text);
    open->size = ranks / product;
  }
  require(open || product == ranks, "mesh: ", text, " has ", product, " ranks, and the world ", ranks);
  return axes;
}

std::string axes_text(const std::vector<Axis>& axes) {
  return join(axes, ",", [](const Axis& a) { return cat(a.name, "=", a.size); });
}

PlaceOnAxis place_on_axis(const std::vector<Axis>& axes, size_t which, int64_t rank) {
  int64_t inner = 1;
  for (size_t i = which + 1; i < axes.size(); i++) inner *= axes[i].size;
  const int64_t size = axes[which].size, outer = rank / inner / size;
  return {rank / inner % size, outer * inner + rank % inner};
}

}  // namespace thunder::scale
