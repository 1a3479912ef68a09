#include "loops/cpu/schedule.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "ir/symbolic/size.h"
#include "loops/order.h"

namespace thunder::loops {
namespace {

template <class S>
bool sums_columns(const CpuNestOf<S>& n) {
  return std::any_of(n.stores.begin(), n.stores.end(), [](const auto& s) { return s.kind == OutputKind::column; });
}

// The benefit of vectorizing along an axis, by the number of elements that are then accessed contiguously.
template <class S>
S vectorization_gain(const CpuNestOf<S>& n, uint32_t axis) {
  S gain = 0;
  const auto count = [&](uint32_t map, S weight) {
    for (uint32_t a = 0; a < n.outer; a++)
      if (n.maps[map][a] != 0) weight *= n.extents[a];
    const S stride = n.maps[map][axis];
    if (stride == 1) gain += weight * 4;
    else if (stride == 0) gain += weight;
  };
  for (const ExprOf<S>& e : n.exprs)
    if (e.fn == Fn::load) count(e.map, 2);
  for (const OutputOf<S>& s : n.stores) count(s.map, 3);
  // Weighted by length: a short axis wastes most of a vector.
  return n.extents[axis] >= 16 ? gain * 4 : n.extents[axis] >= 8 ? gain * 2 : gain;
}

template <class S>
uint32_t choose_lane_axis(const CpuNestOf<S>& n, AxisSet among) {
  uint32_t best_axis = static_cast<uint32_t>(std::countr_zero(among));
  for (uint32_t a = 0; a < n.outer; a++)
    if (among & axis_bit(a) && vectorization_gain(n, a) > vectorization_gain(n, best_axis)) best_axis = a;
  return best_axis;
}

// The axes that column sums do not reduce, or all axes. Vectorized along such an axis, each lane has its own sum, and
// no reduction across lanes is needed.
template <class S>
AxisSet axes_summed_by_lane(const CpuNestOf<S>& n) {
  AxisSet all = axis_bit(n.outer) - 1, left = all;
  for (const OutputOf<S>& s : n.stores)
    if (s.kind == OutputKind::column && !is_reduction(n.exprs[s.value].fn))
      for (uint32_t a = 0; a < n.outer; a++)
        if (n.maps[s.map][a] == 0) left &= ~axis_bit(a);
  return left ? left : all;
}

// Whether it is a function of its operands at the loops' own indices.
template <class S>
bool is_pointwise(const ExprOf<S>& e) {
  return e.fn != Fn::iota && e.fn != Fn::uniform && !has_axis(e) && !is_reduction(e.fn);
}

// Whether all accesses to an argument use the same strides.
template <class S>
bool one_map_for_each_argument(const CpuNestOf<S>& n) {
  std::vector<const MapOf<S>*> maps(n.buffers.size(), nullptr);
  const auto same = [&](uint32_t buffer, uint32_t map) {
    if (!maps[buffer]) maps[buffer] = &n.maps[map];
    return *maps[buffer] == n.maps[map];
  };
  return std::all_of(n.exprs.begin(), n.exprs.end(),
                     [&](const ExprOf<S>& e) { return e.fn != Fn::load || same(e.buffer, e.map); }) &&
         std::all_of(n.stores.begin(), n.stores.end(), [&](const OutputOf<S>& s) { return same(s.buffer, s.map); });
}

}  // namespace

template <class S>
void order_rows(CpuNestOf<S>& n, AxisSet reduced) {
  if (n.outer == 0) add_outer_axis(n);  // a single element: a loop of one step
  const bool rows = reduced != 0;
  const uint32_t lane = choose_lane_axis(n, !rows             ? axes_summed_by_lane(n)
                                            : sums_columns(n) ? reduced
                                                              : axis_bit(n.outer) - 1);
  const AxisSet inner = rows ? reduced : axis_bit(lane);
  std::vector<uint32_t> order(n.axes());
  std::iota(order.begin(), order.end(), 0u);
  const MapOf<S>& main = main_map(n);
  const auto rank = [&](uint32_t a) {
    const bool in = inner & axis_bit(a);
    return std::tuple(a >= n.outer, in, a == lane, -magnitude(main[a]));
  };
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return rank(a) < rank(b); });
  reorder(n, order);
  n.inner = static_cast<uint32_t>(std::popcount(inner));
  n.outer -= n.inner;
  const bool lane_outer = !(inner & axis_bit(lane));
  if (!rows) {
    // Without reductions all axes are of one class: everything mergeable becomes one vector loop.
    while (n.outer > 0 && can_merge_with_next(n, n.outer - 1)) merge_with_next(n, n.outer - 1), n.outer--;
  }
  merge_neighbours(n);
  n.lane = lane_outer ? n.outer - 1 : n.outer + n.inner - 1;
  n.split = !rows;
}

