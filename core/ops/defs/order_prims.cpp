// What looks at the order of the elements of a line: sort, the commonest value, and places in a sorted sequence.
#include <algorithm>
#include <numeric>

#include "ops/lines.h"
#include "ops/tables.h"

namespace thunder {
namespace {

// The elements of a line in order, each with its place in the line; equal ones as they were.
template <class C>
using Order = std::vector<std::pair<C, int64_t>>;
template <class C, class T>
void put_in_order(Order<C>& order, const Line<T>& line, bool descending) {
  order.clear();
  for (int64_t j = 0; j < line.size; j++) order.emplace_back(static_cast<C>(line[j]), j);
  if (descending)
    std::stable_sort(order.begin(), order.end(), [](auto& a, auto& b) { return precedes(b.first, a.first); });
  else std::stable_sort(order.begin(), order.end(), [](auto& a, auto& b) { return precedes(a.first, b.first); });
}

// ---- sort ----

void sort_meta(const Call& c, Types& out) {
  TensorType t = c.type(0);
  c.axis(1, t.rank());
  out.push(t);
  t.dtype = DType::i64;
  out.push(t);
}
Status* sort_kernel(const Kernel& k) {
  const Buffer &in = k.in[0], &values = k.out[0], &indices = k.out[1];
  const size_t axis = normalize_axis(k.args[1].i, static_cast<size_t>(in.rank));
  const bool descending = k.args[2].i;
  by_dtype(in.dtype, [&](auto t) {
    using T = decltype(t);
    using C = Compute<T>;
    Order<C> order;
    each_line(in, values, indices, axis, false, [&](int64_t from, int64_t v, int64_t i) {
      const auto line = line_at<const T>(in, axis, from);
      put_in_order(order, line, descending);
      const auto to = line_at<T>(values, axis, v);
      const auto places = line_at<int64_t>(indices, axis, i);
      for (int64_t j = 0; j < line.size; j++)
        to[j] = static_cast<T>(order[static_cast<size_t>(j)].first), places[j] = order[static_cast<size_t>(j)].second;
    });
  });
  return nullptr;
}

// ---- mode ----

void mode_meta(const Call& c, Types& out) {
  TensorType t = c.type(0);
  const size_t axis = c.axis(1, t.rank());
  c.require(t.rank() == 0 || !(t.shape[axis] == Dim(0)), "dim ", c.integer(1), " of ", name(t), " has no elements");
  if (t.rank()) t.shape[axis] = 1;
  out.push(t);
  t.dtype = DType::i64;
  out.push(t);
}
// The least of the commonest values, at its last place.
Status* mode_kernel(const Kernel& k) {
  const Buffer &in = k.in[0], &values = k.out[0], &indices = k.out[1];
  const size_t axis = normalize_axis(k.args[1].i, static_cast<size_t>(in.rank));
  by_dtype(in.dtype, [&](auto t) {
    using T = decltype(t);
    using C = Compute<T>;
    Order<C> order;
    each_line(in, values, indices, axis, false, [&](int64_t from, int64_t v, int64_t i) {
      put_in_order(order, line_at<const T>(in, axis, from), false);
      size_t best = 0, longest = 0, run = 0;
      for (size_t j = 0; j < order.size(); j++) {
        run = j && order[j].first == order[j - 1].first ? run + 1 : 1;
        if (run > longest) longest = run, best = j;
      }
      values.as<T>()[v] = static_cast<T>(order[best].first), indices.as<int64_t>()[i] = order[best].second;
    });
  });
  return nullptr;
}

// ---- searchsorted ----

void searchsorted_meta(const Call& c, Types& out) {
  const TensorType &sorted = c.type(0), &x = c.type(1);
  c.require(sorted.dtype == x.dtype && sorted.device == x.device, "operands must have one dtype; ", c.types());
  bool fits = sorted.rank() == 1 || sorted.rank() == x.rank();
  for (size_t i = 0; fits && sorted.rank() > 1 && i + 1 < x.rank(); i++) fits = sorted.shape[i] == x.shape[i];
  c.require(fits && sorted.rank() >= 1,
            "sorted_sequence must be a vector, or agree with input in all but the last dim; ", c.types());
  TensorType t = x;
  t.dtype = DType::i64;
  out.push(t);
}
Status* searchsorted_kernel(const Kernel& k) {
  const Buffer &sorted = k.in[0], &in = k.in[1], &out = k.out[0];
  const bool right = k.args[2].i, shared = sorted.rank == 1;
  by_dtype(in.dtype, [&](auto t) {
    using T = decltype(t);
    using C = Compute<T>;
    const auto place = [&](const Line<const T>& line, T wanted) {
      int64_t low = 0, high = line.size;
      while (low < high) {
        const int64_t middle = (low + high) / 2;
        const C at = static_cast<C>(line[middle]), v = static_cast<C>(wanted);
        if (right ? !precedes(v, at) : precedes(at, v)) low = middle + 1;
        else high = middle;
      }
      return low;
    };
    if (shared) {
      const auto line = line_at<const T>(sorted, 0, 0);
      each<T, int64_t>(Kernel{std::span(&in, 1), k.out, k.args}, [&](T v) { return place(line, v); });
      return;
    }
    const auto axis = static_cast<size_t>(in.rank) - 1;
    const Reshaped lines = without_axis(sorted, axis), from = without_axis(in, axis), to = without_axis(out, axis);
    Rows<3> rows(from.buffer, {&from.buffer, &to.buffer, &lines.buffer});
    for (int64_t r = 0; r < rows.rows(); r++, rows.next())
      for (int64_t i = 0; i < rows.row(); i++) {
        const auto wanted = line_at<const T>(in, axis, rows.offset[0] + i * rows.step[0]);
        const auto found = line_at<int64_t>(out, axis, rows.offset[1] + i * rows.step[1]);
        const auto line = line_at<const T>(sorted, axis, rows.offset[2] + i * rows.step[2]);
        for (int64_t j = 0; j < wanted.size; j++) found[j] = place(line, wanted[j]);
      }
  });
  return nullptr;
}

constexpr OpRow kRows[] = {
    checked(
        {.schema = "prims.sort(tensor input, int dim, bool descending) -> (tensor, tensor)",
         .doc =
             "The elements along dim in order, and where they were; equal ones stay as they are, NaN is the greatest.",
         .meta = sort_meta,
         .reference = sort_kernel,
         .vjp = picked_vjp}),
    checked({.schema = "prims.mode(tensor input, int dim) -> (tensor, tensor)",
             .doc = "The commonest value along dim, of several the least, and its last place; dim stays with size 1.",
             .meta = mode_meta,
             .reference = mode_kernel,
             .vjp = picked_vjp}),
    checked({.schema = "prims.searchsorted(tensor sorted_sequence, tensor input, bool right) -> tensor",
             .doc = "Where each element would have to be put in to keep the sequence in order.",
             .meta = searchsorted_meta,
             .reference = searchsorted_kernel,
             .nondiff = "the result is an index"}),
};

}  // namespace

void register_order_prims(Registry& r) {
  for (auto& row : kRows) r.add(row);
}

}  // namespace thunder
