// Oracles of ops that move elements without computing on them.
#include <algorithm>

#include "battery/oracle.h"

namespace thunder::battery {
namespace {

Arrays same(const Arguments& a) { return {a.tensor(0)}; }
Arrays second(const Arguments& a) { return {a.tensor(1)}; }
Arrays under(const Array& x, Ints shape) { return {Array{std::move(shape), x.data, DType::none}}; }

Arrays reshape(const Arguments& a) {
  const Array& x = a.tensor(0);
  Ints shape = a.ints(1);
  int64_t known = 1;
  for (int64_t d : shape)
    if (d != -1) known *= d;
  for (int64_t& d : shape)
    if (d == -1) d = count(x.shape) / known;
  return under(x, shape);
}
Arrays flatten(const Arguments& a) {
  const Array& x = a.tensor(0);
  if (x.shape.empty()) return under(x, {1});
  const size_t first = axis_of(a.integer(1, 0), x.shape.size()), last = axis_of(a.integer(2, -1), x.shape.size());
  Ints shape(x.shape.begin(), x.shape.begin() + static_cast<int64_t>(first));
  int64_t merged = 1;
  for (size_t d = first; d <= last; d++) merged *= x.shape[d];
  shape.push_back(merged);
  shape.insert(shape.end(), x.shape.begin() + static_cast<int64_t>(last) + 1, x.shape.end());
  return under(x, shape);
}
Array permuted(const Array& x, const std::vector<size_t>& order) {
  Ints shape;
  for (size_t d : order) shape.push_back(x.shape[d]);
  return make(shape, [&](const Ints& i) {
    Ints from(i.size());
    for (size_t d = 0; d < i.size(); d++) from[order[d]] = i[d];
    return at(x, from);
  });
}
Arrays permute(const Arguments& a) {
  std::vector<size_t> order;
  for (int64_t d : a.ints(1)) order.push_back(axis_of(d, a.tensor(0).shape.size()));
  return {permuted(a.tensor(0), order)};
}
Arrays transpose(const Arguments& a) {
  const size_t rank = a.tensor(0).shape.size();
  std::vector<size_t> order(rank);
  for (size_t d = 0; d < rank; d++) order[d] = d;
  if (rank) std::swap(order[axis_of(a.integer(1, 0), rank)], order[axis_of(a.integer(2, 0), rank)]);
  return {permuted(a.tensor(0), order)};
}
Arrays squeeze(const Arguments& a) {
  const Array& x = a.tensor(0);
  Ints shape;
  for (size_t d = 0; d < x.shape.size(); d++) {
    bool asked = !a.has(1);
    for (int64_t dim : a.ints(1)) asked |= axis_of(dim, x.shape.size()) == d;
    if (!(asked && x.shape[d] == 1)) shape.push_back(x.shape[d]);
  }
  return under(x, shape);
}
Arrays unsqueeze(const Arguments& a) {
  Ints shape = a.tensor(0).shape;
  shape.insert(shape.begin() + static_cast<int64_t>(axis_of(a.integer(1, 0), shape.size() + 1)), 1);
  return under(a.tensor(0), shape);
}
Arrays expand(const Arguments& a) {
  const Array& x = a.tensor(0);
  Ints shape = a.ints(1);
  const size_t added = shape.size() - x.shape.size();
  for (size_t d = 0; d < shape.size(); d++)
    if (shape[d] == -1) shape[d] = x.shape[d - added];
  return {make(shape, [&](const Ints& i) { return broadcast_at(x, i); })};
}

// ---- pieces and joins ----

Array sliced(const Array& x, const Ints& starts, const Ints& sizes, const Ints& steps) {
  return make(sizes, [&](const Ints& i) {
    Ints from = i;
    for (size_t d = 0; d < from.size(); d++) from[d] = starts[d] + i[d] * steps[d];
    return at(x, from);
  });
}
Array along(const Array& x, size_t dim, int64_t start, int64_t size, int64_t step = 1) {
  Ints starts(x.shape.size(), 0), sizes = x.shape, steps(x.shape.size(), 1);
  starts[dim] = start, sizes[dim] = size, steps[dim] = step;
  return sliced(x, starts, sizes, steps);
}
int64_t steps_between(int64_t start, int64_t end, int64_t step) { return end > start ? (end - start + step - 1) / step : 0; }
Arrays slice(const Arguments& a) {
  const Array& x = a.tensor(0);
  const size_t dim = axis_of(a.integer(1, 0), x.shape.size());
  const int64_t n = x.shape[dim];
  auto bound = [&](int64_t v) { return std::clamp<int64_t>(v < 0 ? v + n : v, 0, n); };
  const int64_t start = bound(a.integer(2, 0)), end = bound(a.integer(3, n)), step = a.integer(4, 1);
  return {along(x, dim, start, steps_between(start, end, step), step)};
}
Arrays prims_slice(const Arguments& a) {
  Ints sizes;
  for (size_t d = 0; d < a.ints(1).size(); d++) sizes.push_back(steps_between(a.ints(1)[d], a.ints(2)[d], a.ints(3)[d]));
  return {sliced(a.tensor(0), a.ints(1), sizes, a.ints(3))};
}
Arrays slice_scatter(const Arguments& a) {
  Array out = a.tensor(0);
  const Array& src = a.tensor(1);
  const Ints starts = a.ints(2), steps = a.ints(4);
  each_index(src.shape, [&](const Ints& i) {
    Ints to = i;
    for (size_t d = 0; d < to.size(); d++) to[d] = starts[d] + i[d] * steps[d];
    at(out, to) = at(src, i);
  });
  return {out};
}
Arrays select(const Arguments& a) {
  const Array& x = a.tensor(0);
  const size_t dim = axis_of(a.integer(1, 0), x.shape.size());
  const int64_t index = a.integer(2, 0);
  Array out = along(x, dim, index < 0 ? index + x.shape[dim] : index, 1);
  out.shape.erase(out.shape.begin() + static_cast<int64_t>(dim));
  return {out};
}
Arrays pieces(const Array& x, size_t dim, const Ints& sizes) {
  Arrays out;
  int64_t start = 0;
  for (int64_t n : sizes) {
    out.push_back(along(x, dim, start, n));
    start += n;
  }
  return out;
}
Ints even_sizes(int64_t n, int64_t size) {
  Ints sizes;
  for (int64_t at = 0; at < n; at += size) sizes.push_back(std::min(size, n - at));
  return sizes.empty() ? Ints{0} : sizes;
}
Arrays split(const Arguments& a) {
  const Array& x = a.tensor(0);
  const size_t dim = axis_of(a.integer(2, 0), x.shape.size());
  Ints sizes = a.ints(1);
  if (sizes.size() == 1) sizes = even_sizes(x.shape[dim], sizes[0]);
  return pieces(x, dim, sizes);
}
Arrays chunk(const Arguments& a) {
  const Array& x = a.tensor(0);
  const size_t dim = axis_of(a.integer(2, 0), x.shape.size());
  const int64_t n = x.shape[dim], chunks = a.integer(1, 1);
  if (n == 0) return pieces(x, dim, Ints(static_cast<size_t>(chunks), 0));
  return pieces(x, dim, even_sizes(n, (n + chunks - 1) / chunks));
}
Arrays cat(const Arguments& a) {
  Arrays parts;
  for (const Array& t : a.tensors(0))
    if (t.shape != Ints{0}) parts.push_back(t);
  if (parts.empty()) return {a.tensor(0)};
  Ints shape = parts[0].shape;
  const size_t dim = axis_of(a.integer(1, 0), shape.size());
  shape[dim] = 0;
  for (const Array& t : parts) shape[dim] += t.shape[dim];
  return {make(shape, [&](const Ints& i) {
    Ints from = i;
    size_t part = 0;
    while (from[dim] >= parts[part].shape[dim]) from[dim] -= parts[part++].shape[dim];
    return at(parts[part], from);
  })};
}
Arrays stack(const Arguments& a) {
  const Arrays& parts = a.tensors(0);
  Ints shape = parts[0].shape;
  const size_t dim = axis_of(a.integer(1, 0), shape.size() + 1);
  shape.insert(shape.begin() + static_cast<int64_t>(dim), static_cast<int64_t>(parts.size()));
  return {make(shape, [&](const Ints& i) {
    Ints from = i;
    from.erase(from.begin() + static_cast<int64_t>(dim));
    return at(parts[static_cast<size_t>(i[dim])], from);
  })};
}
Array padded(const Array& x, const Ints& low, const Ints& high, double value) {
  Ints shape = x.shape;
  for (size_t d = 0; d < shape.size(); d++) shape[d] += low[d] + high[d];
  return make(shape, [&](const Ints& i) {
    Ints from = i;
    for (size_t d = 0; d < from.size(); d++) {
      from[d] -= low[d];
      if (from[d] < 0 || from[d] >= x.shape[d]) return value;
    }
    return at(x, from);
  });
}
Array padded_from_inside(const Array& x, const Ints& low, const Ints& high, const std::string& mode) {
  Ints shape = x.shape;
  for (size_t d = 0; d < shape.size(); d++) shape[d] += low[d] + high[d];
  return make(shape, [&](Ints i) {
    for (size_t d = 0; d < i.size(); d++) {
      const int64_t n = x.shape[d];
      int64_t p = i[d] - low[d];
      if (mode == "replicate") p = std::clamp<int64_t>(p, 0, n - 1);
      else if (mode == "circular") {
        const int64_t first = std::max<int64_t>(-low[d], 0), left = n - first + std::min<int64_t>(high[d], 0);
        p = ((p - first) % left + left) % left + first;
      }
      else if (p < 0) p = -p;
      else if (p >= n) p = 2 * (n - 1) - p;
      i[d] = p;
    }
    return at(x, i);
  });
}
Arrays pad(const Arguments& a) {
  const size_t rank = a.tensor(0).shape.size();
  Ints low(rank, 0), high(rank, 0);
  const Ints pairs = a.ints(1);
  for (size_t p = 0; p < pairs.size() / 2; p++) low[rank - 1 - p] = pairs[2 * p], high[rank - 1 - p] = pairs[2 * p + 1];
  if (const std::string mode = a.text(2, "constant"); mode != "constant") return {padded_from_inside(a.tensor(0), low, high, mode)};
  return {padded(a.tensor(0), low, high, a.number(3, 0))};
}
Arrays prims_pad(const Arguments& a) { return {padded(a.tensor(0), a.ints(1), a.ints(2), a.number(3, 0))}; }
template <int sign>
Arrays triangle(const Arguments& a) {
  const Array& x = a.tensor(0);
  const int64_t diagonal = a.integer(1, 0);
  return {make(x.shape, [&](const Ints& i) {
    const int64_t above = i[i.size() - 1] - i[i.size() - 2] - diagonal;
    return above * sign <= 0 ? at(x, i) : 0.0;
  })};
}

constexpr OracleRow kRows[] = {
    {"reshape", reshape},       {"view", reshape},         {"prims.reshape", reshape},
    {"flatten", flatten},       {"permute", permute},      {"prims.permute", permute},
    {"transpose", transpose},   {"squeeze", squeeze},      {"unsqueeze", unsqueeze},
    {"expand", expand},         {"prims.expand", expand},  {"slice", slice},
    {"prims.slice", prims_slice}, {"prims.slice_scatter", slice_scatter}, {"select", select},
    {"split", split},           {"chunk", chunk},          {"cat", cat},
    {"prims.cat", cat},         {"stack", stack},          {"pad", pad},
    {"prims.pad", prims_pad},   {"tril", triangle<1>},     {"triu", triangle<-1>},
    {"contiguous", same},       {"clone", same},           {"to", same},
    {"detach", same},           {"stop_gradient", same},   {"prims.contiguous", same}, {"prims.optimization_barrier", same},
    {"prims.clone", same},       {"prims.alias", same},   {"prims.set_data", second},   {"prims.to_device", same},
};

}  // namespace

std::span<const OracleRow> shape_oracles() { return kRows; }

}  // namespace thunder::battery
