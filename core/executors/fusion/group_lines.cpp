// How a node of each role joins a group: the coordinates of its operands and results.
#include <algorithm>

#include "executors/fusion/axes.h"
#include "executors/fusion/group.h"

namespace thunder::fusion {

bool Group::add_elementwise(const Node& line) {
  Coordinates mine;
  bool first = true, fits = true;
  // Random draws read their state as a whole, not element by element.
  const bool draws = find_prim(*line.op)->role == Role::create;
  for_each_value(line.args, [&](ValueId v) {
    if (!has(v)) return;
    const Coordinates& theirs = value(v).coordinates;
    if (first) mine = theirs;
    else fits = fits && space_.unify(mine, theirs);
    first = false;
  });
  if (draws && !first) return refuse("it draws from a state that the group computes");
  if (!fits) return refuse("its operands are iterated by different loops");
  // An operand that other nodes read too is walked in the same way, so that it is loaded once.
  for (size_t i = 0; first && !draws && i < operands(line).size(); i++)
    if (const Read* before = known(operands(line)[i])) mine = read_of(*before->line, before->operand), first = false;
  if (first) mine = space_.fresh(store_->type(line.results[0]).shape);
  for (size_t i = 0; !draws && i < operands(line).size(); i++)
    if (const ValueId v = operands(line)[i]; !has(v) && !known(v)) inputs_.push_back({v, &line, i});
  values_[line.results[0]] = {std::move(mine), Kind::each};
  return true;
}

bool Group::add_view(const Node& line) {
  const ValueId in = line.args[0].v;
  if (!has(in)) return refuse("a view of an input costs nothing outside of the kernel");
  if (line.op->name() == "prims.slice") return add_slice(line);
  const auto to = std::span<const Dim>(store_->type(line.results[0]).shape);
  const Coordinates from = space_.resolve(value(in).coordinates);
  Coordinates mine;
  if (line.op->name() == "prims.reshape") {
    auto made = space_.reshape(from, to);
    if (!made) return refuse("the shapes of a reshape do not divide each other");
    mine = std::move(*made);
  } else if (line.op->name() == "prims.permute") {
    for (Dim d : line.args[1].dim_list()) mine.push_back(from[normalize_axis(d.value(), from.size())]);
  } else {
    mine = space_.fresh(to);
    const size_t lead = to.size() - from.size();
    for (size_t i = 0; i < from.size(); i++)
      if (!from[i].empty() || to[lead + i] == Dim(1)) mine[lead + i] = from[i];
    // The result of a reduction is broadcast over the reduced axes.
    Dimension broadcast;
    for (size_t i = 0; i < to.size(); i++)
      if (i < lead || from[i - lead].empty()) for (AxisId a : mine[i]) broadcast.push_back(a);
    const bool free = value(in).free;
    if (!free && (!reduces_ || !space_.unify(reduced(), broadcast)))
      return refuse("it broadcasts a value that is not reduced in the group");
  }
  values_[line.results[0]] = {std::move(mine), Kind::each};
  return true;
}

namespace {

// Whether the sum over these dims is one over rows that the target would rather accumulate in row order.
bool sums_in_row_order(const Shape& shape, const std::vector<bool>& reduced, const Capabilities& can) {
  int64_t rows = 1, elements = 1, row = 1;
  for (size_t i = 0; i < shape.size(); i++) {
    elements *= shape[i].value();
    if (reduced[i]) rows *= shape[i].value(), row = 1;
    else row *= shape[i].value();
  }
  return !reduced.back() && can.row_order_sums.better(rows, row, elements);
}

}  // namespace

// A reduction over the axes that the group reduces already is one more row reduction; one over all other axes is a
// column sum; one over all axes is both.
bool Group::add_reduction(const Node& line) {
  const bool walked = has(line.args[0].v) || known(line.args[0].v);
  const Coordinates from = read(line, 0);
  std::vector<bool> is_reduced(from.size(), false);
  for (size_t dim : reduced_dims(line, from.size())) is_reduced[dim] = true;
  Coordinates kept;
  Dimension reduced_axes;
  for (size_t i = 0; i < from.size(); i++) {
    if (!is_reduced[i]) kept.push_back(from[i]);
    else for (AxisId a : from[i]) reduced_axes.push_back(a);
  }
  // An input is assumed to be walked as the rest of the group is, if its shape allows it; later readers may disagree
  // and then do not fit.
  if (!walked && reduces_ && same_extents(reduced_axes, reduced())) space_.unify(reduced(), reduced_axes);
  const Axes input = set_of(space_.flat(from)), over = set_of(space_.resolve(reduced_axes));
  Dimension everything = all();
  Axes total = set_of(everything);
  total.insert(total.end(), input.begin(), input.end());
  std::sort(total.begin(), total.end());
  total.erase(std::unique(total.begin(), total.end()), total.end());
  const bool sums = find_prim(*line.op)->fn == Fn::sum && can_->column_sums;
  GroupValue made{kept, Kind::each};
  if (over.empty()) return refuse("it reduces axes of size 1 only");
  // A reduction of a tensor with a single row is lowered as a row reduction: other nodes may need its result in the
  // kernel.
  if (sums && over == total && (kept.empty() || (reduces_ && over != set_of(reduced())))) {
    made.kind = Kind::total;
    summed_ = reduced_axes;
  } else if (sums && !reduces_ && sums_in_row_order(store_->type(line.args[0].v).shape, is_reduced, *can_)) {
    made.kind = Kind::column;
    summed_ = space_.flat(from);
  } else if (!reduces_) {
    reduces_ = true;
    reduced_ = reduced_axes;
  } else if (over != set_of(reduced())) {
    const Axes outer = without(total, set_of(reduced()));
    if (!sums || over != outer) return refuse("it reduces other axes than the rest of the group");
    made.kind = Kind::column;
  }
  values_[line.results[0]] = std::move(made);
  reductions_.push_back({line.results[0], reduced_axes});
  return true;
}

// gather(input, dim, index): index says for each element of the result which element of input it is; take(input, dim,
// index): index replaces the dim. Of a value that the group computes only the current row exists, so one element of
// each row can be gathered.
bool Group::add_gather(const Node& line) {
  const auto both = operands(line);
  const bool inside = has(both[0]), takes = line.op->name() == "prims.take";
  const Shape &shape = store_->type(both[0]).shape, &at = store_->type(both[1]).shape;
  if (shape.empty()) return refuse("it gathers from a single element");
  const size_t dim = normalize_axis(line.args[1].i, shape.size());
  if (takes && inside) return refuse("it takes slices of a value that the group computes");
  for (size_t i = 0; !takes && i < shape.size(); i++) {
    if (i != dim && at[i] != shape[i]) return refuse("its index is smaller than what it gathers from");
    if (i == dim && inside && at[i] != Dim(1)) return refuse("it gathers more than one element of a row");
  }
  // Any element of the operand of a gather may be read.
  const Coordinates rows = read(line, 1), from = inside ? read(line, 0) : reads_[{&line, 0}] = space_.fresh(shape);
  Coordinates made = rows;
  if (takes) {
    made.insert(made.begin(), from.begin(), from.begin() + static_cast<ptrdiff_t>(dim));
    made.insert(made.end(), from.begin() + static_cast<ptrdiff_t>(dim) + 1, from.end());
  }
  for (size_t i = 0; !takes && i < from.size(); i++)
    if (i != dim && !space_.unify(rows[i], from[i])) return refuse("its index is iterated by different loops");
  const Dimension along = space_.resolve(from[dim]);
  if (along.size() != 1) return refuse("it gathers along a dim that other lines split");
  gathered_.push_back(along);
  gathers_own_values_ |= inside;
  if (inside && !reduces_) {
    reduces_ = true;
    reduced_ = along;
  } else if (inside && set_of(along) != set_of(reduced())) {
    return refuse("it gathers along another axis than the group reduces");
  }
  values_[line.results[0]] = {space_.resolve(made), Kind::each};
  return true;
}

// A scan needs its positions in order, so that it runs along the reduced axis.
bool Group::add_scan(const Node& line) {
  const bool walked = has(line.args[0].v) || known(line.args[0].v);
  const Coordinates from = read(line, 0);
  Dimension along;
  if (!from.empty()) along = space_.resolve(from[normalize_axis(line.args[1].i, from.size())]);
  if (along.empty()) return refuse("it scans an axis of size 1");
  const bool reverse = line.args[2].i;
  if (!scanned_.empty() && backwards_ != reverse)
    return refuse("it scans in another direction than the rest of the group");
  if (!walked && reduces_ && same_extents(along, reduced())) space_.unify(reduced(), along);
  if (reduces_ && set_of(space_.resolve(along)) != set_of(reduced()))
    return refuse("it scans another axis than the group reduces");
  if (!reduces_) reduced_ = along;
  reduces_ = true, backwards_ = reverse;
  scanned_.push_back(along);
  values_[line.results[0]] = {space_.resolve(from), Kind::each};
  return true;
}

}  // namespace thunder::fusion
