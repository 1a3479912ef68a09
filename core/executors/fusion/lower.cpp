#include "executors/fusion/lower.h"

#include <algorithm>

#include "executors/fusion/schedule.h"
#include "tensor/tensor.h"

namespace thunder::fusion {
namespace {

// Element type of partial sums.
DType sum_type(DType d) { return compute_dtype(d); }

class Lowering {
 public:
  explicit Lowering(const NodeView& view) : view_(view), group_(view.store) {
    const Node& node = view.node;
    if (node.body.empty()) lines_ = {&view_.node};
    else lines_.assign(node.body.begin(), node.body.end());
    for_each_value(node.args, [&](ValueId v) { inputs_.push_back(v); });
  }

  Lowered run() {
    lower_lines();
    schedule(lowered_.nest, inner_);
    return std::move(lowered_);
  }

  std::optional<Lowered> run_parts(size_t input) {
    lower_lines();
    const std::optional<AxisSet> columns = columns_of(static_cast<uint32_t>(input));
    if (!columns || inner_ || !lowered_.partials.empty() || !schedule_parts(lowered_.nest, *columns, static_cast<uint32_t>(input)) ||
        lowered_.nest.maps.size() > kMostMapsInParts)
      return std::nullopt;
    lowered_.in_parts = true;
    return std::move(lowered_);
  }

 private:
  void lower_lines() {
    ensure(group_.add_all(view_.node), "a region grew that does not fit");
    number_axes();
    Nest& nest = lowered_.nest;
    for (const Buffer& b : view_.inputs) nest.buffers.push_back(b.dtype);
    for (const Buffer& b : view_.outputs) nest.buffers.push_back(b.dtype);
    for (const Node* line : lines_) lower_line(*line);
    for (size_t i = 0; i < view_.node.results.size(); i++) lower_result(static_cast<uint32_t>(i));
    nest.backwards = group_.backwards();
  }

  // The axes that the last dim of an input is made of.
  std::optional<AxisSet> columns_of(uint32_t input) {
    for (const Node* line : lines_)
      for (size_t i = 0; i < operands(*line).size(); i++) {
        const ValueId v = operands(*line)[i];
        if (v != inputs_[input]) continue;
        const Coordinates read = group_.read_of(*line, i);
        if (read.empty()) return std::nullopt;
        AxisSet columns = 0;
        for (AxisId a : read.back()) columns |= bit(axis(a));
        return columns;
      }
    return std::nullopt;
  }

  // The nest's axes before scheduling: those of the lines, then those that only picks walk.
  void number_axes() {
    const Dimension all = group_.all(), inner = group_.reduced();
    for (AxisId a : all) axis(a);
    for (AxisId a : inner) inner_ |= bit(axis(a));
    walked_ = static_cast<uint32_t>(axes_.size());
    lowered_.nest.outer = walked_;  // until the schedule decides
  }
  uint32_t axis(AxisId a) {
    auto it = std::find(axes_.begin(), axes_.end(), a);
    if (it != axes_.end()) return static_cast<uint32_t>(it - axes_.begin());
    axes_.push_back(a);
    lowered_.nest.extents.push_back(group_.space().extent(a));
    for (Map& m : lowered_.nest.maps) m.push_back(0);
    return static_cast<uint32_t>(axes_.size() - 1);
  }

  // How to walk memory whose dims step by `strides` at these coordinates.
  uint32_t map(const Coordinates& coordinates, std::span<const int64_t> strides) {
    for (const Dimension& d : coordinates)
      for (AxisId a : d) axis(a);
    Map m(axes_.size(), 0);
    for (size_t i = 0; i < coordinates.size(); i++) {
      int64_t stride = strides[i];
      for (size_t k = coordinates[i].size(); k-- > 0;) {
        m[axis(coordinates[i][k])] += stride;
        stride *= group_.space().extent(coordinates[i][k]);
      }
    }
    return add_map(std::move(m));
  }
  uint32_t add_map(Map m) {
    auto& maps = lowered_.nest.maps;
    for (uint32_t i = 0; i < maps.size(); i++)
      if (maps[i] == m) return i;
    maps.push_back(std::move(m));
    return static_cast<uint32_t>(maps.size() - 1);
  }
  uint32_t dense_map(ValueId v) { return map(group_.space().resolve(group_.value(v).coordinates), dense_strides(view_.store.type(v).shape)); }

  ExprId add(Expr e) {
    lowered_.nest.exprs.push_back(e);
    return static_cast<ExprId>(lowered_.nest.exprs.size() - 1);
  }
  ExprId load(uint32_t buffer, uint32_t map, int64_t offset = 0) {
    auto& exprs = lowered_.nest.exprs;
    for (ExprId i = 0; i < exprs.size(); i++)
      if (exprs[i].fn == Fn::load && exprs[i].buffer == buffer && exprs[i].map == map && exprs[i].offset == offset) return i;
    Expr e;
    e.fn = Fn::load, e.dtype = lowered_.nest.buffers[buffer], e.buffer = buffer, e.map = map, e.offset = offset;
    return add(e);
  }
  uint32_t input(ValueId v) const { return static_cast<uint32_t>(std::find(inputs_.begin(), inputs_.end(), v) - inputs_.begin()); }

  // What a line reads, by the operand's number.
  ExprId operand(const Node& line, size_t number) {
    const ValueId v = operands(line)[number];
    if (group_.has(v)) return exprs_.at(v);
    const uint32_t buffer = input(v);
    const Buffer& layout = view_.inputs[buffer];
    return load(buffer, map(group_.read_of(line, number), {layout.strides, static_cast<size_t>(layout.rank)}));
  }

