// The state of lowering one group, which lower.cpp, lower_nodes.cpp and lower_slices.cpp share.
#pragma once

#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "executors/fusion/lower.h"

namespace thunder::fusion {

class Lowering {
 public:
  Lowering(const LineView& view, const Group& group);
  LoweredRegionOf<Size> run();

 private:
  using Expr = loops::ExprOf<Size>;
  using Interval = loops::IntervalOf<Size>;
  using Map = loops::MapOf<Size>;
  using Nest = loops::NestOf<Size>;
  using Output = loops::OutputOf<Size>;

  // The index of an axis that is not the index of its own loop: another loop's index plus an offset, or a constant.
  struct Index {
    AxisId axis;
    std::optional<AxisId> loop;
    Size offset = 0;
    friend bool operator<(const Index& a, const Index& b) {
      return std::tie(a.axis, a.loop, a.offset) < std::tie(b.axis, b.loop, b.offset);
    }
  };
  using Indices = std::vector<Index>;  // by axis
  // How memory is accessed: a map and an offset in elements.
  struct Access {
    uint32_t map;
    Size offset;
  };

  // lower.cpp
  std::optional<TileAxes> tile_axes(uint32_t input) const;
  void find_host_scalars();
  void number_axes();
  uint32_t number_axis(AxisId a);
  Index index(AxisId a, const Indices& indices) const;
  Access make_access(const Coordinates& coordinates, std::span<const Size> strides, const Indices& indices);
  uint32_t add_map(Map m);
  ExprId add_expr(Expr e);
  ExprId add_load(uint32_t buffer, Access at);
  uint32_t input_number(ValueId v) const;
  Coordinates coordinates(ValueId v) const { return group_.space().resolve(group_.value(v).coordinates); }
  void lower_at_loop_indices();
  void lower_result(uint32_t number);
  std::vector<Interval> stored_intervals(ValueId v);

  // lower_nodes.cpp
  ExprId lower_value(ValueId v, const Indices& indices);
  ExprId lower_operand(const Node& node, size_t number, const Indices& indices);
  ExprId lower_node(const Node& node, const Indices& indices);
  Coordinates operand_coordinates(const Node& node) const;
  ExprId reduced_index(const Node& node);
  bool is_constant_over_reduced(const Node& node);
  void lower_create(const Node& node, const Indices& at, Expr& e);
  void lower_gather(const Node& node, const Indices& indices, Expr& e);
  void add_check(const Node& node, ExprId id);

  // lower_slices.cpp
  Indices slice_operand_indices(const Node& node, Indices indices) const;
  Indices concat_operand_indices(const Node& node, size_t number, const Indices& indices) const;
  template <class First, class Second>
  ExprId add_select(DType dtype, Index along, Size bound, const First& first, const Second& second);
  ExprId lower_concat(const Node& node, const Indices& indices);
  ExprId lower_pad_or_scatter(const Node& node, const Indices& indices);
  ExprId add_constant(DType dtype, double value);

  const LineView& view_;
  const Group& group_;
  const std::vector<const Node*>& nodes_;
  std::vector<ValueId> inputs_;
  std::vector<AxisId> axes_;
  uint32_t loop_axes_ = 0;
  std::unordered_map<ValueId, const Node*> producers_;
  std::map<std::pair<ValueId, Indices>, ExprId> exprs_;
  LoweredRegionOf<Size> lowered_;
};

}  // namespace thunder::fusion