template <class S>
bool order_tiles(CpuNestOf<S>& n, const LoweredRegionOf<S>& region) {
  const uint32_t argument = region.tiles->input;
  const AxisSet columns = region.tiles->columns;
  if (region.reduced || n.partial || !region.sums.empty()) return false;
  if (n.outer != n.axes() || !std::all_of(n.exprs.begin(), n.exprs.end(), is_pointwise<S>)) return false;
  const auto main = std::find_if(n.exprs.begin(), n.exprs.end(),
                                 [&](const ExprOf<S>& e) { return e.fn == Fn::load && e.buffer == argument; });
  if (main == n.exprs.end()) return false;
  std::vector<uint32_t> order(n.axes());
  std::iota(order.begin(), order.end(), 0u);
  const MapOf<S>& strides = n.maps[main->map];
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return magnitude(strides[a]) > magnitude(strides[b]); });
  const auto varying =
      static_cast<uint32_t>(std::count_if(strides.begin(), strides.end(), [](const S& s) { return s != 0; }));
  if (varying != n.axes()) return false;
  // In dense memory, columns are the last axes.
  const auto is_column = [&](uint32_t a) { return (columns & axis_bit(a)) != 0; };
  n.inner = static_cast<uint32_t>(std::popcount(columns));
  n.outer -= n.inner;
  if (!n.inner || !std::all_of(order.begin() + n.outer, order.end(), is_column)) return false;
  reorder(n, order);
  merge_neighbours(n);
  if (n.outer == 0) add_outer_axis(n);
  if (n.outer != 1 || n.inner != 1 || !one_map_for_each_argument(n)) return false;
  n.lane = 1;
  n.split = true;
  return parameters(n).size() <= kMaxTileParameters;
}

template <class S>
void tile_transposed(CpuNestOf<S>& n) {
  // Tiles are accessed as a whole, so all of their elements must be valid.
  if (!n.split || n.partial) return;
  std::vector<size_t> transposed(n.outer, 0);
  const auto count = [&](const MapOf<S>& m) {
    for (uint32_t a = 0; a < n.outer; a++) transposed[a] += m[a] == 1 && stride_kind(m[n.lane]) == StrideKind::any;
  };
  for (const ExprOf<S>& e : n.exprs)
    if (e.fn == Fn::load && !(e.axes & n.only_gathered_set())) count(n.maps[e.map]);
  for (const OutputOf<S>& s : n.stores) count(n.maps[s.map]);
  const auto most = std::max_element(transposed.begin(), transposed.end());
  if (most == transposed.end() || *most == 0) return;
  std::vector<uint32_t> order(n.axes());
  std::iota(order.begin(), order.end(), 0u);
  const auto axis = order.begin() + (most - transposed.begin());
  std::rotate(axis, axis + 1, order.begin() + n.outer + n.inner);
  reorder(n, order);
  n.outer--, n.inner++, n.lane--;
  n.blocked = true;
}

template <class S>
void find_row_passes(CpuNestOf<S>& n) {
  count_passes(n);
  sink_row_stores(n);
}

template void order_rows(CpuNestOf<int64_t>&, AxisSet);
template bool order_tiles(CpuNestOf<int64_t>&, const LoweredRegionOf<int64_t>&);
template void tile_transposed(CpuNestOf<int64_t>&);
template void find_row_passes(CpuNestOf<int64_t>&);
template void order_rows(CpuNestOf<Size>&, AxisSet);
template bool order_tiles(CpuNestOf<Size>&, const LoweredRegionOf<Size>&);
template void tile_transposed(CpuNestOf<Size>&);
template void find_row_passes(CpuNestOf<Size>&);

}  // namespace thunder::loops
