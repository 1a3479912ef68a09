// Adds nodes of each role to a group: finds the coordinates of their operands and results.
#include <algorithm>

#include "executors/fusion/group.h"
#include "ir/dim_reads.h"
#include "ir/prim.h"

namespace thunder::fusion {

bool Group::add_elementwise(const Node& node) {
  Coordinates coordinates;
  bool first = true, fits = true;
  // Random draws read all of their state for each element.
  const bool is_create = find_prim(*node.op)->role == Role::create;
  for_each_value(node.args, [&](ValueId v) {
    if (!has(v)) return;
    const Coordinates& operand_coordinates = value(v).coordinates;
    if (first) coordinates = operand_coordinates;
    else fits = fits && space_.unify(coordinates, operand_coordinates);
    first = false;
  });
  if (is_create && !first) return reject("it draws from a state that the group computes");
  if (!fits) return reject("its operands are iterated by different loops");
  // If other nodes read an operand too, this one reads it along the same axes, so that it is loaded once.
  for (size_t i = 0; first && !is_create && i < operands(node).size(); i++)
    if (const Read* before = first_read(operands(node)[i]))
      coordinates = read_coordinates(*before->node, before->operand), first = false;
  if (first) coordinates = space_.add_axes(store_->type(node.results[0]).shape);
  for (size_t i = 0; !is_create && i < operands(node).size(); i++)
    if (const ValueId v = operands(node)[i]; !has(v) && !first_read(v)) inputs_.push_back({v, &node, i});
  values_[node.results[0]] = {std::move(coordinates), Kind::each};
  return true;
}

bool Group::add_view(const Node& node) {
  const ValueId in = node.args[0].v;
  if (!has(in)) return reject("a view of an input costs nothing outside of the kernel");
  if (node.op->id == Prim::slice) return add_slice(node);
  const auto to = std::span<const Dim>(store_->type(node.results[0]).shape);
  const Coordinates from = space_.resolve(value(in).coordinates);
  Coordinates coordinates;
  if (node.op->id == Prim::reshape) {
    auto result = space_.reshape(from, to);
    if (!result) return reject("the shapes of a reshape do not divide each other");
    coordinates = std::move(*result);
  } else if (node.op->id == Prim::permute) {
    for (Dim d : node.args[1].dim_list()) coordinates.push_back(from[normalize_axis(d.value(), from.size())]);
  } else {
    coordinates = space_.add_axes(to);
    const size_t lead = to.size() - from.size();
    for (size_t i = 0; i < from.size(); i++)
      if (!from[i].empty() || Size(to[lead + i]) == 1) coordinates[lead + i] = from[i];
    // The result of a reduction is broadcast over the reduced axes.
    Dimension broadcast;
    for (size_t i = 0; i < to.size(); i++)
      if (i < lead || from[i - lead].empty()) for (AxisId a : coordinates[i]) broadcast.push_back(a);
    const bool index_only = value(in).index_only;
    if (!index_only && (!reduces_ || !space_.unify(nest_reduced_axes(), broadcast)))
      return reject("it broadcasts a value that is not reduced in the group");
  }
  values_[node.results[0]] = {std::move(coordinates), Kind::each};
  return true;
}

bool sums_in_row_order(const Node& reduction, const Store& store, const Capabilities& can) {
  const Shape& shape = store.type(reduction.args[0].v).shape;
  if (shape.empty()) return false;
  std::vector<bool> reduced(shape.size(), false);
  for (size_t dim : reduced_dims(reduction, shape.size())) reduced[dim] = true;
  Dim rows = 1, row = 1;
  for (size_t i = 0; i < shape.size(); i++) {
    if (reduced[i]) rows = rows * shape[i], row = 1;
    else row = row * shape[i];
  }
  const loops::RowOrderSums& from = can.row_order_sums;
  if (reduced.back() || from.rows == from.kNever || !is_at_most(from.rows, rows)) return false;
  const bool aligned = row.constant() ? row.value() % from.line == 0 : is_equal(row % Dim(from.line), 0);
  return is_at_most(aligned ? from.elements : from.unaligned, elements(shape));
}

// A reduction over the axes that the group reduces already is one more row reduction. A sum over all other axes is a
// column sum, and a sum over all axes is a total.
bool Group::add_reduction(const Node& node) {
  const bool already_read = has(node.args[0].v) || first_read(node.args[0].v);
  const Coordinates from = add_read(node, 0);
  std::vector<bool> is_reduced(from.size(), false);
  for (size_t dim : reduced_dims(node, from.size())) is_reduced[dim] = true;
  Coordinates kept;
  Dimension reduced_axes;
  for (size_t i = 0; i < from.size(); i++) {
    if (!is_reduced[i]) kept.push_back(from[i]);
    else for (AxisId a : from[i]) reduced_axes.push_back(a);
  }
  // An input is assumed to be read along the same axes as the group's values where its shape allows it. Later readers
  // that read it along other axes then do not fit.
  if (!already_read && reduces_ && same_extents(reduced_axes, nest_reduced_axes()))
    space_.unify(nest_reduced_axes(), reduced_axes);
  const Axes input = sorted_axes(space_.flatten(from)), over = sorted_axes(space_.resolve(reduced_axes));
  const Axes total = axes_union(sorted_axes(all_iteration_axes()), input);
  const bool sums = find_prim(*node.op)->fn == Fn::sum && can_->column_sums;
  GroupValue result{kept, Kind::each};
  if (over.empty()) return reject("it reduces axes of size 1 only");
  // A reduction of a tensor with a single row is lowered as a row reduction, so that other nodes of the kernel can read
  // its result.
  if (sums && over == total && (kept.empty() || (reduces_ && over != sorted_axes(nest_reduced_axes())))) {
    result.kind = Kind::total;
    summed_ = reduced_axes;
  } else if (sums && !reduces_ && sums_in_row_order(node, *store_, *can_)) {
    result.kind = Kind::column;
    summed_ = space_.flatten(from);
  } else if (!reduces_) {
    reduces_ = true;
    reduced_ = reduced_axes;
  } else if (over != sorted_axes(nest_reduced_axes())) {
    const Axes outer = axes_difference(total, sorted_axes(nest_reduced_axes()));
    if (!sums || over != outer) return reject("it reduces other axes than the rest of the group");
    result.kind = Kind::column;
  }
  values_[node.results[0]] = std::move(result);
  reductions_.push_back({node.results[0], reduced_axes});
  return true;
}

// gather(input, dim, index): for each element of the result, `index` has the index along `dim` at which it is read.
// take(input, dim, index): the dims of `index` replace `dim`. Of a value that the group computes, only the current row
// exists, so that one element of each row can be gathered.
bool Group::add_gather(const Node& node) {
  const auto both = operands(node);
  const bool inside = has(both[0]), is_take = node.op->id == Prim::take;
  const Shape &shape = store_->type(both[0]).shape, &at = store_->type(both[1]).shape;
  if (shape.empty()) return reject("it gathers from a single element");
  const size_t dim = normalize_axis(node.args[1].i, shape.size());
  if (is_take && inside) return reject("it takes slices of a value that the group computes");
  for (size_t i = 0; !is_take && i < shape.size(); i++) {
    if (i != dim && Size(at[i]) != shape[i]) return reject("its index is smaller than what it gathers from");
    if (i == dim && inside && Size(at[i]) != 1) return reject("it gathers more than one element of a row");
  }
  // Any element of the operand of a gather may be read.
  const Coordinates rows = add_read(node, 1),
                    from = inside ? add_read(node, 0) : reads_[{&node, 0}] = space_.add_axes(shape);
  Coordinates result = rows;
  if (is_take) {
    result.insert(result.begin(), from.begin(), from.begin() + static_cast<ptrdiff_t>(dim));
    result.insert(result.end(), from.begin() + static_cast<ptrdiff_t>(dim) + 1, from.end());
  }
  for (size_t i = 0; !is_take && i < from.size(); i++)
    if (i != dim && !space_.unify(rows[i], from[i])) return reject("its index is iterated by different loops");
  const Dimension along = space_.resolve(from[dim]);
  if (along.size() != 1) return reject("it gathers along a dim that other nodes split");
  gathered_.push_back(along);
  gathers_own_values_ |= inside;
  if (inside && !reduces_) {
    reduces_ = true;
    reduced_ = along;
  } else if (inside && sorted_axes(along) != sorted_axes(nest_reduced_axes())) {
    return reject("it gathers along another axis than the group reduces");
  }
  values_[node.results[0]] = {space_.resolve(result), Kind::each};
  return true;
}

// A scan runs along the reduced axis, since that is the one whose loop runs in order.
bool Group::add_scan(const Node& node) {
  const bool already_read = has(node.args[0].v) || first_read(node.args[0].v);
  const Coordinates from = add_read(node, 0);
  Dimension along;
  if (!from.empty()) along = space_.resolve(from[normalize_axis(node.args[1].i, from.size())]);
  if (along.empty()) return reject("it scans an axis of size 1");
  const bool reverse = node.args[2].i;
  if (!scanned_.empty() && backwards_ != reverse)
    return reject("it scans in another direction than the rest of the group");
  if (!already_read && reduces_ && same_extents(along, nest_reduced_axes())) space_.unify(nest_reduced_axes(), along);
  if (reduces_ && sorted_axes(space_.resolve(along)) != sorted_axes(nest_reduced_axes()))
    return reject("it scans another axis than the group reduces");
  if (!reduces_) reduced_ = along;
  reduces_ = true, backwards_ = reverse;
  scanned_.push_back(along);
  values_[node.results[0]] = {space_.resolve(from), Kind::each};
  return true;
}

}  // namespace thunder::fusion
