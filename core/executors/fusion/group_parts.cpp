// Parts of axes: slices, and the operands of concatenations.
//
// An index of a part stands for an index of the longer axis, and only the longer axis has a loop: a value on a part is
// computed where it is needed, at its own index, and stored for the interval that it is.
#include <algorithm>
#include <numeric>

#include "executors/fusion/group.h"

namespace thunder::fusion {

Part Group::loop_interval(AxisId a) const {
  Part out{a, a, 0};
  // A part is shorter than its whole, so the chain ends.
  for (size_t i = 0; i < parts_.size(); i++) {
    const Dimension part = space_.resolve(parts_[i].part), whole = space_.resolve(parts_[i].whole);
    if (part.size() != 1 || whole.size() != 1 || part[0] != out.whole || whole[0] == out.whole) continue;
    out.whole = whole[0], out.start += parts_[i].start;
    i = static_cast<size_t>(-1);
  }
  return out;
}

Axes Group::loop_axes(const Coordinates& c) const {
  Axes out;
  for (AxisId a : space_.flat(c)) out.push_back(loop_interval(a).whole);
  std::sort(out.begin(), out.end());
  return out;
}

Dimension Group::select_axis_of(const Node& line) const {
  const auto it = select_axes_.find(&line);
  return it == select_axes_.end() ? Dimension() : space_.resolve(it->second);
}

bool Group::comes_of_reduction(const Node& line) const {
  bool any = false;
  for_each_value(line.args, [&](ValueId v) { any |= has(v) && value(v).reduced; });
  return any;
}

bool Group::depends_on_indices_alone(const Node& line) const {
  const Role role = find_prim(*line.op)->role;
  const auto from = operands(line);
  if (role == Role::create) return from.empty();
  return (role == Role::elementwise || role == Role::view) && !from.empty() &&
         std::all_of(from.begin(), from.end(), [this](ValueId v) { return has(v) && value(v).free; });
}

bool Group::lies_in(const Dimension& part, const Dimension& whole, int64_t start, const Node& line) {
  if (parts_.size() == can_->max_cuts)
    return refuse("the group slices axes into as many intervals as one kernel may have");
  if (space_.resolve(part).size() > 1 || space_.resolve(whole).size() != 1)
    return refuse("it slices a dim that other lines split");
  parts_.push_back({part, whole, start, comes_of_reduction(line)});
  return true;
}

// slice(input, starts, ends, strides), whose strides are 1.
bool Group::add_slice(const Node& line) {
  const Coordinates from = space_.resolve(value(line.args[0].v).coordinates);
  const Shape &shape = store_->type(line.args[0].v).shape, &to = store_->type(line.results[0]).shape;
  const auto at = starts(line, *store_, 0);
  Coordinates made = from;
  for (size_t i = 0; i < made.size(); i++) {
    if (shape[i] == to[i]) continue;
    made[i].clear();
    if (to[i] != Dim(1)) made[i].push_back(space_.fresh(to[i].value()));
    if (!lies_in(made[i], from[i], at[i], line)) return false;
  }
  values_[line.results[0]] = {std::move(made), Kind::each};
  return true;
}

// pad(input, low, high, value) and slice_scatter(input, src, starts, ends, strides): one operand lies inside the other.
bool Group::add_concat(const Node& line) {
  if (line.op->name() == "prims.cat") return add_cat(line);
  const bool pads = line.op->name() == "prims.pad";
  const size_t within = pads ? 0 : 1;
  const Shape &shape = store_->type(line.results[0]).shape, &inner = store_->type(operands(line)[within]).shape;
  const Coordinates part = read(line, within);
  Coordinates made = pads ? Coordinates(shape.size()) : read(line, 0);
  const auto at = starts(line, *store_, within);
  for (size_t i = 0; i < made.size(); i++) {
    if (inner[i] == shape[i]) {
      if (pads) made[i] = part[i];
      else if (!space_.unify(made[i], part[i])) return refuse("its operands are iterated by different loops");
      continue;
    }
    if (pads) made[i] = whole_of({part[i]}, shape[i].value());
    if (!lies_in(part[i], made[i], at[i], line)) return false;
  }
  values_[line.results[0]] = {space_.resolve(made), Kind::each};
  return true;
}

// cat(operands, dim): operands follow each other along the dim.
bool Group::add_cat(const Node& line) {
  std::vector<Coordinates> parts;
  for (size_t k = 0; k < operands(line).size(); k++) parts.push_back(read(line, k));
  if (parts.size() == 1) return values_[line.results[0]] = {parts[0], Kind::each}, true;
  const size_t dim = normalize_axis(line.args[1].i, parts[0].size());
  for (size_t k = 1; k < parts.size(); k++)
    for (size_t i = 0; i < parts[k].size(); i++)
      if (i != dim && !space_.unify(parts[0][i], parts[k][i]))
        return refuse("its operands are iterated by different loops");
  Coordinates made = parts[0];
  const bool split =
      std::any_of(parts.begin(), parts.end(), [&](const Coordinates& c) { return space_.resolve(c[dim]).size() > 1; });
  if (split) {
    // Operands of equal shape, whose dim may consist of several axes: their axes, and an axis that selects among them.
    for (size_t k = 1; k < parts.size(); k++)
      if (store_->type(operands(line)[k]).shape != store_->type(operands(line)[0]).shape ||
          !space_.unify(made[dim], parts[k][dim]))
        return refuse("its operands are iterated by different loops");
    made = space_.resolve(made);
    select_axes_[&line] = {space_.fresh(static_cast<int64_t>(parts.size()))};
    made[dim].insert(0, select_axes_[&line][0]);
  } else {
    std::vector<Dimension> joined;
    for (const Coordinates& c : parts) joined.push_back(c[dim]);
    made[dim] = whole_of(joined, store_->type(line.results[0]).shape[dim].value());
    for (size_t k = 0; k < parts.size(); k++)
      if (!lies_in(parts[k][dim], made[dim], starts(line, *store_, k)[dim], line)) return false;
  }
  values_[line.results[0]] = {space_.resolve(made), Kind::each};
  return true;
}

// The axis of a concatenation: if it is as long as the axis that its operands were cut out of, it is that axis.
Dimension Group::whole_of(const std::vector<Dimension>& parts, int64_t extent) {
  for (const Dimension& part : parts)
    for (const Cut& s : parts_) {
      const Dimension whole = space_.resolve(s.whole);
      if (space_.resolve(part).size() == 1 && space_.resolve(part) == space_.resolve(s.part) && whole.size() == 1 &&
          space_.extent(whole[0]) == extent)
        return whole;
    }
  return Dimension{space_.fresh(extent)};
}

// Values computed at indices other than the loops' must be available for each index: reductions are known only for the
// row that the loops have reached. And all parts must be walked by the loops of one value, so that no two parts are
// walked by each other.
bool Group::parts_fit(const Axes& everything) {
  if (!scanned_.empty() || gathers_own_values_)
    return refuse("it slices or concatenates what is scanned or gathered from");
  const Axes inner = set_of(reduced());
  const auto is_part = [this](AxisId a) { return loop_interval(a).whole != a; };
  for (const Cut& s : parts_)
    if (s.reduced && without({loop_interval(space_.resolve(s.whole)[0]).whole}, inner).size())
      return refuse("it slices rows that the group reduces");
  for (const Reduction& r : reductions_) {
    const Dimension reduced_axes = space_.resolve(r.reduced_axes), kept = space_.flat(value(r.result).coordinates);
    if (std::any_of(reduced_axes.begin(), reduced_axes.end(), is_part) ||
        std::any_of(kept.begin(), kept.end(), is_part))
      return refuse("it reduces a part of what the group walks");
  }
  const bool covered = std::any_of(values_.begin(), values_.end(), [&](const auto& entry) {
    return entry.second.kind == Kind::each && without(everything, loop_axes(entry.second.coordinates)).empty();
  });
  return covered || refuse("it concatenates parts of values that are iterated by different loops");
}

}  // namespace thunder::fusion
