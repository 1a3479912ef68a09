// Prims that move elements: views, pieces, orders.
#include <limits>
#include <numeric>

#include "base/text.h"
#include "onnx/export/rows.h"

namespace thunder::onnx_export {
namespace {

bool reshape(Line& l) {
  l.give(l.reshape(l.in(0), l.result().shape));
  return true;
}
bool permute(Line& l) {
  std::vector<int64_t> order = l.ints(1);
  for (int64_t& d : order) d = static_cast<int64_t>(normalize_axis(d, l.type(0).rank()));
  l.give(l.transpose(l.in(0), order));
  return true;
}
bool expand(Line& l) {
  l.give(l.make("Expand", {l.in(0), l.shape(l.result().shape)}));
  return true;
}

// Slices the axes that are cut; the input itself if none is.
Val emit_slice(const Line& l, Val v, const Shape& sizes, std::span<const Dim> starts, std::span<const Dim> ends,
               std::span<const Dim> steps) {
  Shape begin, end, by;
  std::vector<int64_t> axes;
  for (size_t i = 0; i < sizes.size(); i++) {
    if (starts[i] == Dim(0) && ends[i] == sizes[i] && steps[i] == Dim(1)) continue;
    begin.push_back(starts[i]), end.push_back(ends[i]), by.push_back(steps[i]);
    axes.push_back(static_cast<int64_t>(i));
  }
  if (axes.empty()) return v;
  return l.make("Slice", {v, l.shape(begin), l.shape(end), l.graph.integers(axes), l.shape(by)});
}
bool slice(Line& l) {
  l.give(emit_slice(l, l.in(0), l.type(0).shape, l.arg(1).dim_list(), l.arg(2).dim_list(), l.arg(3).dim_list()));
  return true;
}

// Recurses over the axes: before the slice, the slice itself with the remaining axes, behind the slice.
Val emit_slice_scatter(const Line& l, Val into, const Shape& sizes, Val src, size_t axis) {
  const auto starts = l.arg(2).dim_list(), ends = l.arg(3).dim_list(), steps = l.arg(4).dim_list();
  while (axis < sizes.size() && starts[axis] == Dim(0) && ends[axis] == sizes[axis] && steps[axis] == Dim(1)) axis++;
  if (axis == sizes.size()) return src;
  const int64_t at = static_cast<int64_t>(axis);
  const auto piece = [&](Dim from, Dim to, Dim step) {
    return l.make("Slice",
                  {into, l.shape(Shape{from}), l.shape(Shape{to}), l.graph.integers({at}), l.shape(Shape{step})});
  };
  Shape inner = sizes;
  inner[axis] = l.type(1).shape[axis];
  const Val middle = emit_slice_scatter(l, piece(starts[axis], ends[axis], steps[axis]), inner, src, axis + 1);
  if (steps[axis] == Dim(1))
    return l.make("Concat", {piece(0, starts[axis], 1), middle, piece(ends[axis], sizes[axis], 1)}, {attr("axis", at)});
  // Steps over 1 keep the input in between: both are concatenated, and each place gathers its own element.
  for (const Dim d : {sizes[axis], starts[axis], steps[axis], inner[axis]})
    if (!d.constant()) fail(Code::unimplemented, "a slice with steps is written for sizes that do not vary");
  const int64_t size = sizes[axis].value();
  std::vector<int64_t> from(static_cast<size_t>(size));
  std::iota(from.begin(), from.end(), 0);
  for (int64_t i = 0; i < inner[axis].value(); i++)
    from[static_cast<size_t>(starts[axis].value() + i * steps[axis].value())] = size + i;
  return l.make("Gather", {l.make("Concat", {into, middle}, {attr("axis", at)}), l.graph.integers(from)},
                {attr("axis", at)});
}
bool slice_scatter(Line& l) {
  l.give(emit_slice_scatter(l, l.in(0), l.type(0).shape, l.in(1), 0));
  return true;
}

bool flip(Line& l) {
  std::vector<int64_t> axes = l.ints(1);
  if (axes.empty()) return l.give(l.in(0)), true;
  for (int64_t& d : axes) d = static_cast<int64_t>(normalize_axis(d, l.type(0).rank()));
  l.give(l.make("Slice", {l.in(0), l.repeat_number(-1, axes.size()),
                          l.repeat_number(std::numeric_limits<int64_t>::min(), axes.size()), l.graph.integers(axes),
                          l.repeat_number(-1, axes.size())}));
  return true;
}

bool cat_all(Line& l) {
  l.give(l.make("Concat", l.list(0), {attr("axis", static_cast<int64_t>(l.axis(1, l.result().rank())))}));
  return true;
}

bool pad(Line& l) {
  Shape pads(l.arg(1).dim_list());
  for (const Dim d : l.arg(2).dim_list()) pads.push_back(d);
  if (pads.empty()) return l.give(l.in(0)), true;
  l.give(l.make("Pad", {l.in(0), l.shape(pads), l.operand(3, l.type(0).dtype)}));
  return true;
}

// 0, 1, 2 ... below n, as i64.
Val emit_range(const Line& l, Dim n) {
  if (n.constant()) {
    std::vector<int64_t> all(static_cast<size_t>(n.value()));
    std::iota(all.begin(), all.end(), 0);
    return l.graph.integers(all);
  }
  const auto scalar = [&](int64_t v) { return l.graph.scalar(v, DType::i64); };
  return l.make("Range", {scalar(0), l.make("Squeeze", {l.size(n)}), scalar(1)});
}
bool iota(Line& l) {
  const Dim n = l.arg(0).dim_list()[0];
  constexpr int64_t kShort = 64;
  const auto scalar = [&](int64_t v) { return l.graph.scalar(v, DType::i64); };
  const bool is_short = !n.constant() || n.value() <= kShort;
  const Val all = is_short ? emit_range(l, n) : l.make("Range", {scalar(0), scalar(n.value()), scalar(1)});
  l.give(l.graph.cast(all, l.result().dtype));
  return true;
}

// The order of axes with one of them last.
std::vector<int64_t> axes_with_last(size_t rank, size_t axis) {
  std::vector<int64_t> order;
  for (size_t i = 0; i < rank; i++)
    if (i != axis) order.push_back(static_cast<int64_t>(i));
  order.push_back(static_cast<int64_t>(axis));
  return order;
}

bool unfold(Line& l) {
  const size_t rank = l.type(0).rank();
  if (!rank) return l.give(l.reshape(l.in(0), l.result().shape)), true;
  const size_t axis = l.axis(1, rank);
  const Val starts = l.make("Mul", {l.unsqueeze(emit_range(l, l.result().shape[axis]), 1), l.operand(3, DType::i64)});
  const Val places = l.make("Add", {starts, emit_range(l, l.result().shape[rank])});
  const Val windows = l.make("Gather", {l.in(0), places}, {attr("axis", static_cast<int64_t>(axis))});
  l.give(l.transpose(windows, axes_with_last(rank + 1, axis + 1)));
  return true;
}

bool diagonal(Line& l) {
  const size_t rank = l.type(0).rank(), first = l.axis(2, rank), second = l.axis(3, rank);
  const Dim rows = l.type(0).shape[first], columns = l.type(0).shape[second];
  if (!columns.constant() || !rows.constant())
    fail(Code::unimplemented, "a diagonal is written for sizes that do not vary");
  std::vector<int64_t> order, places;
  for (size_t i = 0; i < rank; i++)
    if (i != first && i != second) order.push_back(static_cast<int64_t>(i));
  order.push_back(static_cast<int64_t>(first)), order.push_back(static_cast<int64_t>(second));
  const int64_t offset = l.arg(1).i, begin = offset < 0 ? -offset * columns.value() : offset;
  for (int64_t i = 0; i < hint(l.result().shape[rank - 2]); i++) places.push_back(begin + i * (columns.value() + 1));
  Shape flat(std::span<const Dim>(l.result().shape).first(rank - 2));
  flat.push_back(rows * columns);
  l.give(l.make("Gather", {l.reshape(l.transpose(l.in(0), order), flat), l.graph.integers(places)},
                {attr("axis", static_cast<int64_t>(rank) - 2)}));
  return true;
}

bool barrier(Line& l) {
  l.give(l.in(0));
  return true;
}

}  // namespace

const Row cat_row = {"Concat", cat_all};
const Row diagonal_row = {"Transpose, Reshape, Gather", diagonal};
const Row expand_row = {"Expand", expand};
const Row flip_row = {"Slice", flip};
const Row iota_row = {"Range", iota};
const Row optimization_barrier_row = {"none", barrier};
const Row pad_row = {"Pad", pad};
const Row permute_row = {"Transpose", permute};
const Row reshape_row = {"Reshape", reshape};
const Row slice_row = {"Slice", slice};
const Row slice_scatter_row = {"Slice, Concat, Gather", slice_scatter};
const Row unfold_row = {"Gather, Transpose", unfold};

}  // namespace thunder::onnx_export
