#include "onnx/slices.h"

#include <algorithm>

#include "base/text.h"

namespace thunder::onnx {

bool known_cuts(Node& n, size_t rank, std::vector<Cut>& cuts) {
  std::vector<Dim> starts, ends;
  std::vector<int64_t> axes, steps;
  if (n.opset < 10) {
    for (int64_t i : n.integers("starts")) starts.push_back(i);
    for (int64_t i : n.integers("ends")) ends.push_back(i);
    axes = n.integers("axes");
  } else {
    for (size_t i = 1; i < n.inputs(); i++)
      if (n.has(i) && !n.known(i)) return false;
    starts = n.dims(1, "starts"), ends = n.dims(2, "ends");
    if (n.has(3)) axes = n.numbers(3, "axes");
    if (n.has(4)) steps = n.numbers(4, "steps");
  }
  if (axes.empty() && !n.has(3))
    for (size_t i = 0; i < starts.size(); i++) axes.push_back(static_cast<int64_t>(i));
  if (steps.empty()) steps.assign(starts.size(), 1);
  n.require(ends.size() == starts.size() && axes.size() == starts.size() && steps.size() == starts.size(), "it has ",
            starts.size(), " starts, ", ends.size(), " ends, ", axes.size(), " axes and ", steps.size(), " steps");
  for (size_t i = 0; i < starts.size(); i++) {
    n.require(steps[i] != 0, "a step of 0");
    cuts.push_back({dim_at(axes[i], rank), starts[i], ends[i], steps[i]});
  }
  return true;
}

CutRange range_of(const Cut& cut, int64_t size) {
  const bool back = cut.step < 0;
  const auto place = [&](Dim given, int64_t low, int64_t high) {
    int64_t at = hint(given);
    if (at < 0) at = at < -size ? low : at + size;
    return std::clamp(at, low, high);
  };
  const int64_t low = back ? -1 : 0, high = back ? size - 1 : size;
  const int64_t begin = place(cut.start, back ? 0 : low, std::max(high, int64_t{0}));
  const int64_t raw = hint(cut.end);
  const int64_t end = back && raw < -size ? -1 : place(cut.end, low, high);
  if (size == 0) return {0, 0};
  // INT64_MIN cannot be negated, so the step is negated as an unsigned number.
  const uint64_t step = back ? 0 - static_cast<uint64_t>(cut.step) : static_cast<uint64_t>(cut.step);
  const int64_t way = back ? begin - end : end - begin;
  return {begin, way > 0 ? static_cast<int64_t>((static_cast<uint64_t>(way) - 1) / step) + 1 : 0};
}

std::vector<int64_t> split_sizes(Node& n, int64_t size, const std::vector<int64_t>& given) {
  if (!given.empty()) {
    int64_t left = size;
    for (int64_t part : given) {
      n.require(part >= 0 && part <= left, "its parts, one of which has ", part, " elements, do not make up a size of ",
                size);
      left -= part;
    }
    n.require(left == 0, "its parts leave ", left, " of ", size, " elements");
    return given;
  }
  const int64_t parts = n.integer("num_outputs", static_cast<int64_t>(n.outputs()));
  n.require(parts > 0, "it has no outputs");
  n.require(parts <= std::max(size, static_cast<int64_t>(n.outputs())), "a size of ", size, " cannot be split into ",
            parts, " parts");
  if (n.opset < 18) n.require(size % parts == 0, "a size of ", size, " cannot be split into ", parts, " equal parts");
  const int64_t part = size / parts + (size % parts != 0);
  std::vector<int64_t> sizes;
  for (int64_t i = 0; i < parts; i++) sizes.push_back(std::max<int64_t>(0, std::min(part, size - i * part)));
  return sizes;
}

}  // namespace thunder::onnx
