#include "executors/fusion/group.h"

#include <algorithm>

#include "executors/fusion/nest.h"

namespace thunder::fusion {
namespace {

using Axes = std::vector<AxisId>;  // sorted: a set

Axes set_of(const Dimension& d) {
  Axes out(d.begin(), d.end());
  std::sort(out.begin(), out.end());
  return out;
}
Axes without(const Axes& a, const Axes& b) {
  Axes out;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}

bool real_or_simple(const TensorType& t) {
  if (t.device != Device::cpu) return false;
  return std::all_of(t.shape.begin(), t.shape.end(), [](Dim d) { return d.constant() && d.value() > 0; });
}

}  // namespace

bool computable(const Node& line, const Store& store) {
  const PrimRow* row = find_prim(*line.op);
  if (!row) return false;
  bool fits = true;
  const auto check = [&](ValueId v) {
    const TensorType& t = store.type(v);
    fits = fits && real_or_simple(t) && (row->takes == Takes::all || is_real(t.dtype) || (row->fn == Fn::uniform && t.dtype == DType::i64));
  };
  for_each_value(line.args, check);
  for (ValueId r : line.results) check(r);
  // Sums of booleans and the order of 64-bit indices have rules of their own; the host knows them.
  if (fits && row->role == Role::join) {
    const auto parts = operands(line);
    fits = parts.size() <= kMaxJoined && std::all_of(parts.begin(), parts.end(), [&](ValueId v) { return store.type(v).shape == store.type(parts[0]).shape; });
  }
  if (fits && row->role == Role::reduction) fits = is_real(store.type(line.results[0]).dtype) || store.type(line.results[0]).dtype == DType::i64;
  return fits;
}

Coordinates Group::read(const Node& line, size_t operand) {
  const ValueId v = operands(line)[operand];
  if (has(v)) return space_.resolve(value(v).coordinates);
  return reads_[{&line, operand}] = space_.fresh(store_->type(v).shape);
}

Coordinates Group::read_of(const Node& line, size_t operand) const {
  auto it = reads_.find({&line, operand});
  return space_.resolve(it == reads_.end() ? value(line.results[0]).coordinates : it->second);
}

Dimension Group::all() const {
  Axes axes(set_of(reduced())), walked(set_of(space_.resolve(summed_)));
  axes.insert(axes.end(), walked.begin(), walked.end());
  for (auto& [id, value] : values_)
    if (value.kind == Kind::line) {
      const Axes more = set_of(space_.flat(value.coordinates));
      axes.insert(axes.end(), more.begin(), more.end());
    }
  std::sort(axes.begin(), axes.end());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  return Dimension(axes.data(), axes.data() + axes.size());
}

bool Group::same_extents(const Dimension& a, const Dimension& b) const {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [this](AxisId x, AxisId y) { return space_.extent(x) == space_.extent(y); });
}

bool Group::extend(const Node& line) {
  if (lines_.size() == kMaxLines) return refuse("the group has as many lines as one kernel may have");
  const size_t more = operands(line).size() + 1;
  if (arguments_ + more > kMaxArguments) return refuse("the group has as many arguments as one kernel may have");
  bool terminal = false;
  for_each_value(line.args, [&](ValueId v) { terminal |= has(v) && value(v).kind != Kind::line; });
  if (terminal) return refuse("it reads a sum over the outer axes, which is known only when the kernel has ended");
  bool fits = false;
  switch (find_prim(*line.op)->role) {
    case Role::elementwise:
    case Role::create: fits = add_elementwise(line); break;
    case Role::view: fits = add_view(line); break;
    case Role::reduction: fits = add_reduction(line); break;
    case Role::pick: fits = add_pick(line); break;
    case Role::join: fits = add_join(line); break;
  }
  if (!fits) return false;
  arguments_ += more;
  lines_.push_back(&line);
  return true;
}

