// The prims below ops whose results' shapes depend on values: each is told how many there are.
#include <algorithm>
#include <numeric>

#include "ops/indices.h"

namespace thunder {
namespace {

// ---- nonzero ----

void nonzero_meta(const Call& c, Types& out) {
  TensorType t = c.type(0);
  const int64_t size = c.integer(1);
  c.require(size >= 0, "size must not be negative, got ", size);
  t.shape = Shape{size, static_cast<int64_t>(t.rank())};
  t.dtype = DType::i64;
  out.push(t);
}

// Writes the place of each element that is not zero, a row for each, until there are as many as asked for; then the
// filling.
template <class T>
void write_places(const Buffer& in, const Buffer& out, int64_t filling) {
  const auto rank = static_cast<size_t>(in.rank);
  const int64_t line = rank ? in.shape[rank - 1] : 1, step = rank ? in.strides[rank - 1] : 0, size = out.shape[0];
  Sizes at(rank, 0);
  int64_t found = 0;
  const auto write = [&](auto place) {
    for (size_t d = 0; d < rank; d++)
      out.as<int64_t>()[found * out.strides[0] + static_cast<int64_t>(d) * out.strides[1]] = place(d);
    found++;
  };
  for (int64_t lines = line ? in.elements() / line : 0; lines > 0 && found < size; lines--) {
    const T* from = in.as<T>();
    for (size_t d = 0; d + 1 < rank; d++) from += at[d] * in.strides[d];
    for (int64_t i = 0; i < line && found < size; i++)
      if (static_cast<Compute<T>>(from[i * step]) != Compute<T>(0))
        write([&](size_t d) { return d + 1 == rank ? i : at[d]; });
    for (size_t d = rank; d-- > 1; at[d - 1] = 0)
      if (++at[d - 1] < in.shape[d - 1]) break;
  }
  while (found < size) write([&](size_t) { return filling; });
}
Status* nonzero_kernel(const Kernel& k) {
  by_dtype(k.in[0].dtype, [&](auto t) { write_places<decltype(t)>(k.in[0], k.out[0], k.args[2].i); });
  return nullptr;
}

// ---- sort_rows ----

void sort_rows_meta(const Call& c, Types& out) {
  TensorType t = c.type(0);
  c.require(t.rank() == 2, "input must have rank 2, got ", name(t));
  t.shape = Shape{t.shape[0]};
  t.dtype = DType::i64;
  out.push(t);
}
// NaN is the greatest number, as in prims.sort.
template <class C>
bool comes_before(C a, C b) {
  if constexpr (std::is_floating_point_v<C>) {
    if (a != a || b != b) return a == a && b != b;
  }
  return a < b;
}
Status* sort_rows_kernel(const Kernel& k) {
  const Buffer &in = k.in[0], &out = k.out[0];
  by_dtype(in.dtype, [&](auto t) {
    using T = decltype(t);
    std::vector<int64_t> order(static_cast<size_t>(in.shape[0]));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      for (int64_t i = 0; i < in.shape[1]; i++) {
        const Compute<T> x = in.as<T>()[a * in.strides[0] + i * in.strides[1]],
                         y = in.as<T>()[b * in.strides[0] + i * in.strides[1]];
        if (comes_before(x, y)) return true;
        if (comes_before(y, x)) return false;
      }
      return false;
    });
    for (size_t i = 0; i < order.size(); i++) out.as<int64_t>()[static_cast<int64_t>(i) * out.strides[0]] = order[i];
  });
  return nullptr;
}

// ---- samples ----

void nonzero_samples(Samples& s) {
  s.add({TensorSpec{{3, 4}, DType::i64, 0, 1}, 12, -1});
  s.add({TensorSpec{{2, 3, 2}, DType::boolean, 0, 1}, 3, 7});
  s.add({TensorSpec{{5}}, 5, 0});
  s.add({TensorSpec{{}}, 2, -1});
  s.refuse({TensorSpec{{5}}, -2, 0}, "size must not be negative, got -2");
}
void row_samples(Samples& s) {
  s.add({TensorSpec{{6, 3}, DType::i64, 0, 1}});
  s.add({TensorSpec{{4, 2}}});
  s.add({TensorSpec{{3, 0}}});
  s.refuse({TensorSpec{{3}}}, "rank 2");
}

constexpr OpRow kRows[] = {
    checked({.schema = "prims.nonzero(tensor input, int size, int fill_value) -> tensor",
             .doc = "The places of the first `size` elements that are not zero, a row for each in row-major order; "
                    "rows of fill_value where there are fewer.",
             .meta = nonzero_meta,
             .reference = nonzero_kernel,
             .nondiff = "the result is an index",
             .samples = nonzero_samples}),
    checked({.schema = "prims.sort_rows(tensor input) -> tensor",
             .doc = "The numbers of the rows of a matrix in lexicographic order; equal ones stay as they are, NaN is "
                    "the greatest.",
             .meta = sort_rows_meta,
             .reference = sort_rows_kernel,
             .nondiff = "the result is an index",
             .samples = row_samples}),
};

}  // namespace

void register_nonzero_prims(Registry& r) {
  for (auto& row : kRows) r.add(row);
}

}  // namespace thunder
