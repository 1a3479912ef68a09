#include <algorithm>

#include "base/text.h"
#include "onnx/host/host.h"
#include "onnx/slices.h"

namespace thunder::onnx {
namespace {

// Fills a result of this shape with the places that `f` returns for each index.
template <class F>
bool give_gathered(Node& n, const Host& from, const Sizes& shape, F&& f) {
  const int64_t count = host_elements(shape);
  if (count < 0) return false;
  std::vector<int64_t> places;
  std::vector<int64_t> index(shape.size(), 0);
  for (int64_t i = 0; i < count; i++) {
    places.push_back(f(index));
    for (size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
  n.give(gather_elements(from, shape, places));
  return true;
}

std::vector<int64_t> strides_of(const Sizes& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  return strides;
}

}  // namespace

bool host_gather(Node& n) {
  if (!all_known(n, 2) || !n.known(1)->constant()) return false;
  const Host &from = *n.known(0), &index = *n.known(1);
  if (from.shape.empty()) return false;
  const size_t axis = dim_at(n.integer("axis", 0), from.shape.size());
  const int64_t size = from.shape[axis];
  Sizes shape(from.shape.begin(), from.shape.begin() + axis);
  for (int64_t d : index.shape) shape.push_back(d);
  for (size_t d = axis + 1; d < from.shape.size(); d++) shape.push_back(from.shape[d]);
  const std::vector<int64_t> strides = strides_of(from.shape), inner = strides_of(index.shape);
  for (Dim d : index.ints)
    n.require(d.value() >= -size && d.value() < size, "index ", d.value(), " of dim ", axis, ", which has ", size);
  return give_gathered(n, from, shape, [&](const std::vector<int64_t>& at) {
    int64_t which = 0, place = 0;
    for (size_t d = 0; d < inner.size(); d++) which += at[axis + d] * inner[d];
    const int64_t row = index.ints[static_cast<size_t>(which)].value();
    for (size_t d = 0; d < axis; d++) place += at[d] * strides[d];
    place += (row < 0 ? row + size : row) * strides[axis];
    for (size_t d = axis + 1; d < strides.size(); d++) place += at[d - 1 + inner.size()] * strides[d];
    return place;
  });
}

bool host_slice(Node& n) {
  if (!n.known(0)) return false;
  const Host& from = *n.known(0);
  std::vector<Cut> cuts;
  if (!known_cuts(n, from.shape.size(), cuts)) return false;
  Sizes shape = from.shape;
  std::vector<int64_t> begin(shape.size(), 0), step(shape.size(), 1);
  for (const Cut& c : cuts) {
    // As many elements as a size says are data (positions), for any such size.
    if (!c.start.constant() || !c.end.constant()) return false;
    const CutRange r = range_of(c, from.shape[c.axis]);
    begin[c.axis] = r.begin, step[c.axis] = c.step, shape[c.axis] = r.count;
  }
  const std::vector<int64_t> strides = strides_of(from.shape);
  return give_gathered(n, from, shape, [&](const std::vector<int64_t>& at) {
    int64_t place = 0;
    for (size_t d = 0; d < strides.size(); d++) place += (begin[d] + at[d] * step[d]) * strides[d];
    return place;
  });
}

bool host_transpose(Node& n) {
  if (!n.known(0)) return false;
  const Host& from = *n.known(0);
  std::vector<int64_t> perm = n.integers("perm");
  const size_t rank = from.shape.size();
  if (perm.empty())
    for (size_t d = rank; d-- > 0;) perm.push_back(static_cast<int64_t>(d));
  if (perm.size() != rank) return false;
  const std::vector<int64_t> strides = strides_of(from.shape);
  Sizes shape;
  for (int64_t p : perm) shape.push_back(from.shape[dim_at(p, rank)]);
  return give_gathered(n, from, shape, [&](const std::vector<int64_t>& at) {
    int64_t place = 0;
    for (size_t d = 0; d < rank; d++) place += at[d] * strides[dim_at(perm[d], rank)];
    return place;
  });
}

bool host_expand(Node& n) {
  std::vector<int64_t> wanted;
  if (!n.known(0) || !known_list(n.known(1), wanted)) return false;
  const Host& from = *n.known(0);
  Shape a, b;
  for (int64_t d : from.shape) a.push_back(d);
  for (int64_t d : wanted) b.push_back(d);
  const Sizes shape = concrete(broadcast(a, b));
  const std::vector<int64_t> strides = strides_of(from.shape);
  const size_t fresh = shape.size() - from.shape.size();
  return give_gathered(n, from, shape, [&](const std::vector<int64_t>& at) {
    int64_t place = 0;
    for (size_t d = 0; d < strides.size(); d++) place += from.shape[d] == 1 ? 0 : at[d + fresh] * strides[d];
    return place;
  });
}

bool host_tile(Node& n) {
  std::vector<int64_t> repeats;
  if (!n.known(0) || !known_list(n.known(1), repeats)) return false;
  const Host& from = *n.known(0);
  if (repeats.size() != from.shape.size()) return false;
  Sizes shape;
  for (size_t d = 0; d < repeats.size(); d++) {
    if (repeats[d] < 0 || repeats[d] > kMostHostElements) return false;
    shape.push_back(from.shape[d] * repeats[d]);
  }
  const std::vector<int64_t> strides = strides_of(from.shape);
  return give_gathered(n, from, shape, [&](const std::vector<int64_t>& at) {
    int64_t place = 0;
    for (size_t d = 0; d < strides.size(); d++) place += at[d] % from.shape[d] * strides[d];
    return place;
  });
}

bool host_split(Node& n) {
  if (!n.known(0) || n.known(0)->shape.empty()) return false;
  const Host& from = *n.known(0);
  const size_t axis = dim_at(n.integer("axis", 0), from.shape.size());
  std::vector<int64_t> sizes;
  if (n.opset < 13)
    sizes = n.integers("split");
  else if (n.has(1) && !known_list(n.known(1), sizes))
    return false;
  sizes = split_sizes(n, from.shape[axis], sizes);
  const std::vector<int64_t> strides = strides_of(from.shape);
  int64_t first = 0;
  for (int64_t size : sizes) {
    Sizes shape = from.shape;
    shape[axis] = size;
    give_gathered(n, from, shape, [&](const std::vector<int64_t>& at) {
      int64_t place = first * strides[axis];
      for (size_t d = 0; d < strides.size(); d++) place += at[d] * strides[d];
      return place;
    });
    first += size;
  }
  return true;
}

bool host_constant_of_shape(Node& n) {
  std::vector<int64_t> wanted;
  if (!known_list(n.known(0), wanted)) return false;
  const Attribute* a = n.attribute("value");
  Host one;
  one.dtype = DType::f32, one.reals = {0};
  if (a) {
    n.require(a->tensors.size() == 1, "its attribute 'value' is no tensor");
    const Value v = n.import_constant(a->tensors[0]);
    if (!v.host || v.host->size() != 1) return false;
    one = *v.host;
  }
  Sizes shape;
  for (int64_t d : wanted) {
    n.require(d >= 0, "a size of ", d);
    shape.push_back(d);
  }
  return give_gathered(n, one, shape, [](auto&) { return 0; });
}

}  // namespace thunder::onnx
