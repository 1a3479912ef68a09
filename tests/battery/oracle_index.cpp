// Oracles of ops that read or write where another tensor says.
#include <algorithm>

#include "battery/oracle.h"

namespace thunder::battery {
namespace {

int64_t wrapped(double index, int64_t n) {
  const auto i = static_cast<int64_t>(index);
  return i < 0 ? i + n : i;
}

Arrays gather(const Arguments& a) {
  const Array &x = a.tensor(0), &index = a.tensor(2);
  const size_t dim = axis_of(a.integer(1, 0), x.shape.size());
  return {make(index.shape, [&](const Ints& i) {
    Ints from = i;
    if (!from.empty()) from[dim] = static_cast<int64_t>(at(index, i));
    return at(x, from);
  })};
}
Arrays scatter_add(const Arguments& a) {
  Array out = a.tensor(0);
  const Array &index = a.tensor(2), &src = a.tensor(3);
  const size_t dim = axis_of(a.integer(1, 0), out.shape.size());
  each_index(index.shape, [&](const Ints& i) {
    Ints to = i;
    if (!to.empty()) to[dim] = static_cast<int64_t>(at(index, i));
    at(out, to) += at(src, i);
  });
  return {out};
}

// take: index's dims stand where dim was. Calls f(place in the input, place in the result) for each element.
template <class F>
Ints each_taken(const Ints& input, size_t dim, const Array& index, F f) {
  const auto d = static_cast<int64_t>(dim);
  Ints shape(input.begin(), input.begin() + d);
  shape.insert(shape.end(), index.shape.begin(), index.shape.end());
  shape.insert(shape.end(), input.begin() + d + 1, input.end());
  each_index(shape, [&](const Ints& i) {
    Ints from(i.begin(), i.begin() + d);
    const auto behind = i.begin() + d + static_cast<int64_t>(index.shape.size());
    from.push_back(static_cast<int64_t>(at(index, Ints(i.begin() + d, behind))));
    from.insert(from.end(), behind, i.end());
    f(from, i);
  });
  return shape;
}
Array taken(const Array& x, size_t dim, const Array& index) {
  Array out;
  out.shape = each_taken(x.shape, dim, index, [&](const Ints& from, const Ints&) { out.data.push_back(at(x, from)); });
  return out;
}
Arrays take(const Arguments& a) { return {taken(a.tensor(0), axis_of(a.integer(1, 0), a.tensor(0).shape.size()), a.tensor(2))}; }
Arrays take_add(const Arguments& a) {
  Array out = a.tensor(0);
  const Array& src = a.tensor(3);
  each_taken(a.tensor(0).shape, axis_of(a.integer(1, 0), out.shape.size()), a.tensor(2),
             [&](const Ints& to, const Ints& i) { at(out, to) += at(src, i); });
  return {out};
}
// A 0-d index keeps its dim, as one element.
Arrays index_select(const Arguments& a) {
  Array x = a.tensor(0), index = a.tensor(2);
  const bool scalar = x.shape.empty();
  if (scalar) x.shape = {1};
  if (index.shape.empty()) index.shape = {1};
  Array out = taken(x, axis_of(a.integer(1, 0), x.shape.size()), index);
  if (scalar) out.shape = {};
  return {out};
}
Arrays embedding(const Arguments& a) { return {taken(a.tensor(1), 0, a.tensor(0))}; }

// Several indices at once. Calls f(place in the input, place in the result).
template <class F>
Ints each_indexed(const Ints& input, const Arrays& indices, F f) {
  Ints common;
  for (const Array& t : indices) common = broadcast_shape(common, t.shape);
  Ints shape = common;
  const auto n = static_cast<int64_t>(indices.size());
  shape.insert(shape.end(), input.begin() + n, input.end());
  each_index(shape, [&](const Ints& i) {
    const Ints which(i.begin(), i.begin() + static_cast<int64_t>(common.size()));
    Ints from;
    for (size_t d = 0; d < indices.size(); d++) from.push_back(wrapped(broadcast_at(indices[d], which), input[d]));
    from.insert(from.end(), i.begin() + static_cast<int64_t>(common.size()), i.end());
    f(from, i);
  });
  return shape;
}
// Masks as the places where they hold, an array for each of their dims.
Arrays without_masks(const Arrays& indices) {
  Arrays out;
  for (const Array& index : indices) {
    if (index.dtype != DType::boolean) {
      out.push_back(index);
      continue;
    }
    for (size_t d = 0; d < index.shape.size(); d++) {
      Array& places = out.emplace_back();
      each_index(index.shape, [&](const Ints& i) {
        if (at(index, i) != 0) places.data.push_back(static_cast<double>(i[d]));
      });
      places.shape = {static_cast<int64_t>(places.data.size())};
    }
  }
  return out;
}
Arrays index(const Arguments& a) {
  Array out;
  out.shape = each_indexed(a.tensor(0).shape, without_masks(a.tensors(1)),
                           [&](const Ints& from, const Ints&) { out.data.push_back(at(a.tensor(0), from)); });
  return {out};
}
Arrays index_put(const Arguments& a) {
  Array out = a.tensor(0);
  const bool accumulate = a.flag(3, false);
  each_indexed(a.tensor(0).shape, without_masks(a.tensors(1)), [&](const Ints& to, const Ints& i) {
    const double v = broadcast_at(a.tensor(2), i);
    at(out, to) = accumulate ? at(out, to) + v : v;
  });
  return {out};
}
Arrays one_hot(const Arguments& a) {
  const Array& x = a.tensor(0);
  Ints shape = x.shape;
  int64_t classes = a.integer(1, -1);
  if (classes < 0)
    for (double v : x.data) classes = std::max(classes, static_cast<int64_t>(v) + 1);
  shape.push_back(classes);
  return {make(shape, [&](const Ints& i) { return at(x, Ints(i.begin(), i.end() - 1)) == static_cast<double>(i.back()) ? 1.0 : 0.0; })};
}

constexpr OracleRow kRows[] = {
    {"gather", gather},         {"prims.gather", gather}, {"scatter_add", scatter_add}, {"prims.scatter_add", scatter_add},
    {"prims.take", take},       {"prims.take_add", take_add}, {"index_select", index_select}, {"embedding", embedding},
    {"vocab_parallel_embedding", embedding},
    {"index", index},           {"prims.index", index},   {"index_put", index_put},     {"prims.index_put", index_put},
    {"one_hot", one_hot},
};

}  // namespace

std::span<const OracleRow> index_oracles() { return kRows; }

}  // namespace thunder::battery
