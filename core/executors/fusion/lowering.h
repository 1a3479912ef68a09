// The lowering of a group to a nest.
#pragma once

#include <compare>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "executors/fusion/lower.h"

namespace thunder::fusion {

class Lowering {
 public:
  Lowering(const NodeView& view, const Group& group);
  LoweredRegion run(std::optional<size_t> input);

 private:
  // The index of an axis where it differs from that axis' own loop: another loop's index and an offset, or a constant.
  struct Index {
    AxisId axis;
    std::optional<AxisId> loop;
    int64_t by = 0;
    auto operator<=>(const Index&) const = default;
  };
  using Indices = std::vector<Index>;  // by axis
  // How memory is accessed: a map and an offset in elements.
  struct Access {
    uint32_t map;
    int64_t offset;
  };

  // lower.cpp
  std::optional<TileAxes> tile_axes(uint32_t input) const;
  void note_host_scalars();
  void number_axes();
  uint32_t axis(AxisId a);
  Index index(AxisId a, const Indices& indices) const;
  Access access(const Coordinates& coordinates, std::span<const int64_t> strides, const Indices& indices);
  uint32_t add_map(Map m);
  ExprId add(Expr e);
  ExprId load(uint32_t buffer, Access at);
  uint32_t input(ValueId v) const;
  Coordinates coordinates(ValueId v) const { return group_.space().resolve(group_.value(v).coordinates); }
  void lower_at_loop_indices();
  void lower_result(uint32_t number);
  std::vector<Interval> intervals(ValueId v);

  // lower_lines.cpp
  ExprId value(ValueId v, const Indices& indices);
  ExprId operand(const Node& line, size_t number, const Indices& indices);
  ExprId lower_line(const Node& line, const Indices& indices);
  Coordinates source_of(const Node& line) const;
  ExprId index_along(const Node& line);
  bool is_row(const Node& line);
  void lower_create(const Node& line, const Indices& at, Expr& e);
  void lower_gather(const Node& line, const Indices& indices, Expr& e);
  void add_check(const Node& line, ExprId id);

  // lower_parts.cpp
  Indices indices_of_sliced(const Node& line, Indices indices) const;
  Indices indices_of_operand(const Node& line, size_t number, const Indices& indices) const;
  template <class First, class Second>
  ExprId select(DType dtype, Index along, int64_t bound, const First& first, const Second& second);
  ExprId lower_concat(const Node& line, const Indices& indices);
  ExprId lower_inside(const Node& line, const Indices& indices);
  ExprId number(DType dtype, double value);

  const NodeView& view_;
  const Group& group_;
  const std::vector<const Node*>& lines_;
  std::vector<ValueId> inputs_;
  std::vector<AxisId> axes_;
  uint32_t loop_axes_ = 0;
  std::unordered_map<ValueId, const Node*> makers_;
  std::map<std::pair<ValueId, Indices>, ExprId> exprs_;
  LoweredRegion lowered_;
};

}  // namespace thunder::fusion
