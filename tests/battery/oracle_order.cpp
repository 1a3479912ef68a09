// Oracles of what looks at lines along a dim: scans, sorts, order statistics, and counts.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "battery/oracle.h"

namespace thunder::battery {
namespace {

using Line = std::vector<double>;

// Each line of x along dim, as f gives it: as many numbers for every line.
template <class F>
Array lines(const Array& x, int64_t dim, F f) {
  const size_t rank = x.shape.size(), axis = axis_of(dim, rank);
  Ints outer = x.shape;
  if (rank) outer[axis] = 1;
  std::vector<std::pair<Ints, Line>> made;
  size_t length = 0;
  each_index(outer, [&](const Ints& start) {
    Line line;
    for (int64_t i = 0; i < (rank ? x.shape[axis] : 1); i++) {
      Ints at = start;
      if (rank) at[axis] = i;
      line.push_back(battery::at(x, at));
    }
    made.emplace_back(start, f(line));
    length = made.back().second.size();
  });
  Ints shape = x.shape;
  if (rank && !made.empty()) shape[axis] = static_cast<int64_t>(length);
  Array out{shape, Line(static_cast<size_t>(count(shape))), DType::none};
  for (auto& [start, line] : made)
    for (size_t i = 0; i < line.size(); i++) {
      Ints at = start;
      if (rank) at[axis] = static_cast<int64_t>(i);
      out.data[place(shape, at)] = line[i];
    }
  return out;
}
Array without(Array x, int64_t dim, bool keep) {
  if (!keep && !x.shape.empty()) x.shape.erase(x.shape.begin() + static_cast<int64_t>(axis_of(dim, x.shape.size())));
  return x;
}
Array flat(const Array& x) { return {{count(x.shape)}, x.data, x.dtype}; }
Array scalar(const Array& x) { return {{}, x.data, DType::none}; }

// The places of a line in order; equal ones stay.
std::vector<size_t> order_of(const Line& line, bool descending) {
  std::vector<size_t> order(line.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return descending ? line[a] > line[b] : line[a] < line[b]; });
  return order;
}
template <class F>
Line each(const Line& line, F f) {
  Line out;
  for (size_t i = 0; i < line.size(); i++) out.push_back(f(i));
  return out;
}
Arrays sort(const Arguments& a) {
  const Array& x = a.tensor(0);
  const int64_t dim = a.integer(1, -1);
  const bool down = a.flag(2, false);
  return {lines(x, dim, [&](const Line& l) { auto o = order_of(l, down); return each(l, [&](size_t i) { return l[o[i]]; }); }),
          lines(x, dim, [&](const Line& l) { auto o = order_of(l, down); return each(l, [&](size_t i) { return static_cast<double>(o[i]); }); })};
}
// One place of each line: (value, index) without the dim.
template <class F>
Arrays picked(const Array& x, int64_t dim, bool keep, F place) {
  return {without(lines(x, dim, [&](const Line& l) { return Line{l[place(l)]}; }), dim, keep),
          without(lines(x, dim, [&](const Line& l) { return Line{static_cast<double>(place(l))}; }), dim, keep)};
}
Arrays kthvalue(const Arguments& a) {
  return picked(a.tensor(0), a.integer(2, -1), a.flag(3, false), [&](const Line& l) { return order_of(l, false)[static_cast<size_t>(a.integer(1, 1) - 1)]; });
}
Arrays median(const Arguments& a) {
  const auto middle = [](const Line& l) { return order_of(l, false)[(l.size() - 1) / 2]; };
  if (a.has(1)) return picked(a.tensor(0), a.integer(1, 0), a.flag(2, false), middle);
  return {scalar(picked(flat(a.tensor(0)), 0, false, middle)[0])};
}
Arrays mode(const Arguments& a) {
  return picked(a.tensor(0), a.integer(1, -1), a.flag(2, false), [](const Line& l) {
    std::map<double, int> counts;
    for (double v : l) counts[v]++;
    double best = l[0];
    for (auto& [v, n] : counts)
      if (n > counts[best] || (n == counts[best] && v < best)) best = v;
    return static_cast<size_t>(l.rend() - std::find(l.rbegin(), l.rend(), best) - 1);
  });
}
Arrays topk(const Arguments& a) {
  const bool largest = a.flag(3, true);
  const auto k = static_cast<size_t>(a.integer(1, 1));
  const auto cut = [&](const Line& l, bool values) {
    Line out;
    auto o = order_of(l, largest);
    for (size_t i = 0; i < k; i++) out.push_back(values ? l[o[i]] : static_cast<double>(o[i]));
    return out;
  };
  return {lines(a.tensor(0), a.integer(2, -1), [&](const Line& l) { return cut(l, true); }), lines(a.tensor(0), a.integer(2, -1), [&](const Line& l) { return cut(l, false); })};
}
// max and min, whose second argument may be a dim or a tensor.
Arrays extremum(const Arguments& a, double sign) {
  const Array& x = a.tensor(0);
  const auto best = [&](const Line& l) { return order_of(l, sign > 0)[0]; };
  const bool by_name = a.has(3), by_place = a.has(1) && (a.tensor(1).dtype != DType::i64 || !a.tensor(1).shape.empty());
  if (by_name || by_place) {
    const Array& y = a.tensor(by_name ? 3 : 1);
    return {make(broadcast_shape(x.shape, y.shape), [&](const Ints& i) { return sign * std::max(sign * broadcast_at(x, i), sign * broadcast_at(y, i)); })};
  }
  if (!a.has(1)) return {scalar(picked(flat(x), 0, false, best)[0])};
  return picked(x, a.integer(1, 0), a.flag(2, false), best);
}
Arrays argmin(const Arguments& a) {
  const auto best = [&](const Line& l) { return order_of(l, false)[0]; };
  if (a.has(1)) return {picked(a.tensor(0), a.integer(1, 0), a.flag(2, false), best)[1]};
  Array out = scalar(picked(flat(a.tensor(0)), 0, false, best)[1]);
  if (a.flag(2, false)) out.shape = Ints(a.tensor(0).shape.size(), 1);
  return {out};
}
Arrays aminmax(const Arguments& a) {
  Arrays out;
  for (bool down : {false, true}) {
    const auto best = [&](const Line& l) { return order_of(l, down)[0]; };
    if (a.has(1)) out.push_back(picked(a.tensor(0), a.integer(1, 0), a.flag(2, false), best)[0]);
    else out.push_back(scalar(picked(flat(a.tensor(0)), 0, false, best)[0]));
  }
  return out;
}

// ---- scans ----

template <class F>
Arrays scanned(const Arguments& a, F step) {
  return {lines(a.tensor(0), a.integer(1, 0), [&](Line l) {
    for (size_t i = 1; i < l.size(); i++) l[i] = step(l[i - 1], l[i]);
    return l;
  })};
}
Arrays running(const Arguments& a, double sign) {
  const auto best = [&](const Line& l, bool values) {
    size_t at = 0;
    return each(l, [&](size_t i) {
      if (sign * l[i] >= sign * l[at]) at = i;
      return values ? l[at] : static_cast<double>(at);
    });
  };
  return {lines(a.tensor(0), a.integer(1, 0), [&](const Line& l) { return best(l, true); }), lines(a.tensor(0), a.integer(1, 0), [&](const Line& l) { return best(l, false); })};
}
Arrays prod(const Arguments& a) {
  const auto product = [](const Line& l) { return Line{std::accumulate(l.begin(), l.end(), 1.0, std::multiplies<>())}; };
  const Array& x = a.tensor(0);
  if (a.has(1)) {
    if (!x.shape.empty() && count(x.shape) == 0) {  // of no elements 1
      Array out = x;
      out.shape[axis_of(a.integer(1, 0), x.shape.size())] = 1;
      out.data.assign(static_cast<size_t>(count(out.shape)), 1);
      return {without(out, a.integer(1, 0), a.flag(2, false))};
    }
    return {without(lines(x, a.integer(1, 0), product), a.integer(1, 0), a.flag(2, false))};
  }
  return {Array{a.flag(2, false) ? Ints(x.shape.size(), 1) : Ints{}, product(x.data), DType::none}};
}
Arrays diff(const Arguments& a) {
  Array x = a.tensor(0);
  for (int64_t n = 0; n < a.integer(1, 1); n++)
    x = lines(x, a.integer(2, -1), [&](const Line& l) {
      Line out;
      for (size_t i = 1; i < l.size(); i++) out.push_back(a.tensor(0).dtype == DType::boolean ? (l[i] != l[i - 1] ? 1 : 0) : l[i] - l[i - 1]);
      return out;
    });
  return {x};
}
Arrays trapezoid(const Arguments& a) {
  const int64_t dim = a.integer(3, -1);
  return {without(lines(a.tensor(0), dim, [&](const Line& l) {
    double sum = 0;
    for (size_t i = 1; i < l.size(); i++) sum += (l[i] + l[i - 1]) / 2 * (a.has(1) ? a.tensor(1).data[i] - a.tensor(1).data[i - 1] : a.number(2, 1));
    return Line{sum};
  }), dim, false)};
}

// ---- quantiles and counts ----

Arrays quantile(const Arguments& a) {
  const Array x = a.has(2) ? a.tensor(0) : flat(a.tensor(0));
  const int64_t dim = a.integer(2, 0);
  const std::string how = a.text(4, "linear");
  Array all;
  for (double q : a.tensor(1).data) {
    const Array one = without(lines(x, dim, [&](const Line& l) {
      const auto o = order_of(l, false);
      const double at = q * static_cast<double>(l.size() - 1);
      const double low = l[o[static_cast<size_t>(std::floor(at))]], high = l[o[static_cast<size_t>(std::ceil(at))]];
      if (how == "lower" || how == "higher") return Line{how == "lower" ? low : high};
      if (how == "nearest") return Line{l[o[static_cast<size_t>(std::nearbyint(at))]]};
      return Line{how == "midpoint" ? (low + high) / 2 : low + (high - low) * (at - std::floor(at))};
    }), dim, a.flag(3, false));
    all.shape = one.shape;
    all.data.insert(all.data.end(), one.data.begin(), one.data.end());
  }
  if (!a.has(2)) all.shape = a.flag(3, false) ? Ints(a.tensor(0).shape.size(), 1) : Ints{};
  if (!a.tensor(1).shape.empty()) all.shape.insert(all.shape.begin(), static_cast<int64_t>(a.tensor(1).data.size()));
  return {all};
}
Arrays searched(const Array& sorted, const Array& x, bool right) {
  const int64_t n = sorted.shape.back();
  return {make(x.shape, [&](const Ints& i) {
    Ints at = i;
    int64_t below = 0;
    for (int64_t j = 0; j < n; j++) {
      if (sorted.shape.size() == 1) at = {j};
      else at.back() = j;
      const double edge = battery::at(sorted, at), v = battery::at(x, i);
      below += right ? edge <= v : edge < v;
    }
    return static_cast<double>(below);
  })};
}
Arrays histc(const Arguments& a) {
  const Line& x = a.tensor(0).data;
  const int64_t bins = a.integer(1, 100);
  double low = a.number(2, 0), high = a.number(3, 0);
  Array out{{bins}, Line(static_cast<size_t>(bins), 0), DType::none};
  if (x.empty()) return {out};
  if (low == high) low = *std::min_element(x.begin(), x.end()), high = *std::max_element(x.begin(), x.end());
  if (low == high) low -= 1, high += 1;
  for (double v : x)
    if (v >= low && v <= high) out.data[static_cast<size_t>(std::min(static_cast<double>(bins - 1), std::floor((v - low) / (high - low) * static_cast<double>(bins))))]++;
  return {out};
}
Arrays isin(const Arguments& a) {
  const Line& test = a.tensor(1).data;
  return {make(a.tensor(0).shape, [&](const Ints& i) {
    const bool found = std::find(test.begin(), test.end(), at(a.tensor(0), i)) != test.end();
    return found != a.flag(2, false) ? 1.0 : 0.0;
  })};
}

constexpr OracleRow kRows[] = {
    {"sort", sort},
    {"argsort", [](const Arguments& a) { return Arrays{sort(a)[1]}; }},
    {"msort", [](const Arguments& a) { return Arrays{lines(a.tensor(0), 0, [](Line l) { std::sort(l.begin(), l.end()); return l; })}; }},
    {"kthvalue", kthvalue},
    {"median", median},
    {"nanmedian", median},
    {"mode", mode},
    {"topk", topk},
    {"max", [](const Arguments& a) { return extremum(a, 1); }},
    {"min", [](const Arguments& a) { return extremum(a, -1); }},
    {"argmin", argmin},
    {"aminmax", aminmax},
    {"cumprod", [](const Arguments& a) { return scanned(a, [](double x, double y) { return x * y; }); }},
    {"logcumsumexp", [](const Arguments& a) { return scanned(a, [](double x, double y) { return std::max(x, y) + std::log1p(std::exp(-std::fabs(x - y))); }); }},
    {"cummax", [](const Arguments& a) { return running(a, 1); }},
    {"cummin", [](const Arguments& a) { return running(a, -1); }},
    {"prod", prod},
    {"diff", diff},
    {"trapezoid", trapezoid},
    {"quantile", quantile},
    {"searchsorted", [](const Arguments& a) {
       return searched(a.tensor(0), a.tensor(1), a.flag(2, false) || a.text(4, "left") == "right");
     }},
    {"bucketize", [](const Arguments& a) { return searched(a.tensor(1), a.tensor(0), a.flag(2, false)); }},
    {"histc", histc},
    {"isin", isin},
};

}  // namespace

std::span<const OracleRow> order_oracles() { return kRows; }

}  // namespace thunder::battery
