// Oracles of ops whose results' shapes depend on values.
#include <algorithm>

#include "battery/oracle.h"

namespace thunder::battery {
namespace {

std::vector<Ints> places_of(const Array& x) {
  std::vector<Ints> places;
  each_index(x.shape, [&](const Ints& i) {
    if (at(x, i) != 0) places.push_back(i);
  });
  return places;
}
// A row for each place, the first `size` of them; rows of `filling` up to there.
Arrays rows_of(const Array& x, size_t size, double filling) {
  const std::vector<Ints> places = places_of(x);
  return {make({static_cast<int64_t>(size), static_cast<int64_t>(x.shape.size())}, [&](const Ints& i) {
    const auto row = static_cast<size_t>(i[0]);
    return row < places.size() ? static_cast<double>(places[row][static_cast<size_t>(i[1])]) : filling;
  })};
}
Arrays nonzero(const Arguments& a) { return rows_of(a.tensor(0), places_of(a.tensor(0)).size(), 0); }
Arrays nonzero_static(const Arguments& a) {
  return rows_of(a.tensor(0), static_cast<size_t>(a.integer(1, 0)), a.number(2, -1));
}
Arrays nonzero_numpy(const Arguments& a) {
  Array x = a.tensor(0);
  if (x.shape.empty()) x.shape = {1};
  const std::vector<Ints> places = places_of(x);
  Arrays out;
  for (size_t d = 0; d < x.shape.size(); d++)
    out.push_back(make({static_cast<int64_t>(places.size())},
                       [&](const Ints& i) { return static_cast<double>(places[static_cast<size_t>(i[0])][d]); }));
  return out;
}

Arrays masked_select(const Arguments& a) {
  Array out;
  each_index(broadcast_shape(a.tensor(0).shape, a.tensor(1).shape), [&](const Ints& i) {
    if (broadcast_at(a.tensor(1), i) != 0) out.data.push_back(broadcast_at(a.tensor(0), i));
  });
  out.shape = {static_cast<int64_t>(out.data.size())};
  return {out};
}

// The entries along `dim`, or the elements, each as its numbers in row-major order.
std::vector<std::vector<double>> entries_of(const Array& x, bool along, size_t dim) {
  std::vector<std::vector<double>> out(along ? static_cast<size_t>(x.shape[dim]) : 0);
  each_index(x.shape, [&](const Ints& i) {
    if (along) out[static_cast<size_t>(i[dim])].push_back(at(x, i));
    else out.push_back({at(x, i)});
  });
  return out;
}
Array unfolded(const std::vector<std::vector<double>>& entries, const Array& x, bool along, size_t dim) {
  Ints shape = along ? x.shape : Ints{0};
  shape[along ? dim : 0] = static_cast<int64_t>(entries.size());
  std::vector<size_t> next(entries.size(), 0);
  return make(shape, [&](const Ints& i) {
    const auto entry = static_cast<size_t>(i[along ? dim : 0]);
    return entries[entry][next[entry]++];
  });
}
Arrays distinct(const Arguments& a, size_t inverse, bool sorted) {
  const Array& x = a.tensor(0);
  const bool along = a.has(inverse + 2);
  const size_t dim = along ? axis_of(a.integer(inverse + 2, 0), x.shape.size()) : 0;
  const auto entries = entries_of(x, along, dim);
  std::vector<std::vector<double>> found;
  Array which, counts;
  if (sorted) {
    found = entries;
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    counts.data.assign(found.size(), 0);
  }
  for (const auto& entry : entries) {
    if (!sorted && (found.empty() || found.back() != entry)) found.push_back(entry), counts.data.push_back(0);
    const auto at =
        sorted ? static_cast<size_t>(std::find(found.begin(), found.end(), entry) - found.begin()) : found.size() - 1;
    which.data.push_back(static_cast<double>(at));
    counts.data[at]++;
  }
  which.shape = along ? Ints{x.shape[dim]} : x.shape;
  counts.shape = {static_cast<int64_t>(found.size())};
  Arrays out{unfolded(found, x, along, dim)};
  if (a.flag(inverse, false)) out.push_back(which);
  if (a.flag(inverse + 1, false)) out.push_back(counts);
  return out;
}

Arrays bincount(const Arguments& a) {
  Array out{{}, std::vector<double>(static_cast<size_t>(a.integer(2, 0)), 0), DType::none};
  const std::vector<double>& x = a.tensor(0).data;
  for (size_t i = 0; i < x.size(); i++) {
    const auto place = static_cast<size_t>(x[i]);
    if (place >= out.data.size()) out.data.resize(place + 1, 0);
    out.data[place] += a.has(1) ? a.tensor(1).data[i] : 1;
  }
  out.shape = {static_cast<int64_t>(out.data.size())};
  return {out};
}

Arrays sort_rows(const Arguments& a) {
  const auto rows = entries_of(a.tensor(0), true, 0);
  Array out{{static_cast<int64_t>(rows.size())}, {}, DType::none};
  for (size_t i = 0; i < rows.size(); i++) out.data.push_back(static_cast<double>(i));
  std::stable_sort(out.data.begin(), out.data.end(),
                   [&](double i, double j) { return rows[static_cast<size_t>(i)] < rows[static_cast<size_t>(j)]; });
  return {out};
}

constexpr OracleRow kRows[] = {
    {"nonzero", nonzero},
    {"argwhere", nonzero},
    {"nonzero_numpy", nonzero_numpy},
    {"nonzero_static", nonzero_static},
    {"prims.nonzero", nonzero_static},
    {"prims.sort_rows", sort_rows},
    {"masked_select", masked_select},
    {"unique", [](const Arguments& a) { return distinct(a, 2, true); }},
    {"unique_consecutive", [](const Arguments& a) { return distinct(a, 1, false); }},
    {"bincount", bincount},
};

}  // namespace

std::span<const OracleRow> nonzero_oracles() { return kRows; }

}  // namespace thunder::battery
