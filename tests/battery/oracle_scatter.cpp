// Oracles of writing by index, and of reading by flat index.
#include <algorithm>
#include <cmath>
#include <limits>

#include "battery/oracle.h"

namespace thunder::battery {
namespace {

int64_t index_at(const Array& index, const Ints& i) { return static_cast<int64_t>(at(index, i)); }
double source_at(const Array& src, const Ints& i) { return src.shape.empty() && !i.empty() ? src.data[0] : at(src, i); }

// Calls f(element of out, element of src) for each index along dim.
template <class F>
void scattered(Array& out, int64_t given, const Array& index, const Array& src, F f) {
  const size_t dim = axis_of(given, out.shape.size());
  each_index(index.shape, [&](const Ints& i) {
    Ints to = i;
    if (!to.empty()) to[dim] = index_at(index, i);
    f(out.data[place(out.shape, to)], source_at(src, i));
  });
}
Arrays scatter(const Arguments& a) {
  Array out = a.tensor(0);
  scattered(out, a.integer(1, 0), a.tensor(2), a.tensor(3), [](double& to, double v) { to = v; });
  return {out};
}
Arrays scatter_reduce(const Arguments& a) {
  const std::string how = a.text(4, "sum");
  Array out = a.tensor(0), hits = out;
  std::fill(hits.data.begin(), hits.data.end(), 0.0);
  scattered(hits, a.integer(1, 0), a.tensor(2), a.tensor(3), [](double& n, double) { n++; });
  const double inf = std::numeric_limits<double>::infinity();
  if (!a.flag(5, true))
    for (size_t i = 0; i < out.data.size(); i++)
      if (hits.data[i] > 0) out.data[i] = how == "prod" ? 1 : how == "amax" ? -inf : how == "amin" ? inf : 0;
  scattered(out, a.integer(1, 0), a.tensor(2), a.tensor(3), [&](double& to, double v) {
    to = how == "prod" ? to * v : how == "amax" ? std::max(to, v) : how == "amin" ? std::min(to, v) : to + v;
  });
  const bool whole = is_integer(a.tensor(0).dtype);
  if (how == "mean")
    for (size_t i = 0; i < out.data.size(); i++) {
      out.data[i] /= std::max(1.0, hits.data[i] + (a.flag(5, true) ? 1 : 0));
      if (whole) out.data[i] = std::floor(out.data[i]);
    }
  return {out};
}
// Slices of out along a dim, with those of src.
template <class F>
Arrays by_slices(const Arguments& a, F f) {
  Array out = a.tensor(0);
  const size_t dim = axis_of(a.integer(1, 0), out.shape.size());
  const Array& src = a.tensor(3);
  Ints shape = out.shape;
  shape[dim] = count(a.tensor(2).shape);
  each_index(shape, [&](const Ints& i) {
    Ints to = i;
    to[dim] = static_cast<int64_t>(a.tensor(2).data[static_cast<size_t>(i[dim])]);
    f(out.data[place(out.shape, to)], src.shape.empty() ? src.data[0] : at(src, i));
  });
  return {out};
}
Arrays select_scatter(const Arguments& a) {
  Array out = a.tensor(0);
  const size_t dim = axis_of(a.integer(2, 0), out.shape.size());
  const int64_t index = a.integer(3, 0) < 0 ? a.integer(3, 0) + out.shape[dim] : a.integer(3, 0);
  size_t next = 0;
  each_index(out.shape, [&](const Ints& i) {
    if (i[dim] == index) out.data[place(out.shape, i)] = a.tensor(1).data[next++];
  });
  return {out};
}
Arrays slice_scatter(const Arguments& a) {
  Array out = a.tensor(0);
  const size_t dim = axis_of(a.integer(2, 0), out.shape.size());
  const int64_t n = out.shape[dim], step = a.integer(5, 1);
  const auto bound = [&](int64_t v) { return std::clamp<int64_t>(v < 0 ? v + n : v, 0, n); };
  const int64_t start = bound(a.integer(3, 0)), end = bound(a.integer(4, n));
  size_t next = 0;
  each_index(out.shape, [&](const Ints& i) {
    if (i[dim] >= start && i[dim] < end && (i[dim] - start) % step == 0) out.data[place(out.shape, i)] = a.tensor(1).data[next++];
  });
  return {out};
}
Arrays masked_scatter(const Arguments& a) {
  Array out = a.tensor(0);
  size_t next = 0;
  each_index(out.shape, [&](const Ints& i) {
    if (broadcast_at(a.tensor(1), i) != 0) out.data[place(out.shape, i)] = a.tensor(2).data[next++];
  });
  return {out};
}
Arrays take_along_dim(const Arguments& a) {
  const Array &x = a.tensor(0), &index = a.tensor(1);
  if (!a.has(2)) return {make({count(index.shape)}, [&](const Ints& i) { return x.data[static_cast<size_t>(index.data[static_cast<size_t>(i[0])])]; })};
  const size_t dim = axis_of(a.integer(2, 0), x.shape.size());
  Ints shape = broadcast_shape(x.shape, index.shape);
  shape[dim] = index.shape[dim];
  return {make(shape, [&](const Ints& i) {
    Ints from = i;
    from[dim] = static_cast<int64_t>(broadcast_at(index, i));
    return broadcast_at(x, from);
  })};
}
Arrays take(const Arguments& a) {
  return {make(a.tensor(1).shape, [&](const Ints& i) {
    const int64_t n = count(a.tensor(0).shape), at = index_at(a.tensor(1), i);
    return a.tensor(0).data[static_cast<size_t>(at < 0 ? at + n : at)];
  })};
}

constexpr OracleRow kRows[] = {
    {"scatter", scatter},
    {"scatter_reduce", scatter_reduce},
    {"prims.scatter_reduce", scatter_reduce},
    {"index_copy", [](const Arguments& a) { return by_slices(a, [](double& to, double v) { to = v; }); }},
    {"index_add", [](const Arguments& a) { return by_slices(a, [&](double& to, double v) { to += a.number(4, 1) * v; }); }},
    {"index_fill", [](const Arguments& a) { return by_slices(a, [](double& to, double v) { to = v; }); }},
    {"select_scatter", select_scatter},
    {"slice_scatter", slice_scatter},
    {"masked_scatter", masked_scatter},
    {"take", take},
    {"take_along_dim", take_along_dim},
};

}  // namespace

std::span<const OracleRow> scatter_oracles() { return kRows; }

}  // namespace thunder::battery
