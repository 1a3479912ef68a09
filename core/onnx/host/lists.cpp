// Values whose elements stay in their order, lists put together, and sums.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/text.h"
#include "onnx/host/host.h"

namespace thunder::onnx {
namespace {

bool give_reshaped(Node& n, const Host& from, const Sizes& shape) {
  if (host_elements(shape) != static_cast<int64_t>(from.size())) return false;
  auto h = std::make_shared<Host>(from);
  h->shape = shape;
  n.give(HostRef(std::move(h)));
  return true;
}

// The axes of squeeze and unsqueeze: an attribute before opset 13.
bool axes_of(Node& n, std::vector<int64_t>& axes) {
  if (n.opset < 13) return axes = n.integers("axes"), true;
  return !n.has(1) || known_list(n.known(1), axes);
}

template <class Whole, class Real>
bool reduce(Node& n, int64_t first, Whole&& whole, Real&& real) {
  if (!all_known(n)) return false;
  const Host& a = *n.known(0);
  std::vector<int64_t> axes = n.list("axes", 1, n.name() == "ReduceSum" ? 13 : 18);
  const size_t rank = a.shape.size();
  std::vector<bool> reduced(rank, axes.empty() && !n.flag("noop_with_empty_axes"));
  for (int64_t axis : axes) reduced[dim_at(axis, rank)] = true;
  Sizes shape;
  for (size_t d = 0; d < rank; d++)
    if (!reduced[d])
      shape.push_back(a.shape[d]);
    else if (n.flag("keepdims", true))
      shape.push_back(1);
  auto h = std::make_shared<Host>();
  h->dtype = a.dtype, h->shape = shape;
  const auto count = static_cast<size_t>(host_elements(shape));
  if (h->holds_reals())
    h->reals.assign(count, static_cast<double>(first));
  else
    h->ints.assign(count, first);
  std::vector<int64_t> index(rank, 0);
  for (size_t i = 0; i < a.size(); i++) {
    size_t to = 0;
    for (size_t d = 0; d < rank; d++)
      if (!reduced[d]) to = to * static_cast<size_t>(a.shape[d]) + static_cast<size_t>(index[d]);
    if (h->holds_reals())
      h->reals[to] = round_to_dtype(real(h->reals[to], a.reals[i]), h->dtype);
    else
      h->ints[to] = wrap_to_dtype(whole(h->ints[to], a.ints[i]), h->dtype);
    for (size_t d = rank; d-- > 0;) {
      if (++index[d] < a.shape[d]) break;
      index[d] = 0;
    }
  }
  n.give(HostRef(std::move(h)));
  return true;
}

}  // namespace

bool host_identity(Node& n) {
  if (!all_known(n)) return false;
  n.give(n.value(0));
  return true;
}

bool host_concat(Node& n) {
  if (!all_known(n)) return false;
  const Host& first = *n.known(0);
  const size_t rank = first.shape.size();
  if (rank == 0) return false;
  const size_t axis = dim_at(n.integer("axis", 1), rank);
  Sizes shape = first.shape;
  shape[axis] = 0;
  for (size_t i = 0; i < n.inputs(); i++) {
    const Host& h = *n.known(i);
    n.require(h.dtype == first.dtype && h.shape.size() == rank, "its inputs are of different dtypes or ranks");
    for (size_t d = 0; d < rank; d++)
      n.require(d == axis || h.shape[d] == first.shape[d], "its inputs differ in dim ", d);
    shape[axis] += h.shape[axis];
  }
  if (host_elements(shape) < 0) return false;
  auto all = std::make_shared<Host>();
  all->dtype = first.dtype, all->shape = shape;
  const int64_t outer = std::accumulate(shape.begin(), shape.begin() + axis, int64_t{1}, std::multiplies<>());
  for (int64_t o = 0; o < outer; o++)
    for (size_t i = 0; i < n.inputs(); i++) {
      const Host& h = *n.known(i);
      const auto part = static_cast<ptrdiff_t>(outer ? static_cast<int64_t>(h.size()) / outer : 0), from = o * part;
      if (h.holds_reals())
        all->reals.insert(all->reals.end(), h.reals.begin() + from, h.reals.begin() + from + part);
      else
        all->ints.insert(all->ints.end(), h.ints.begin() + from, h.ints.begin() + from + part);
    }
  n.give(HostRef(std::move(all)));
  return true;
}

bool host_reshape(Node& n) {
  std::vector<int64_t> wanted;
  if (!n.known(0) || n.inputs() < 2 || !known_list(n.known(1), wanted)) return false;
  const Host& from = *n.known(0);
  Sizes shape;
  int64_t known = 1, open = -1;
  for (size_t d = 0; d < wanted.size(); d++) {
    int64_t size = wanted[d];
    if (size == 0 && !n.flag("allowzero")) size = d < from.shape.size() ? from.shape[d] : 0;
    if (size == -1)
      open = static_cast<int64_t>(d);
    else
      known *= size;
    if (size < -1 || known > kMostHostElements) return false;
    shape.push_back(size);
  }
  if (open >= 0) shape[static_cast<size_t>(open)] = known ? static_cast<int64_t>(from.size()) / known : 0;
  return give_reshaped(n, from, shape);
}

bool host_flatten(Node& n) {
  if (!n.known(0)) return false;
  const Host& from = *n.known(0);
  const int64_t rank = static_cast<int64_t>(from.shape.size()), given = n.integer("axis", 1);
  const auto axis = static_cast<size_t>(given < 0 ? given + rank : given);
  if (axis > from.shape.size()) return false;
  Sizes shape = {1, 1};
  for (size_t d = 0; d < from.shape.size(); d++) shape[d < axis ? 0 : 1] *= from.shape[d];
  return give_reshaped(n, from, shape);
}

bool host_squeeze(Node& n) {
  std::vector<int64_t> axes;
  if (!n.known(0) || !axes_of(n, axes)) return false;
  const Host& from = *n.known(0);
  const size_t rank = from.shape.size();
  std::vector<bool> gone(rank, false);
  for (int64_t a : axes) gone[dim_at(a, rank)] = true;
  Sizes shape;
  for (size_t d = 0; d < rank; d++) {
    const bool drop = axes.empty() ? from.shape[d] == 1 : gone[d];
    n.require(!drop || from.shape[d] == 1, "dim ", d, " has ", from.shape[d], " elements and cannot be squeezed");
    if (!drop) shape.push_back(from.shape[d]);
  }
  return give_reshaped(n, from, shape);
}

bool host_unsqueeze(Node& n) {
  std::vector<int64_t> axes;
  if (!n.known(0) || !axes_of(n, axes)) return false;
  const Host& from = *n.known(0);
  const size_t rank = from.shape.size() + axes.size();
  std::vector<bool> fresh(rank, false);
  for (int64_t a : axes) fresh[dim_at(a, rank)] = true;
  Sizes shape;
  for (size_t d = 0, old = 0; d < rank; d++) {
    n.require(fresh[d] || old < from.shape.size(), "its axes have one twice");
    shape.push_back(fresh[d] ? 1 : from.shape[old++]);
  }
  return give_reshaped(n, from, shape);
}

bool host_range(Node& n) {
  if (!all_known(n, 3)) return false;
  const Host &a = *n.known(0), &b = *n.known(1), &c = *n.known(2);
  if (a.holds_reals() || !a.constant() || !b.constant() || !c.constant() || a.size() * b.size() * c.size() != 1)
    return false;
  const int64_t start = a.ints[0].value(), limit = b.ints[0].value(), step = c.ints[0].value();
  n.require(step != 0, "its step is 0");
  const double count =
      std::max(0.0, std::ceil((static_cast<double>(limit) - static_cast<double>(start)) / static_cast<double>(step)));
  if (count > static_cast<double>(kMostHostElements)) return false;
  std::vector<Dim> list;
  for (int64_t i = 0; i < static_cast<int64_t>(count); i++) list.push_back(start + i * step);
  n.give(host_of(std::move(list), a.dtype));
  return true;
}

bool host_reduce_sum(Node& n) {
  return reduce(
      n, 0, [](Dim a, Dim b) { return a + b; }, [](double a, double b) { return a + b; });
}
bool host_reduce_prod(Node& n) {
  return reduce(
      n, 1, [](Dim a, Dim b) { return a * b; }, [](double a, double b) { return a * b; });
}

}  // namespace thunder::onnx
