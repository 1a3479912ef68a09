// Oracles of reductions.
#include <algorithm>
#include <cmath>
#include <limits>

#include "battery/oracle_loops.h"

namespace thunder::battery {
namespace {

double largest(const Group& g) {
  double top = -std::numeric_limits<double>::infinity();
  for (double v : g) top = v != v || v > top ? v : top;
  return top;
}

template <class F>
Arrays fold(const Arguments& a, F f) {
  return {folded(a.tensor(0), a.ints(1), a.flag(2, false), f)};
}
Arrays sum(const Arguments& a) { return fold(a, total); }
Arrays mean(const Arguments& a) {
  return fold(a, [](const Group& g) { return total(g) / static_cast<double>(g.size()); });
}
Arrays var(const Arguments& a) {
  const double correction = a.number(2, 1);
  return {folded(a.tensor(0), a.ints(1), a.flag(3, false), [&](const Group& g) {
    const double middle = total(g) / static_cast<double>(g.size());
    double squares = 0;
    for (double v : g) squares += (v - middle) * (v - middle);
    return squares / std::max(0.0, static_cast<double>(g.size()) - correction);
  })};
}
Arrays amax(const Arguments& a) { return fold(a, largest); }
Arrays amin(const Arguments& a) {
  return fold(a, [](Group g) {
    for (double& v : g) v = -v;
    return -largest(g);
  });
}
Arrays argmax(const Arguments& a) {
  return fold(a, [](const Group& g) { return static_cast<double>(std::max_element(g.begin(), g.end()) - g.begin()); });
}
Arrays logsumexp(const Arguments& a) {
  return fold(a, [](const Group& g) {
    const double top = largest(g);
    if (std::isinf(top)) return top;
    double sum = 0;
    for (double v : g) sum += std::exp(v - top);
    return top + std::log(sum);
  });
}
Arrays all(const Arguments& a) {
  return fold(a, [](const Group& g) { return std::all_of(g.begin(), g.end(), [](double v) { return v != 0; }) ? 1.0 : 0.0; });
}
Arrays any(const Arguments& a) {
  return fold(a, [](const Group& g) { return std::any_of(g.begin(), g.end(), [](double v) { return v != 0; }) ? 1.0 : 0.0; });
}
Arrays cumsum(const Arguments& a) {
  const Array& x = a.tensor(0);
  const size_t rank = x.shape.size();
  if (rank == 0) return {x};
  const size_t axis = axis_of(a.integer(1, 0), rank);
  Array out = x;
  each_index(x.shape, [&](const Ints& index) {
    Ints before = index;
    before[axis]--;
    if (index[axis] > 0) out.data[place(x.shape, index)] += out.data[place(x.shape, before)];
  });
  return {out};
}

constexpr OracleRow kRows[] = {
    {"sum", sum},       {"mean", mean}, {"var", var}, {"amax", amax}, {"amin", amin}, {"argmax", argmax},
    {"logsumexp", logsumexp}, {"all", all},   {"any", any},
    {"cumsum", cumsum},
};

}  // namespace

std::span<const OracleRow> reduce_oracles() { return kRows; }

}  // namespace thunder::battery
