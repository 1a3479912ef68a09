// Oracles of regular numbers and diagonals, and of names whose arguments are arranged otherwise than their target's.
#include <algorithm>
#include <cmath>

#include "battery/oracle_loops.h"

namespace thunder::battery {
namespace {

// ---- regular numbers and diagonals ----

double spaced(const Arguments& a, int64_t i) {
  return a.integer(2, 2) < 2 ? a.number(0, 0) : a.number(0, 0) + (a.number(1, 0) - a.number(0, 0)) * static_cast<double>(i) / static_cast<double>(a.integer(2, 2) - 1);
}
Arrays triangle(const Arguments& a, bool lower) {
  std::vector<double> rows, columns;
  for (int64_t i = 0; i < a.integer(0, 0); i++)
    for (int64_t j = 0; j < a.integer(1, 0); j++)
      if (lower ? j <= i + a.integer(2, 0) : j >= i + a.integer(2, 0)) rows.push_back(static_cast<double>(i)), columns.push_back(static_cast<double>(j));
  Array out{{2, static_cast<int64_t>(rows.size())}, rows, DType::none};
  out.data.insert(out.data.end(), columns.begin(), columns.end());
  return {out};
}
Array diagonal(const Array& x, int64_t offset, int64_t dim1, int64_t dim2) {
  const size_t a = axis_of(dim1, x.shape.size()), b = axis_of(dim2, x.shape.size());
  const int64_t down = std::max<int64_t>(-offset, 0), right = std::max<int64_t>(offset, 0);
  Ints shape;
  for (size_t d = 0; d < x.shape.size(); d++)
    if (d != a && d != b) shape.push_back(x.shape[d]);
  shape.push_back(std::max<int64_t>(0, std::min(x.shape[a] - down, x.shape[b] - right)));
  return make(shape, [&](const Ints& i) {
    Ints source;
    for (size_t d = 0, next = 0; d < x.shape.size(); d++) source.push_back(d == a ? i.back() + down : d == b ? i.back() + right : i[next++]);
    return at(x, source);
  });
}
Array embedded(const Array& x, int64_t offset, int64_t dim1, int64_t dim2) {
  const int64_t n = x.shape.back() + std::abs(offset);
  const size_t rank = x.shape.size() + 1, a = axis_of(dim1, rank), b = axis_of(dim2, rank);
  Ints shape;
  for (size_t d = 0, next = 0; d < rank; d++) shape.push_back(d == a || d == b ? n : x.shape[next++]);
  return make(shape, [&](const Ints& i) {
    if (i[b] - i[a] != offset) return 0.0;
    Ints source;
    for (size_t d = 0; d < rank; d++)
      if (d != a && d != b) source.push_back(i[d]);
    source.push_back(std::min(i[a], i[b]));
    return at(x, source);
  });
}
Arrays filled(const Ints& shape, double v) {
  return {make(shape, [=](const Ints&) { return v; })};
}

constexpr OracleRow kRows[] = {
    {"eye", [](const Arguments& a) { return Arrays{make({a.integer(0, 0), a.integer(1, a.integer(0, 0))}, [](const Ints& i) { return i[0] == i[1] ? 1.0 : 0.0; })}; }},
    {"linspace", [](const Arguments& a) { return Arrays{make({a.integer(2, 0)}, [&](const Ints& i) { return spaced(a, i[0]); })}; }},
    {"logspace", [](const Arguments& a) { return Arrays{make({a.integer(2, 0)}, [&](const Ints& i) { return std::pow(a.number(3, 10), spaced(a, i[0])); })}; }},
    {"tril_indices", [](const Arguments& a) { return triangle(a, true); }},
    {"triu_indices", [](const Arguments& a) { return triangle(a, false); }},
    {"diagonal", [](const Arguments& a) { return Arrays{diagonal(a.tensor(0), a.integer(1, 0), a.integer(2, 0), a.integer(3, 1))}; }},
    {"prims.diagonal", [](const Arguments& a) { return Arrays{diagonal(a.tensor(0), a.integer(1, 0), a.integer(2, 0), a.integer(3, 1))}; }},
    {"diag_embed", [](const Arguments& a) { return Arrays{embedded(a.tensor(0), a.integer(1, 0), a.integer(2, -2), a.integer(3, -1))}; }},
    {"diag", [](const Arguments& a) {
       return Arrays{a.tensor(0).shape.size() == 1 ? embedded(a.tensor(0), a.integer(1, 0), -2, -1) : diagonal(a.tensor(0), a.integer(1, 0), 0, 1)};
     }},
    {"diagflat", [](const Arguments& a) { return Arrays{embedded(reshaped(a.tensor(0), {count(a.tensor(0).shape)}), a.integer(1, 0), -2, -1)}; }},
    {"new_zeros", [](const Arguments& a) { return filled(a.ints(1), 0); }},
    {"new_ones", [](const Arguments& a) { return filled(a.ints(1), 1); }},
    {"new_full", [](const Arguments& a) { return filled(a.ints(1), a.number(2, 0)); }},
    // Aliases whose arguments are others than the target's.
    {"clamp_min", [](const Arguments& a) {
       return Arrays{make(broadcast_shape(a.tensor(0).shape, a.tensor(1).shape), [&](const Ints& i) { return std::max(broadcast_at(a.tensor(0), i), broadcast_at(a.tensor(1), i)); })};
     }},
    {"clamp_max", [](const Arguments& a) {
       return Arrays{make(broadcast_shape(a.tensor(0).shape, a.tensor(1).shape), [&](const Ints& i) { return std::min(broadcast_at(a.tensor(0), i), broadcast_at(a.tensor(1), i)); })};
     }},
    {"expand_as", [](const Arguments& a) { return Arrays{make(a.tensor(1).shape, [&](const Ints& i) { return broadcast_at(a.tensor(0), i); })}; }},
    {"reshape_as", [](const Arguments& a) { return Arrays{reshaped(a.tensor(0), a.tensor(1).shape)}; }},
    {"view_as", [](const Arguments& a) { return Arrays{reshaped(a.tensor(0), a.tensor(1).shape)}; }},
    {"type_as", [](const Arguments& a) { return Arrays{a.tensor(0)}; }},
    {"ravel", [](const Arguments& a) { return Arrays{reshaped(a.tensor(0), {count(a.tensor(0).shape)})}; }},
    {"narrow", [](const Arguments& a) {
       const size_t dim = axis_of(a.integer(1, 0), a.tensor(0).shape.size());
       const int64_t start = a.integer(2, 0) < 0 ? a.integer(2, 0) + a.tensor(0).shape[dim] : a.integer(2, 0);
       return Arrays{part(a.tensor(0), dim, start, start + a.integer(3, 0))};
     }},
    {"t", [](const Arguments& a) { return Arrays{swapped(a.tensor(0), 0, 1)}; }},
    {"adjoint", [](const Arguments& a) { return Arrays{swapped(a.tensor(0), a.tensor(0).shape.size() - 2, a.tensor(0).shape.size() - 1)}; }},
};

}  // namespace

std::span<const OracleRow> number_oracles() { return kRows; }

}  // namespace thunder::battery