bool Group::add_all(const Node& node) {
  if (node.body.empty()) return add(node);
  return std::all_of(node.body.begin(), node.body.end(), [this](const Node* line) { return extend(*line); }) && consistent();
}

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
  if (!fits) return refuse("its operands are walked by different loops");
  if (first) mine = space_.fresh(store_->type(line.results[0]).shape);
  values_[line.results[0]] = {std::move(mine), Kind::line};
  return true;
}

bool Group::add_view(const Node& line) {
  const ValueId in = line.args[0].v;
  if (!has(in)) return refuse("a view of an input costs nothing outside of the kernel");
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
    // What a reduction left is spread over what it reduced.
    Dimension spread;
    for (size_t i = 0; i < to.size(); i++)
      if (i < lead || from[i - lead].empty()) for (AxisId a : mine[i]) spread.push_back(a);
    if (!reduces_ || !space_.unify(reduced(), spread)) return refuse("it spreads a value that is not reduced in the group");
  }
  values_[line.results[0]] = {std::move(mine), Kind::line};
  return true;
}

// A reduction over the axes that the group reduces already is one more of the kind; one over all the others sums
// columns; one over everything adds up both.
bool Group::add_reduction(const Node& line) {
  const Coordinates from = read(line, 0);
  std::vector<bool> gone(from.size(), false);
  for (size_t dim : reduced_dims(line, from.size())) gone[dim] = true;
  Coordinates kept;
  Dimension away;
  for (size_t i = 0; i < from.size(); i++) {
    if (!gone[i]) kept.push_back(from[i]);
    else for (AxisId a : from[i]) away.push_back(a);
  }
  // An input is taken to be walked as the rest of the group is, if it can be; what reads it later will tell.
  if (!has(line.args[0].v) && reduces_ && same_extents(away, reduced())) space_.unify(reduced(), away);
  const Axes input = set_of(space_.flat(from)), over = set_of(space_.resolve(away));
  Dimension everything = all();
  Axes total = set_of(everything);
  total.insert(total.end(), input.begin(), input.end());
  std::sort(total.begin(), total.end());
  total.erase(std::unique(total.begin(), total.end()), total.end());
  const bool sums = find_prim(*line.op)->fn == Fn::sum;
  GroupValue made{kept, Kind::line};
  if (over.empty()) return refuse("it reduces axes of size 1 only");
  // Of a tensor of one row, what leaves dims is a reduction of the row: others may need it in the kernel.
  if (sums && over == total && (kept.empty() || (reduces_ && over != set_of(reduced())))) {
    made.kind = Kind::total;
    summed_ = away;
  } else if (!reduces_) {
    reduces_ = true;
    reduced_ = away;
  } else if (over != set_of(reduced())) {
    const Axes outer = without(total, set_of(reduced()));
    if (!sums || over != outer) return refuse("it reduces other axes than the rest of the group");
    made.kind = Kind::column;
  }
  values_[line.results[0]] = std::move(made);
  reductions_.push_back({line.results[0], away});
  return true;
}

// gather(input, dim, index), whose index says for each element of the result where the input's is, or take(input, dim, index),
// whose index stands in place of the dim. What the group computes is there for one row at a time: of that, one element of each.
bool Group::add_pick(const Node& line) {
  const auto both = operands(line);
  const bool inside = has(both[0]), takes = line.op->name() == "prims.take";
  const Shape &shape = store_->type(both[0]).shape, &at = store_->type(both[1]).shape;
  if (shape.empty()) return refuse("it picks from a single element");
  const size_t dim = normalize_axis(line.args[1].i, shape.size());
  if (takes && inside) return refuse("it takes slices of a value that the group computes");
  for (size_t i = 0; !takes && i < shape.size(); i++) {
    if (i != dim && at[i] != shape[i]) return refuse("its index is smaller than what it picks from");
    if (i == dim && inside && at[i] != Dim(1)) return refuse("it picks more than one element of a row");
  }
  const Coordinates rows = read(line, 1), from = read(line, 0);
  Coordinates made = rows;
  if (takes) {
    made.insert(made.begin(), from.begin(), from.begin() + static_cast<ptrdiff_t>(dim));
    made.insert(made.end(), from.begin() + static_cast<ptrdiff_t>(dim) + 1, from.end());
  }
  for (size_t i = 0; !takes && i < from.size(); i++)
    if (i != dim && !space_.unify(rows[i], from[i])) return refuse("its index is walked by different loops");
  const Dimension along = space_.resolve(from[dim]);
  if (along.size() != 1) return refuse("it picks along a dim that other lines split");
  picked_.push_back(along);
  if (inside && !reduces_) {
    reduces_ = true;
    reduced_ = along;
  } else if (inside && set_of(along) != set_of(reduced())) {
    return refuse("it picks along another axis than the group reduces");
  }
  values_[line.results[0]] = {space_.resolve(made), Kind::line};
  return true;
}

