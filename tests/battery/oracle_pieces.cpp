// Oracles of ops that turn, repeat, cut and join tensors.
#include <algorithm>

#include "battery/oracle_loops.h"

namespace thunder::battery {
namespace {

Ints normalized(Ints dims, size_t rank) {
  for (int64_t& d : dims) d = static_cast<int64_t>(axis_of(d, rank));
  return dims;
}
Array flipped(const Array& x, const Ints& dims) {
  return make(x.shape, [&](Ints i) {
    for (int64_t d : normalized(dims, i.size())) i[static_cast<size_t>(d)] = x.shape[static_cast<size_t>(d)] - 1 - i[static_cast<size_t>(d)];
    return at(x, i);
  });
}
Arrays rot90(const Arguments& a) {
  const Ints dims = normalized(a.ints(2, {0, 1}), a.tensor(0).shape.size());
  Array x = a.tensor(0);
  // Turning once: transposed, then the first dim reversed.
  for (int64_t k = ((a.integer(1, 1) % 4) + 4) % 4; k > 0; k--)
    x = flipped(swapped(x, static_cast<size_t>(dims[0]), static_cast<size_t>(dims[1])), {dims[0]});
  return {x};
}
Arrays roll(const Arguments& a) {
  const Array& x = a.tensor(0);
  if (!a.has(2)) {
    const int64_t n = count(x.shape), by = a.ints(1)[0];
    Array out = x;
    for (int64_t i = 0; i < n; i++) out.data[static_cast<size_t>(((i + by) % n + n) % n)] = x.data[static_cast<size_t>(i)];
    return {out};
  }
  const Ints dims = normalized(a.ints(2), x.shape.size()), by = a.ints(1);
  return {make(x.shape, [&](Ints i) {
    for (size_t k = 0; k < dims.size(); k++) {
      const int64_t n = x.shape[static_cast<size_t>(dims[k])];
      int64_t& at = i[static_cast<size_t>(dims[k])];
      at = ((at - by[k]) % n + n) % n;
    }
    return at(x, i);
  })};
}
Arrays movedim(const Arguments& a) {
  const Array& x = a.tensor(0);
  const size_t rank = x.shape.size();
  if (!rank) return {x};
  const Ints from = normalized(a.ints(1), rank), to = normalized(a.ints(2), rank);
  std::vector<int64_t> order(rank, -1);
  for (size_t k = 0; k < from.size(); k++) order[static_cast<size_t>(to[k])] = from[k];
  for (size_t d = 0, next = 0; d < rank; d++) {
    if (order[d] >= 0) continue;
    while (std::find(from.begin(), from.end(), static_cast<int64_t>(next)) != from.end()) next++;
    order[d] = static_cast<int64_t>(next++);
  }
  Ints shape;
  for (int64_t d : order) shape.push_back(x.shape[static_cast<size_t>(d)]);
  return {make(shape, [&](const Ints& i) {
    Ints source(rank);
    for (size_t d = 0; d < rank; d++) source[static_cast<size_t>(order[d])] = i[d];
    return at(x, source);
  })};
}
Array repeated(const Array& x, Ints times) {
  while (times.size() < x.shape.size()) times.insert(times.begin(), 1);
  Ints own = x.shape, shape;
  own.insert(own.begin(), times.size() - own.size(), 1);
  for (size_t d = 0; d < own.size(); d++) shape.push_back(own[d] * times[d]);
  return make(shape, [&](Ints i) {
    for (size_t d = 0; d < own.size(); d++) i[d] %= own[d];
    return at(reshaped(x, own), i);
  });
}
Arrays repeat_interleave(const Arguments& a) {
  Array x = a.tensor(0);
  const bool numbers = !a.has(1);
  if (numbers) x = make(x.shape, [](const Ints& i) { return static_cast<double>(i[0]); });
  if (!a.has(2)) x = reshaped(x, {count(x.shape)});
  const size_t dim = axis_of(a.integer(2, 0), x.shape.size());
  const std::vector<double>& times = a.tensor(numbers ? 0 : 1).data;
  std::vector<int64_t> from;  // by place along dim of the result
  for (int64_t i = 0; i < x.shape[dim]; i++)
    for (double n = times[times.size() == 1 ? 0 : static_cast<size_t>(i)]; n > 0; n--) from.push_back(i);
  Ints shape = x.shape;
  shape[dim] = static_cast<int64_t>(from.size());
  return {make(shape, [&](Ints i) {
    i[dim] = from[static_cast<size_t>(i[dim])];
    return at(x, i);
  })};
}
Arrays unflatten(const Arguments& a) {
  const Array& x = a.tensor(0);
  Ints shape = x.shape, sizes = a.ints(2);
  const size_t dim = axis_of(a.integer(1, 0), shape.size());
  int64_t known = 1;
  for (int64_t d : sizes) known *= d < 0 ? 1 : d;
  for (int64_t& d : sizes)
    if (d < 0) d = shape[dim] / known;
  shape.erase(shape.begin() + static_cast<int64_t>(dim));
  shape.insert(shape.begin() + static_cast<int64_t>(dim), sizes.begin(), sizes.end());
  return {reshaped(x, shape)};
}
Arrays unbind(const Arguments& a) {
  const size_t dim = axis_of(a.integer(1, 0), a.tensor(0).shape.size());
  Arrays out;
  for (int64_t i = 0; i < a.tensor(0).shape[dim]; i++) {
    out.push_back(part(a.tensor(0), dim, i, i + 1));
    out.back().shape.erase(out.back().shape.begin() + static_cast<int64_t>(dim));
  }
  return out;
}
Arrays unfold(const Arguments& a) {
  const Array& x = a.tensor(0);
  const size_t dim = axis_of(a.integer(1, 0), x.shape.size());
  const int64_t size = a.integer(2, 1), step = a.integer(3, 1);
  Ints shape = x.shape;
  shape[dim] = (shape[dim] - size) / step + 1;
  shape.push_back(size);
  return {make(shape, [&](Ints i) {
    const int64_t inside = i.back();
    i.pop_back();
    i[dim] = i[dim] * step + inside;
    return at(x, i);
  })};
}
Arrays cut(const Array& x, const Ints& given, size_t dim) {
  const int64_t n = x.shape[dim];
  Ints cuts = given;
  if (given.size() == 1) {
    cuts.clear();
    int64_t at = 0;
    for (int64_t i = 0; i + 1 < given[0]; i++) cuts.push_back(at += n / given[0] + (i < n % given[0]));
  }
  Arrays out;
  int64_t start = 0;
  cuts.push_back(n);
  for (int64_t end : cuts) out.push_back(part(x, dim, start, end)), start = end;
  return out;
}
template <size_t dim>
Arrays cut_along(const Arguments& a) {
  return cut(a.tensor(0), a.ints(1), dim);
}

Array at_least(const Array& x, size_t rank) {
  Ints s = x.shape;
  while (s.size() < std::min<size_t>(rank, 2)) s.insert(s.begin(), 1);
  if (rank == 3 && s.size() < 3) {
    if (x.shape.empty()) s = {1, 1, 1};
    else s.push_back(1);
  }
  return reshaped(x, s);
}
Arrays joined(Arrays parts, size_t dim) {
  if (parts[0].shape.size() == 1) dim = 0;
  Ints shape = parts[0].shape;
  shape[dim] = 0;
  for (const Array& p : parts) shape[dim] += p.shape[dim];
  return {make(shape, [&](Ints i) {
    size_t k = 0;
    while (i[dim] >= parts[k].shape[dim]) i[dim] -= parts[k++].shape[dim];
    return at(parts[k], i);
  })};
}
template <size_t rank, size_t dim>
Arrays stacked(const Arguments& a) {
  Arrays parts;
  for (const Array& x : a.tensors(0)) parts.push_back(at_least(x, rank));
  return joined(parts, dim);
}
Arrays column_stack(const Arguments& a) {
  Arrays parts;
  for (const Array& x : a.tensors(0)) parts.push_back(x.shape.size() < 2 ? reshaped(x, {count(x.shape), 1}) : x);
  return joined(parts, 1);
}
Arrays broadcast_tensors(const Arguments& a) {
  Ints shape;
  for (const Array& x : a.tensors(0)) shape = broadcast_shape(shape, x.shape);
  Arrays out;
  for (const Array& x : a.tensors(0)) out.push_back(make(shape, [&](const Ints& i) { return broadcast_at(x, i); }));
  return out;
}
Arrays meshgrid(const Arguments& a) {
  const Arrays& parts = a.tensors(0);
  const bool xy = a.text(1, "ij") == "xy" && parts.size() > 1;
  Ints shape;
  for (const Array& x : parts) shape.push_back(count(x.shape));
  if (xy) std::swap(shape[0], shape[1]);
  Arrays out;
  for (size_t k = 0; k < parts.size(); k++) {
    const size_t along = xy && k < 2 ? 1 - k : k;
    out.push_back(make(shape, [&](const Ints& i) { return parts[k].data[static_cast<size_t>(i[along])]; }));
  }
  return out;
}

constexpr OracleRow kRows[] = {
    {"movedim", movedim},
    {"flip", [](const Arguments& a) { return Arrays{flipped(a.tensor(0), a.ints(1))}; }},
    {"fliplr", [](const Arguments& a) { return Arrays{flipped(a.tensor(0), {1})}; }},
    {"flipud", [](const Arguments& a) { return Arrays{flipped(a.tensor(0), {0})}; }},
    {"roll", roll},
    {"rot90", rot90},
    {"repeat", [](const Arguments& a) { return Arrays{repeated(a.tensor(0), a.ints(1))}; }},
    {"tile", [](const Arguments& a) { return Arrays{repeated(a.tensor(0), a.ints(1))}; }},
    {"repeat_interleave", repeat_interleave},
    {"unflatten", unflatten},
    {"unbind", unbind},
    {"unfold", unfold}, {"prims.unfold", unfold},
    {"tensor_split", [](const Arguments& a) { return cut(a.tensor(0), a.ints(1), axis_of(a.integer(2, 0), a.tensor(0).shape.size())); }},
    {"hsplit", cut_along<1>},
    {"vsplit", cut_along<0>},
    {"dsplit", cut_along<2>},
    {"atleast_1d", [](const Arguments& a) { return Arrays{at_least(a.tensor(0), 1)}; }},
    {"atleast_2d", [](const Arguments& a) { return Arrays{at_least(a.tensor(0), 2)}; }},
    {"atleast_3d", [](const Arguments& a) { return Arrays{at_least(a.tensor(0), 3)}; }},
    {"hstack", stacked<1, 1>},
    {"vstack", stacked<2, 0>},
    {"dstack", stacked<3, 2>},
    {"column_stack", column_stack},
    {"broadcast_tensors", broadcast_tensors},
    {"meshgrid", meshgrid},
};

}  // namespace

std::span<const OracleRow> piece_oracles() { return kRows; }

}  // namespace thunder::battery
