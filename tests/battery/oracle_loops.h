// Loops that several oracles share: over elements, over the values that fold into one, and rearrangements.
#pragma once

#include <algorithm>
#include <type_traits>

#include "battery/oracle.h"

namespace thunder::battery {

// ---- elementwise ----

template <class F>
Arrays map(const Array& x, F f) {
  return {make(x.shape, [&](const Ints& i) { return f(at(x, i)); })};
}
template <class F>
Arrays map(const Arguments& a, F f) {
  return map(a.tensor(0), f);
}
template <class F>
Arrays zip(const Arguments& a, F f) {
  const Array &x = a.tensor(0), &y = a.tensor(1);
  return {make(broadcast_shape(x.shape, y.shape), [&](const Ints& i) { return f(broadcast_at(x, i), broadcast_at(y, i)); })};
}
// A row's oracle from a formula without state, of one element or of two.
template <class F>
constexpr OracleRow row(std::string_view op, F) {
  return {op, [](const Arguments& a) {
            if constexpr (std::is_invocable_v<F, double, double>) return zip(a, F());
            else return map(a, F());
          }};
}

// ---- folds ----

using Group = std::vector<double>;  // the values that fold into one element

// The array of f(group). No dims: all of them.
template <class F>
Array folded(const Array& x, const Ints& dims, bool keepdim, F f) {
  const size_t rank = x.shape.size();
  std::vector<bool> gone(rank, dims.empty());
  for (int64_t d : dims)
    if (rank) gone[axis_of(d, rank)] = true;
  Ints kept = x.shape, dropped;
  for (size_t d = 0; d < rank; d++) {
    if (gone[d]) kept[d] = 1;
    else dropped.push_back(x.shape[d]);
  }
  std::vector<Group> groups(static_cast<size_t>(count(kept)));
  each_index(x.shape, [&](const Ints& index) {
    Ints to = index;
    for (size_t d = 0; d < rank; d++)
      if (gone[d]) to[d] = 0;
    groups[place(kept, to)].push_back(at(x, index));
  });
  Array out{keepdim ? kept : dropped, {}, DType::none};
  for (auto& g : groups) out.data.push_back(f(g));
  return out;
}
inline double total(const Group& g) {
  double sum = 0;
  for (double v : g) sum += v;
  return sum;
}

// ---- rearrangements ----

inline Array reshaped(const Array& x, Ints shape) { return {std::move(shape), x.data, DType::none}; }
inline Array swapped(const Array& x, size_t a, size_t b) {
  Ints shape = x.shape;
  std::swap(shape[a], shape[b]);
  return make(shape, [&](Ints i) {
    std::swap(i[a], i[b]);
    return at(x, i);
  });
}
// The elements [start, end) along dim.
inline Array part(const Array& x, size_t dim, int64_t start, int64_t end) {
  Ints shape = x.shape;
  shape[dim] = std::max<int64_t>(0, end - start);
  return make(shape, [&](Ints i) {
    i[dim] += start;
    return at(x, i);
  });
}

}  // namespace thunder::battery