// cat(operands, dim) of operands of one shape: the dim becomes an axis along which the operand is chosen, and the operand's own
// axes, by which all are walked alike. Its operands do not change along that axis.
bool Group::add_join(const Node& line) {
  const size_t parts = operands(line).size();
  Coordinates made = read(line, 0);
  for (size_t i = 1; i < parts; i++)
    if (!space_.unify(made, read(line, i))) return refuse("its operands are walked by different loops");
  made = space_.resolve(made);
  if (parts > 1) {
    Dimension& dim = made[normalize_axis(line.args[1].i, made.size())];
    const Dimension along = {space_.fresh(static_cast<int64_t>(parts))};
    dim.insert(0, along[0]);
    choices_[&line] = along;
  }
  values_[line.results[0]] = {std::move(made), Kind::line};
  return true;
}

// Every value must be known for each position, or for each position along the outer axes, but that it may be the same along
// axes that lines choose by; and no axis twice in one.
bool Group::consistent() {
  for (const Dimension& along : picked_)
    if (space_.resolve(along).size() != 1) return refuse("it picks along a dim that other lines split");
  Axes choices;
  for (auto& [line, along] : choices_) {
    const Dimension axis = space_.resolve(along);
    if (axis.size() != 1) return refuse("it joins along a dim that other lines split");
    choices.push_back(axis[0]);
  }
  std::sort(choices.begin(), choices.end());
  const Axes everything = set_of(all()), inner = set_of(reduced()), outer = without(everything, inner);
  if (everything.size() + picked_.size() >= kMaxAxes) return refuse("it needs more loops than a kernel may have");
  const auto is_diagonal = [](const Axes& axes) { return std::adjacent_find(axes.begin(), axes.end()) != axes.end(); };
  for (auto& [read, coordinates] : reads_)
    if (is_diagonal(set_of(space_.flat(coordinates)))) return refuse("it reads the same value along two different axes at once");
  for (auto& [id, value] : values_) {
    const Axes axes = set_of(space_.flat(value.coordinates));
    if (is_diagonal(axes)) return refuse("it reads the same value along two different axes at once");
    if (value.kind != Kind::line || without(without(everything, axes), choices).empty()) continue;
    const bool row = without(axes, outer).empty() && without(without(outer, axes), choices).empty();
    if (!reduces_ || !row) return refuse("it is walked by other loops than the rest of the group");
  }
  return reductions_fit(everything, outer) || refuse("it reduces other axes than the rest of the group");
}

// Axes may have met since the lines were added. What is summed over the outer axes changes along all of them.
bool Group::reductions_fit(const Axes& everything, const Axes& outer) const {
  const Axes inner = set_of(reduced());
  return std::all_of(reductions_.begin(), reductions_.end(), [&](const Reduction& r) {
    const GroupValue& made = value(r.result);
    const Axes over = set_of(space_.resolve(r.away));
    if (made.kind == Kind::line) return over == inner;
    if (made.kind == Kind::total) return over == outer || over == everything;
    const Axes kept = set_of(space_.flat(made.coordinates));
    return over == outer && (kept.empty() || without(without(everything, over), kept).empty());
  });
}

}  // namespace thunder::fusion