  void lower_line(const Node& line) {
    const PrimRow& row = *find_prim(*line.op);
    const ValueId result = line.results[0];
    Expr e;
    e.fn = row.fn;
    e.dtype = view_.store.type(result).dtype;
    switch (row.role) {
      case Role::view: exprs_[result] = exprs_.at(line.args[0].v); return;
      case Role::reduction:
        if (group_.value(result).kind == Kind::column) {
          exprs_[result] = operand(line, 0);
          return;
        }
        e.in[e.count++] = operand(line, 0);
        // The sum of what is known for each row is a sum over the outer axes alone.
        if (group_.value(result).kind == Kind::total && is_row(line)) {
          exprs_[result] = e.in[0];
          return;
        }
        if (e.fn == Fn::argmax) e.in[e.count++] = place_along(line);
        break;
      case Role::create: lower_create(line, e); break;
      case Role::pick: lower_pick(line, e); break;
      case Role::scan:
        e.in[e.count++] = operand(line, 0);
        e.axis = axis(group_.reduced()[0]);
        break;
      case Role::join: exprs_[result] = lower_join(line, e); return;
      case Role::elementwise:
        for (size_t i = 0; i < operands(line).size(); i++) e.in[e.count++] = operand(line, i);
        break;
    }
    exprs_[result] = add(e);
    if (row.role == Role::pick) add_check(line, exprs_[result]);
  }

  // Where the loops stand in what a line reads, and its place along the dim that the line reduces: in few bits, since vectors
  // hold it for each lane.
  Coordinates walked_by(const Node& line) const {
    const ValueId v = line.args[0].v;
    return group_.has(v) ? group_.space().resolve(group_.value(v).coordinates) : group_.read_of(line, 0);
  }
  ExprId place_along(const Node& line) {
    const Coordinates source = walked_by(line);
    const size_t dim = reduced_dims(line, source.size())[0];
    const int64_t each[] = {1};
    Expr place;
    place.fn = Fn::position;
    place.dtype = view_.store.type(line.args[0].v).shape[dim].value() <= INT32_MAX ? DType::i32 : DType::i64;
    place.map = map({source[dim]}, each);
    return add(place);
  }

  // Whether what it reads does not change along the axes that the nest reduces.
  bool is_row(const Node& line) {
    const Dimension axes = group_.space().flat(walked_by(line));
    return inner_ && std::none_of(axes.begin(), axes.end(), [this](AxisId a) { return inner_ & bit(axis(a)); });
  }

  // The place of an element in row-major order, of which iota and the draws are functions.
  void lower_create(const Node& line, Expr& e) {
    Expr place;
    place.fn = Fn::position;
    place.map = dense_map(line.results[0]);
    if (e.fn == Fn::position) {
      place.dtype = e.dtype;
      e = place;
      return;
    }
    place.dtype = DType::i64;
    const uint32_t state = input(line.args[0].v), nowhere = add_map(Map(axes_.size(), 0));
    e.in = {add(place), load(state, nowhere), load(state, nowhere, view_.inputs[state].strides[0])};
    e.count = 3;
    e.ordinal = line.args[1].i;
  }

  void lower_pick(const Node& line, Expr& e) {
    const Shape& shape = view_.store.type(line.args[0].v).shape;
    const size_t dim = normalize_axis(line.args[1].i, shape.size());
    e.in[0] = operand(line, 0), e.in[1] = operand(line, 1), e.count = 2;
    e.axis = axis(walked_by(line)[dim][0]);
  }

  // The first operand, the second where the axis has passed it, and so on.
  ExprId lower_join(const Node& line, Expr e) {
    const size_t parts = operands(line).size();
    ExprId chosen = operand(line, 0);
    for (size_t i = 1; i < parts; i++) {
      e.in = {chosen, operand(line, i)}, e.count = 2;
      e.axis = axis(group_.choice_of(line)), e.bound = static_cast<uint32_t>(i);
      chosen = add(e);
    }
    return chosen;
  }

  void add_check(const Node& line, ExprId id) {
    const Shape& shape = view_.store.type(line.args[0].v).shape;
    const size_t dim = normalize_axis(line.args[1].i, shape.size());
    lowered_.checks.resize(id + 1);
    lowered_.checks[id] = {std::string(line.op->name()), static_cast<int64_t>(dim), shape[dim].value()};
  }

  void lower_result(uint32_t index) {
    const ValueId v = view_.node.results[index];
    const GroupValue& value = group_.value(v);
    const uint32_t buffer = static_cast<uint32_t>(inputs_.size()) + index;
    const Buffer& layout = view_.outputs[index];
    Output s{exprs_.at(v), OutputKind::each, buffer, 0};
    s.map = map(group_.space().resolve(value.coordinates), {layout.strides, static_cast<size_t>(layout.rank)});
    if (value.kind != Kind::line) {
      s.kind = OutputKind::column;
      lowered_.nest.buffers[buffer] = sum_type(layout.dtype);
      lowered_.partials.push_back({buffer, layout.elements(), sum_type(layout.dtype)});
    }
    lowered_.nest.stores.push_back(s);
  }

  const NodeView& view_;
  Group group_;
  std::vector<const Node*> lines_;
  std::vector<ValueId> inputs_;
  std::vector<AxisId> axes_;
  uint32_t walked_ = 0;
  AxisSet inner_ = 0;
  std::unordered_map<ValueId, ExprId> exprs_;
  Lowered lowered_;
};

}  // namespace

Lowered lower(const NodeView& node) { return Lowering(node).run(); }
std::optional<Lowered> lower_parts(const NodeView& node, size_t input) { return Lowering(node).run_parts(input); }

}  // namespace thunder::fusion
