#include "executors/fusion/lower.h"

#include <algorithm>
#include <unordered_set>

#include "executors/fusion/lowering.h"
#include "ir/prim.h"
#include "tensor/tensor.h"

namespace thunder::fusion {

Lowering::Lowering(const LineView& view, const Group& group) : view_(view), group_(group), nodes_(group.nodes()) {
  for_each_value(view.node.args, [&](ValueId v) { inputs_.push_back(v); });
}

LoweredRegionOf<Size> Lowering::run() {
  number_axes();
  Nest& nest = lowered_.nest;
  for (const TensorLayout& b : view_.inputs) nest.buffers.push_back(b.dtype);
  for (const TensorLayout& b : view_.outputs) nest.buffers.push_back(b.dtype);
  nest.partial = group_.has_slices();
  lowered_.device = group_.device();
  lower_at_loop_indices();
  for (size_t i = 0; i < view_.node.results.size(); i++) lower_result(static_cast<uint32_t>(i));
  nest.backwards = group_.scans_backwards();
  find_host_scalars();
  if (view_.epilogue_input >= 0) lowered_.tiles = tile_axes(static_cast<uint32_t>(view_.epilogue_input));
  return std::move(lowered_);
}

// The axes that the last dim of an input consists of. None if the nest has no loops over them.
std::optional<TileAxes> Lowering::tile_axes(uint32_t input) const {
  for (const Node* node : nodes_)
    for (size_t i = 0; i < operands(*node).size(); i++) {
      if (operands(*node)[i] != inputs_[input]) continue;
      const Coordinates read = group_.read_coordinates(*node, i);
      if (read.empty()) return std::nullopt;
      AxisSet columns = 0;
      for (AxisId a : read.back()) {
        const auto at = std::find(axes_.begin(), axes_.end(), a);
        if (at == axes_.end()) return std::nullopt;
        columns |= axis_bit(static_cast<uint32_t>(at - axes_.begin()));
      }
      return TileAxes{input, columns};
    }
  return std::nullopt;
}

void Lowering::find_host_scalars() {
  std::vector<bool> on_host(lowered_.nest.buffers.size(), false);
  for (size_t i = 0; i < inputs_.size(); i++) on_host[i] = view_.store.type(inputs_[i]).device != group_.device();
  if (std::find(on_host.begin(), on_host.end(), true) != on_host.end()) lowered_.on_host = std::move(on_host);
}

// Numbers the nest's axes: those with loops, then those that only gathers index.
void Lowering::number_axes() {
  const Dimension all = group_.all_iteration_axes(), inner = group_.nest_reduced_axes();
  for (AxisId a : all) number_axis(a);
  for (AxisId a : inner) lowered_.reduced |= axis_bit(number_axis(a));
  loop_axes_ = static_cast<uint32_t>(axes_.size());
  lowered_.nest.outer = loop_axes_;  // scheduling tells outer and inner axes apart
}

uint32_t Lowering::number_axis(AxisId a) {
  auto it = std::find(axes_.begin(), axes_.end(), a);
  if (it != axes_.end()) return static_cast<uint32_t>(it - axes_.begin());
  axes_.push_back(a);
  lowered_.nest.extents.push_back(group_.space().extent(a));
  for (Map& m : lowered_.nest.maps) m.push_back(0);
  return static_cast<uint32_t>(axes_.size() - 1);
}

Lowering::Index Lowering::index(AxisId a, const Indices& indices) const {
  const auto it = std::find_if(indices.begin(), indices.end(), [a](const Index& i) { return i.axis == a; });
  if (it != indices.end()) return *it;
  const AxisInterval interval = group_.loop_interval(a);
  return {a, interval.whole, -interval.start};
}

Lowering::Access Lowering::make_access(const Coordinates& coordinates, std::span<const Size> strides,
                                       const Indices& indices) {
  Access access{0, 0};
  std::vector<std::pair<uint32_t, Size>> steps;
  for (size_t i = 0; i < coordinates.size(); i++) {
    Size stride = strides[i];
    for (size_t k = coordinates[i].size(); k-- > 0;) {
      const Index at = index(coordinates[i][k], indices);
      if (at.loop) steps.emplace_back(number_axis(*at.loop), stride);
      access.offset += at.offset * stride;
      stride *= group_.space().extent(coordinates[i][k]);
    }
  }
  Map m(axes_.size(), 0);
  for (auto [axis, stride] : steps) m[axis] += stride;
  access.map = add_map(std::move(m));
  return access;
}

uint32_t Lowering::add_map(Map m) {
  auto& maps = lowered_.nest.maps;
  for (uint32_t i = 0; i < maps.size(); i++)
    if (maps[i] == m) return i;
  maps.push_back(std::move(m));
  return static_cast<uint32_t>(maps.size() - 1);
}

ExprId Lowering::add_expr(Expr e) {
  lowered_.nest.exprs.push_back(e);
  return static_cast<ExprId>(lowered_.nest.exprs.size() - 1);
}

ExprId Lowering::add_load(uint32_t buffer, Access at) {
  auto& exprs = lowered_.nest.exprs;
  for (ExprId i = 0; i < exprs.size(); i++)
    if (exprs[i].fn == Fn::load && exprs[i].buffer == buffer && exprs[i].map == at.map &&
        exprs[i].offset == at.offset)
      return i;
  Expr e;
  e.fn = Fn::load, e.dtype = lowered_.nest.buffers[buffer], e.buffer = buffer, e.map = at.map, e.offset = at.offset;
  return add_expr(e);
}

uint32_t Lowering::input_number(ValueId v) const {
  return static_cast<uint32_t>(std::find(inputs_.begin(), inputs_.end(), v) - inputs_.begin());
}

// Computes each node at the loops' own indices. Values that are read at other indices only (operands of slices and of
// concatenations) are computed where they are read.
void Lowering::lower_at_loop_indices() {
  std::unordered_set<ValueId> needed(view_.node.results.begin(), view_.node.results.end());
  if (!group_.has_slices() || needed.empty())
    for (const Node* node : nodes_) needed.insert(node->results[0]);
  for (size_t i = nodes_.size(); i-- > 0;) {
    producers_[nodes_[i]->results[0]] = nodes_[i];
    const bool concatenates = find_prim(*nodes_[i]->op)->role == Role::concat;
    const bool shifts = nodes_[i]->op->id == Prim::slice || (concatenates && group_.select_axis_of(*nodes_[i]).empty());
    if (!shifts && needed.count(nodes_[i]->results[0]))
      for_each_value(nodes_[i]->args, [&](ValueId v) { needed.insert(v); });
  }
  for (const Node* node : nodes_)
    if (needed.count(node->results[0])) lower_value(node->results[0], {});
}

void Lowering::lower_result(uint32_t number) {
  const ValueId v = view_.node.results[number];
  const GroupValue& made = group_.value(v);
  const uint32_t buffer = static_cast<uint32_t>(inputs_.size()) + number;
  const TensorLayout& layout = view_.outputs[number];
  Output s{lower_value(v, {}), OutputKind::each, buffer, 0};
  const Access at = make_access(coordinates(v), layout.strides, {});
  s.map = at.map, s.offset = at.offset;
  if (made.kind == Kind::each) s.only = stored_intervals(v);
  if (made.kind != Kind::each) {
    s.kind = OutputKind::column;
    const DType partial = compute_dtype(layout.dtype);  // of partial sums
    lowered_.nest.buffers[buffer] = partial;
    lowered_.sums.push_back({buffer, layout.elements(), partial});
  }
  lowered_.nest.stores.push_back(std::move(s));
}

// Where a value is stored: only in the intervals that its axes are of longer ones, and only at index 0 of the axes
// along which it is constant, except the reduced axes of its row.
std::vector<Lowering::Interval> Lowering::stored_intervals(ValueId v) {
  std::vector<Interval> only;
  AxisSet varying = 0;
  for (AxisId a : group_.space().flatten(group_.value(v).coordinates)) {
    const AxisInterval part = group_.loop_interval(a);
    varying |= axis_bit(number_axis(part.whole));
    if (part.whole != a) only.push_back({number_axis(part.whole), part.start, part.start + group_.space().extent(a)});
  }
  for (uint32_t a = 0; a < loop_axes_; a++)
    if (!(varying & axis_bit(a)) && (varying & lowered_.reduced || !(lowered_.reduced & axis_bit(a))))
      only.push_back({a, 0, 1});
  return only;
}

static LineView line_of(const NodeView& node) {
  LineView line{node.node, node.store, {}, {}, node.epilogue_input};
  const auto layouts = [](std::span<const Buffer> buffers) {
    std::vector<TensorLayout> out;
    for (const Buffer& b : buffers) {
      TensorLayout& layout = out.emplace_back(TensorLayout{b.dtype, {}, {}});
      for (int32_t i = 0; i < b.rank; i++) layout.sizes.push_back(b.shape[i]), layout.strides.push_back(b.strides[i]);
    }
    return out;
  };
  line.inputs = layouts(node.inputs), line.outputs = layouts(node.outputs);
  return line;
}

LoweredRegionOf<Size> lower(const LineView& line, const Group& group) { return Lowering(line, group).run(); }

LoweredRegion lower(const NodeView& node, const Group& group) {
  return loops::with_sizes<int64_t>(lower(line_of(node), group), [](const Size& s) { return s.value(); });
}

}  // namespace thunder::fusion
