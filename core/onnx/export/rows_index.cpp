// Prims that pick elements by indices, and those that put them back.
#include "onnx/export/rows.h"

namespace thunder::onnx_export {
namespace {

Val index_of(const Line& l, size_t i) {
  return l.graph.cast(l.in(i), DType::i64);
}
// Scalars as vectors, which the ops know.
Val as_vector(const Line& l, Val v, bool scalar) {
  return scalar ? l.reshape(v, Shape{1}) : v;
}
Attr axis_attr(size_t axis) {
  return attr("axis", static_cast<int64_t>(axis));
}

bool gather(Line& l) {
  const size_t rank = l.type(0).rank();
  const Val made = l.make("GatherElements", {as_vector(l, l.in(0), !rank), as_vector(l, index_of(l, 2), !rank)},
                          {axis_attr(l.axis(1, rank))});
  l.give(rank ? made : l.reshape(made, Shape{}));
  return true;
}
bool take(Line& l) {
  const size_t rank = l.type(0).rank();
  const Val made = l.make("Gather", {as_vector(l, l.in(0), !rank), index_of(l, 2)}, {axis_attr(l.axis(1, rank))});
  l.give(made);
  return true;
}

// The indices of each place side by side: i64 [places..., axes].
Val stack_indices(const Line& l, size_t i) {
  std::vector<Val> parts;
  for (const ValueId v : l.arg(i).value_list()) {
    const size_t rank = l.type_of(v).rank();
    parts.push_back(l.unsqueeze(l.graph.cast(l.list(i)[parts.size()], DType::i64), static_cast<int64_t>(rank)));
  }
  return parts.size() == 1 ? parts[0] : l.make("Concat", parts, {attr("axis", int64_t{-1})});
}
bool index(Line& l) {
  if (l.arg(1).value_list().size() == 1)
    return l.give(l.make("Gather", {l.in(0), l.graph.cast(l.list(1)[0], DType::i64)}, {axis_attr(0)})), true;
  l.give(l.make("GatherND", {l.in(0), stack_indices(l, 1)}));
  return true;
}
Attrs reduction_attrs(bool adds) {
  return adds ? Attrs{attr("reduction", std::string_view("add"))} : Attrs{};
}
bool index_put(Line& l) {
  l.give(l.make("ScatterND", {l.in(0), stack_indices(l, 1), l.in(2)}, reduction_attrs(l.arg(3).i)));
  return true;
}

// The part of src that the index covers: its first elements along each dim.
Val slice_to_index_shape(const Line& l) {
  const Shape &index = l.type(2).shape, &src = l.type(3).shape;
  if (index == src) return l.in(3);
  std::vector<int64_t> axes;
  for (size_t i = 0; i < index.size(); i++) axes.push_back(static_cast<int64_t>(i));
  return l.make("Slice", {l.in(3), l.repeat_number(0, axes.size()), l.shape(index), l.graph.integers(axes)});
}
bool emit_scatter_elements(Line& l, std::string_view reduction) {
  const size_t rank = l.type(0).rank();
  const Val made = l.make(
      "ScatterElements",
      {as_vector(l, l.in(0), !rank), as_vector(l, index_of(l, 2), !rank), as_vector(l, slice_to_index_shape(l), !rank)},
      {axis_attr(l.axis(1, rank)), attr("reduction", reduction)});
  l.give(rank ? made : l.reshape(made, Shape{}));
  return true;
}
bool scatter_add(Line& l) {
  return emit_scatter_elements(l, "add");
}
bool scatter_reduce(Line& l) {
  const std::string_view how = l.arg(4).text();
  return emit_scatter_elements(l, how == "prod" ? "mul" : how == "amax" ? "max" : "min");
}

// The axis in front, so that an index names a slice; and back.
bool take_add(Line& l) {
  const size_t rank = l.type(0).rank(), places = l.type(2).rank();
  if (!rank) fail(Code::unimplemented, "ONNX scatters into tensors with dims alone");
  const size_t axis = l.axis(1, rank);
  std::vector<int64_t> to_front, src_front, back;
  to_front.push_back(static_cast<int64_t>(axis));
  for (size_t i = 0; i < places; i++) src_front.push_back(static_cast<int64_t>(axis + i));
  for (size_t i = 0; i < rank; i++)
    if (i != axis) to_front.push_back(static_cast<int64_t>(i));
  for (size_t i = 0; i < rank - 1 + places; i++)
    if (i < axis || i >= axis + places) src_front.push_back(static_cast<int64_t>(i));
  for (size_t i = 0; i < rank; i++) back.push_back(static_cast<int64_t>(i < axis ? i + 1 : i == axis ? 0 : i));
  const Val at = l.unsqueeze(index_of(l, 2), static_cast<int64_t>(places));
  const Val into = axis ? l.transpose(l.in(0), to_front) : l.in(0),
            src = axis ? l.transpose(l.in(3), src_front) : l.in(3);
  const Val made = l.make("ScatterND", {into, at, src}, reduction_attrs(true));
  l.give(axis ? l.transpose(made, back) : made);
  return true;
}

// Rows of the fill value behind those that there are; the first `size` of all.
bool nonzero(Line& l) {
  const auto rank = static_cast<int64_t>(l.type(0).rank());
  if (!rank) fail(Code::unimplemented, "ONNX has no places in a scalar");
  const Dim size = l.result().shape[0];
  const Val found = l.transpose(l.make("NonZero", {l.in(0)}), {1, 0});
  const Val filling = l.make("Expand", {l.operand(2, DType::i64), l.shape(l.result().shape)});
  const Val all = l.make("Concat", {found, filling}, {attr("axis", int64_t{0})});
  l.give(l.make("Slice", {all, l.graph.integers({0}), l.shape(Shape{size}), l.graph.integers({0})}));
  return true;
}

}  // namespace

const Row gather_row = {"GatherElements", gather};
const Row index_row = {"Gather, GatherND", index};
const Row index_put_row = {"ScatterND", index_put};
const Row nonzero_row = {"NonZero, Concat, Slice", nonzero};
const Row scatter_add_row = {"ScatterElements", scatter_add};
const Row scatter_reduce_row = {"ScatterElements", scatter_reduce};
const Row take_row = {"Gather", take};
const Row take_add_row = {"ScatterND", take_add};

}  // namespace thunder::onnx_export
