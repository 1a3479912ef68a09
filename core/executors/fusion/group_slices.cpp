// Adds slices and concatenations to a group. The axis of a slice, or of a concatenation's operand, is an interval of a
// longer axis, and only the longer axis has a loop. A value on an interval is computed where it is read, and stored for
// the indices of the interval only.
#include <algorithm>

#include "executors/fusion/group.h"
#include "ir/prim.h"

namespace thunder::fusion {

AxisInterval Group::loop_interval(AxisId a) const {
  AxisInterval out{a, a, 0};
  // Each step leads to a longer axis, so the search ends.
  for (size_t i = 0; i < slices_.size(); i++) {
    const Dimension part = space_.resolve(slices_[i].part), whole = space_.resolve(slices_[i].whole);
    if (part.size() != 1 || whole.size() != 1 || part[0] != out.whole || whole[0] == out.whole) continue;
    out.whole = whole[0], out.start += slices_[i].start;
    i = static_cast<size_t>(-1);
  }
  return out;
}

Axes Group::loop_axes(const Coordinates& c) const {
  Axes out;
  for (AxisId a : space_.flatten(c)) out.push_back(loop_interval(a).whole);
  std::sort(out.begin(), out.end());
  return out;
}

Dimension Group::select_axis_of(const Node& node) const {
  const auto it = select_axes_.find(&node);
  return it == select_axes_.end() ? Dimension() : space_.resolve(it->second);
}

bool Group::depends_on_reduction(const Node& node) const {
  bool any = false;
  for_each_value(node.args, [&](ValueId v) { any |= has(v) && value(v).reduced; });
  return any;
}

bool Group::depends_on_indices_only(const Node& node) const {
  const Role role = find_prim(*node.op)->role;
  const auto from = operands(node);
  if (role == Role::create) return from.empty();
  return (role == Role::elementwise || role == Role::view) && !from.empty() &&
         std::all_of(from.begin(), from.end(), [this](ValueId v) { return has(v) && value(v).index_only; });
}

bool Group::add_axis_slice(const Dimension& part, const Dimension& whole, const Size& start, const Node& node) {
  if (slices_.size() == can_->max_slices)
    return reject("the group slices axes into as many intervals as one kernel may have");
  if (space_.resolve(part).size() > 1 || space_.resolve(whole).size() != 1)
    return reject("it slices a dim that other nodes split");
  slices_.push_back({part, whole, start, depends_on_reduction(node)});
  return true;
}

// slice(input, starts, ends, strides), whose strides are 1.
bool Group::add_slice(const Node& node) {
  const Coordinates from = space_.resolve(value(node.args[0].v).coordinates);
  const Shape &shape = store_->type(node.args[0].v).shape, &to = store_->type(node.results[0]).shape;
  const auto at = slice_starts(node, *store_, 0);
  Coordinates result = from;
  for (size_t i = 0; i < result.size(); i++) {
    if (Size(shape[i]) == to[i]) continue;
    result[i].clear();
    if (Size(to[i]) != 1) result[i].push_back(space_.add_axes(to[i]));
    if (!add_axis_slice(result[i], from[i], at[i], node)) return false;
  }
  values_[node.results[0]] = {std::move(result), Kind::each};
  return true;
}

// pad(input, low, high, value) and slice_scatter(input, src, starts, ends, strides): an operand is an interval of the
// result along each dim.
bool Group::add_concat(const Node& node) {
  if (node.op->id == Prim::cat) return add_cat(node);
  const bool pads = node.op->id == Prim::pad;
  const size_t within = pads ? 0 : 1;
  const Shape &shape = store_->type(node.results[0]).shape, &inner = store_->type(operands(node)[within]).shape;
  const Coordinates part = add_read(node, within);
  Coordinates result = pads ? Coordinates(shape.size()) : add_read(node, 0);
  const auto at = slice_starts(node, *store_, within);
  for (size_t i = 0; i < result.size(); i++) {
    if (Size(inner[i]) == shape[i]) {
      if (pads) result[i] = part[i];
      else if (!space_.unify(result[i], part[i])) return reject("its operands are iterated by different loops");
      continue;
    }
    if (pads) result[i] = concatenated_axis({part[i]}, shape[i]);
    if (!add_axis_slice(part[i], result[i], at[i], node)) return false;
  }
  values_[node.results[0]] = {space_.resolve(result), Kind::each};
  return true;
}

// cat(operands, dim): operands follow each other along the dim.
bool Group::add_cat(const Node& node) {
  std::vector<Coordinates> parts;
  for (size_t k = 0; k < operands(node).size(); k++) parts.push_back(add_read(node, k));
  if (parts.size() == 1) return values_[node.results[0]] = {parts[0], Kind::each}, true;
  const size_t dim = normalize_axis(node.args[1].i, parts[0].size());
  for (size_t k = 1; k < parts.size(); k++)
    for (size_t i = 0; i < parts[k].size(); i++)
      if (i != dim && !space_.unify(parts[0][i], parts[k][i]))
        return reject("its operands are iterated by different loops");
  Coordinates result = parts[0];
  const bool split =
      std::any_of(parts.begin(), parts.end(), [&](const Coordinates& c) { return space_.resolve(c[dim]).size() > 1; });
  if (split) {
    // Operands of equal shape, whose dim may consist of several axes: their axes, and an axis that selects among them.
    for (size_t k = 1; k < parts.size(); k++)
      if (store_->type(operands(node)[k]).shape != store_->type(operands(node)[0]).shape ||
          !space_.unify(result[dim], parts[k][dim]))
        return reject("its operands are iterated by different loops");
    result = space_.resolve(result);
    select_axes_[&node] = {space_.add_axes(parts.size())};
    result[dim].insert(0, select_axes_[&node][0]);
  } else {
    std::vector<Dimension> joined;
    for (const Coordinates& c : parts) joined.push_back(c[dim]);
    result[dim] = concatenated_axis(joined, store_->type(node.results[0]).shape[dim]);
    for (size_t k = 0; k < parts.size(); k++)
      if (!add_axis_slice(parts[k][dim], result[dim], slice_starts(node, *store_, k)[dim], node)) return false;
  }
  values_[node.results[0]] = {space_.resolve(result), Kind::each};
  return true;
}

// The axis of a concatenation's result. If its operands are slices of an axis of the same length, it is that axis.
Dimension Group::concatenated_axis(const std::vector<Dimension>& parts, const Size& extent) {
  for (const Dimension& part : parts)
    for (const AxisSlice& s : slices_) {
      const Dimension whole = space_.resolve(s.whole);
      if (space_.resolve(part).size() == 1 && space_.resolve(part) == space_.resolve(s.part) && whole.size() == 1 &&
          space_.extent(whole[0]) == extent)
        return whole;
    }
  return Dimension{space_.add_axes(extent)};
}

// A value that is read at other indices than the loops' must be computable at any index. Results of reductions are not:
// they are known for the current row only. Besides, the loops of one value must cover those of all slices.
bool Group::slices_fit(const Axes& iteration_axes) {
  if (!scanned_.empty() || gathers_own_values_)
    return reject("it slices or concatenates what is scanned or gathered from");
  const Axes inner = sorted_axes(nest_reduced_axes());
  const auto is_part = [this](AxisId a) { return loop_interval(a).whole != a; };
  for (const AxisSlice& s : slices_)
    if (s.reduced && axes_difference({loop_interval(space_.resolve(s.whole)[0]).whole}, inner).size())
      return reject("it slices rows that the group reduces");
  for (const Reduction& r : reductions_) {
    const Dimension reduced_axes = space_.resolve(r.reduced_axes), kept = space_.flatten(value(r.result).coordinates);
    if (std::any_of(reduced_axes.begin(), reduced_axes.end(), is_part) ||
        std::any_of(kept.begin(), kept.end(), is_part))
      return reject("it reduces a slice of an axis that the group iterates as a whole");
  }
  const bool covered = std::any_of(values_.begin(), values_.end(), [&](const auto& entry) {
    return entry.second.kind == Kind::each &&
           axes_difference(iteration_axes, loop_axes(entry.second.coordinates)).empty();
  });
  return covered || reject("it concatenates parts of values that are iterated by different loops");
}

}  // namespace thunder::fusion
