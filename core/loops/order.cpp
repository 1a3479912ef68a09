#include "loops/order.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <tuple>

namespace thunder::loops {

const Map& main_map(const Nest& n) {
  const auto varying_axes = [&](uint32_t m) {
    return std::ssize(n.maps[m]) - std::count(n.maps[m].begin(), n.maps[m].end(), 0);
  };
  uint32_t main = n.stores.empty() ? 0 : n.stores[0].map;
  for (uint32_t m = 0; m < n.maps.size(); m++)
    if (varying_axes(m) > varying_axes(main)) main = m;
  return n.maps[main];
}

void reorder(Nest& n, const std::vector<uint32_t>& order) {
  const auto moved = [&](const std::vector<int64_t>& from) {
    std::vector<int64_t> to;
    for (uint32_t a : order) to.push_back(from[a]);
    return to;
  };
  n.extents = moved(n.extents);
  for (Map& m : n.maps) m = moved(m);
  const auto place = [&](uint32_t axis) {
    return static_cast<uint32_t>(std::find(order.begin(), order.end(), axis) - order.begin());
  };
  for (Expr& e : n.exprs)
    if (has_axis(e)) e.axis = place(e.axis);
  for (Output& s : n.stores)
    for (Interval& only : s.only) only.axis = place(only.axis);
}

void merge_with_next(Nest& n, uint32_t a) {
  const int64_t each = n.extents[a + 1];
  for (Expr& e : n.exprs)
    if (e.fn == Fn::select && e.axis == a) e.axis++, e.bound *= each;
  for (Output& s : n.stores)
    for (Interval& only : s.only)
      if (only.axis == a) only.axis++, only.begin *= each, only.end *= each;
  n.extents[a + 1] *= n.extents[a];
  n.extents.erase(n.extents.begin() + a);
  for (Map& m : n.maps) m.erase(m.begin() + a);
  for (Expr& e : n.exprs)
    if (has_axis(e) && e.axis > a) e.axis--;
  for (Output& s : n.stores)
    for (Interval& only : s.only)
      if (only.axis > a) only.axis--;
}

// An interval of the outer one of two axes is an interval of the merged axis; one of the inner axis is not.
bool can_merge_with_next(const Nest& n, uint32_t a) {
  for (const Expr& e : n.exprs)
    if (has_axis(e) && (e.axis == a + 1 || (e.axis == a && e.fn != Fn::select))) return false;
  for (const Output& s : n.stores)
    for (const Interval& only : s.only)
      if (only.axis == a + 1) return false;
  return std::all_of(n.maps.begin(), n.maps.end(), [&](const Map& m) { return m[a] == m[a + 1] * n.extents[a + 1]; });
}

void merge_neighbours(Nest& n) {
  for (uint32_t a = n.outer; a-- > 1;)
    if (can_merge_with_next(n, a - 1)) merge_with_next(n, a - 1), n.outer--;
  for (uint32_t a = n.outer + n.inner; a-- > n.outer + 1;)
    if (can_merge_with_next(n, a - 1)) merge_with_next(n, a - 1), n.inner--;
}

void count_passes(Nest& n) {
  find_levels(n, n.inner_set());
  n.passes = 1;
  for (const Expr& e : n.exprs)
    if (is_reduction(e.fn)) n.passes = std::max(n.passes, e.level);
  for (const Output& s : n.stores)
    if (!n.is_row(s)) n.passes = std::max(n.passes, n.exprs[s.value].level + 1);
}

void add_outer_axis(Nest& n) {
  n.extents.insert(n.extents.begin(), 1);
  for (Map& m : n.maps) m.insert(m.begin(), 0);
  for (Expr& e : n.exprs)
    if (has_axis(e)) e.axis++;
  for (Output& s : n.stores)
    for (Interval& only : s.only) only.axis++;
  n.outer = 1;
}

void sink_row_stores(Nest& n) {
  for (Output& s : n.stores)
    if (n.is_row(s)) std::erase_if(s.only, [&](const Interval& only) { return only.axis >= n.outer; });
}

void order_loops(Nest& n, AxisSet reduced) {
  if (n.outer == 0) add_outer_axis(n);
  std::vector<uint32_t> order(n.axes());
  std::iota(order.begin(), order.end(), 0u);
  const Map main = main_map(n);
  const auto rank = [&](uint32_t a) {
    return std::tuple(a >= n.outer, (reduced & axis_bit(a)) != 0, -std::abs(main[a]));
  };
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return rank(a) < rank(b); });
  reorder(n, order);
  n.inner = static_cast<uint32_t>(std::popcount(reduced));
  n.outer -= n.inner;
  merge_neighbours(n);
  count_passes(n);
  sink_row_stores(n);
}

}  // namespace thunder::loops
