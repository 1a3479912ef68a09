#include "loops/order.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <tuple>

#include "ir/symbolic/size.h"

namespace thunder::loops {

template <class S>
const MapOf<S>& main_map(const NestOf<S>& n) {
  const auto varying_axes = [&](uint32_t m) {
    return std::ssize(n.maps[m]) - std::count(n.maps[m].begin(), n.maps[m].end(), S(0));
  };
  uint32_t main = n.stores.empty() ? 0 : n.stores[0].map;
  for (uint32_t m = 0; m < n.maps.size(); m++)
    if (varying_axes(m) > varying_axes(main)) main = m;
  return n.maps[main];
}

template <class S>
void reorder(NestOf<S>& n, const std::vector<uint32_t>& order) {
  const auto moved = [&](const std::vector<S>& from) {
    std::vector<S> to;
    for (uint32_t a : order) to.push_back(from[a]);
    return to;
  };
  n.extents = moved(n.extents);
  for (MapOf<S>& m : n.maps) m = moved(m);
  const auto place = [&](uint32_t axis) {
    return static_cast<uint32_t>(std::find(order.begin(), order.end(), axis) - order.begin());
  };
  for (ExprOf<S>& e : n.exprs)
    if (has_axis(e)) e.axis = place(e.axis);
  for (OutputOf<S>& s : n.stores)
    for (IntervalOf<S>& only : s.only) only.axis = place(only.axis);
}

template <class S>
void merge_with_next(NestOf<S>& n, uint32_t a) {
  const S each = n.extents[a + 1];
  for (ExprOf<S>& e : n.exprs)
    if (e.fn == Fn::select && e.axis == a) e.axis++, e.bound *= each;
  for (OutputOf<S>& s : n.stores)
    for (IntervalOf<S>& only : s.only)
      if (only.axis == a) only.axis++, only.begin *= each, only.end *= each;
  n.extents[a + 1] *= n.extents[a];
  n.extents.erase(n.extents.begin() + a);
  for (MapOf<S>& m : n.maps) m.erase(m.begin() + a);
  for (ExprOf<S>& e : n.exprs)
    if (has_axis(e) && e.axis > a) e.axis--;
  for (OutputOf<S>& s : n.stores)
    for (IntervalOf<S>& only : s.only)
      if (only.axis > a) only.axis--;
}

// An interval of the outer one of two axes is an interval of the merged axis; one of the inner axis is not.
template <class S>
bool can_merge_with_next(const NestOf<S>& n, uint32_t a) {
  for (const ExprOf<S>& e : n.exprs)
    if (has_axis(e) && (e.axis == a + 1 || (e.axis == a && e.fn != Fn::select))) return false;
  for (const OutputOf<S>& s : n.stores)
    for (const IntervalOf<S>& only : s.only)
      if (only.axis == a + 1) return false;
  return std::all_of(n.maps.begin(), n.maps.end(), [&](const auto& m) { return m[a] == m[a + 1] * n.extents[a + 1]; });
}

template <class S>
void merge_neighbours(NestOf<S>& n) {
  for (uint32_t a = n.outer; a-- > 1;)
    if (can_merge_with_next(n, a - 1)) merge_with_next(n, a - 1), n.outer--;
  for (uint32_t a = n.outer + n.inner; a-- > n.outer + 1;)
    if (can_merge_with_next(n, a - 1)) merge_with_next(n, a - 1), n.inner--;
}

template <class S>
void count_passes(NestOf<S>& n) {
  find_levels(n, n.inner_set());
  n.passes = 1;
  for (const ExprOf<S>& e : n.exprs)
    if (is_reduction(e.fn)) n.passes = std::max(n.passes, e.level);
  for (const OutputOf<S>& s : n.stores)
    if (!n.is_row(s)) n.passes = std::max(n.passes, n.exprs[s.value].level + 1);
}

template <class S>
void add_outer_axis(NestOf<S>& n) {
  n.extents.insert(n.extents.begin(), 1);
  for (MapOf<S>& m : n.maps) m.insert(m.begin(), 0);
  for (ExprOf<S>& e : n.exprs)
    if (has_axis(e)) e.axis++;
  for (OutputOf<S>& s : n.stores)
    for (IntervalOf<S>& only : s.only) only.axis++;
  n.outer = 1;
}

template <class S>
void sink_row_stores(NestOf<S>& n) {
  for (OutputOf<S>& s : n.stores)
    if (n.is_row(s)) std::erase_if(s.only, [&](const IntervalOf<S>& only) { return only.axis >= n.outer; });
}

template <class S>
void order_loops(NestOf<S>& n, AxisSet reduced) {
  if (n.outer == 0) add_outer_axis(n);
  std::vector<uint32_t> order(n.axes());
  std::iota(order.begin(), order.end(), 0u);
  const MapOf<S> main = main_map(n);
  const auto rank = [&](uint32_t a) {
    return std::tuple(a >= n.outer, (reduced & axis_bit(a)) != 0, -magnitude(main[a]));
  };
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return rank(a) < rank(b); });
  reorder(n, order);
  n.inner = static_cast<uint32_t>(std::popcount(reduced));
  n.outer -= n.inner;
  merge_neighbours(n);
  count_passes(n);
  sink_row_stores(n);
}

template const MapOf<int64_t>& main_map(const NestOf<int64_t>&);
template void reorder(NestOf<int64_t>&, const std::vector<uint32_t>&);
template bool can_merge_with_next(const NestOf<int64_t>&, uint32_t);
template void merge_with_next(NestOf<int64_t>&, uint32_t);
template void merge_neighbours(NestOf<int64_t>&);
template void add_outer_axis(NestOf<int64_t>&);
template void count_passes(NestOf<int64_t>&);
template void sink_row_stores(NestOf<int64_t>&);
template const MapOf<Size>& main_map(const NestOf<Size>&);
template void reorder(NestOf<Size>&, const std::vector<uint32_t>&);
template bool can_merge_with_next(const NestOf<Size>&, uint32_t);
template void merge_with_next(NestOf<Size>&, uint32_t);
template void merge_neighbours(NestOf<Size>&);
template void add_outer_axis(NestOf<Size>&);
template void count_passes(NestOf<Size>&);
template void sink_row_stores(NestOf<Size>&);
template void order_loops(NestOf<int64_t>&, AxisSet);
template void order_loops(NestOf<Size>&, AxisSet);

}  // namespace thunder::loops
