// Prims of ops whose results' shapes depend on values: each gets the number of results as an argument.
#include <algorithm>
#include <array>
#include <bit>
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

// Which of n <= 64 elements are not zero, as bits.
template <class T>
uint64_t nonzero_bits(const T* from, int64_t step, int64_t n) {
  uint64_t bits = 0;
  for (int64_t i = 0; i < n; i++)
    bits |= static_cast<uint64_t>(static_cast<Compute<T>>(from[i * step]) != Compute<T>(0)) << i;
  return bits;
}
// Calls f(first element's number in its line, bits) for blocks of the lines begin .. end of the last dim, line by line
// after next_line(the line's place in the dims before).
template <class T, class L, class F>
void each_block(const Buffer& in, int64_t begin, int64_t end, L next_line, F f) {
  const auto rank = static_cast<size_t>(in.rank);
  const int64_t size = rank ? in.shape[rank - 1] : 1, step = rank ? in.strides[rank - 1] : 0;
  if (begin == end) return;
  Sizes at(rank, 0);
  for (size_t d = rank, rest = static_cast<size_t>(begin); d-- > 1; rest /= static_cast<size_t>(in.shape[d - 1]))
    at[d - 1] = static_cast<int64_t>(rest % static_cast<size_t>(in.shape[d - 1]));
  for (int64_t line = begin; line < end; line++) {
    const T* from = in.as<T>();
    for (size_t d = 0; d + 1 < rank; d++) from += at[d] * in.strides[d];
    next_line(at);
    for (int64_t i = 0; i < size; i += 64) f(i, nonzero_bits(from + i * step, step, std::min<int64_t>(64, size - i)));
    for (size_t d = rank; d-- > 1; at[d - 1] = 0)
      if (++at[d - 1] < in.shape[d - 1]) break;
  }
}
// A vector as lines of which there are enough for threads; what has more dims as it is.
struct Lines {
  explicit Lines(const Buffer& in)
      : view(in, Sizes(in.shape, in.shape + in.rank), Sizes(in.strides, in.strides + in.rank)) {
    constexpr int64_t kLine = 256;
    length = in.rank ? in.shape[in.rank - 1] : 1;
    if (in.rank != 1 || length == 0 || length % kLine) return;
    view.sizes = {length / kLine, kLine}, view.strides = {in.strides[0] * kLine, in.strides[0]};
    view.buffer.rank = 2, view.buffer.shape = view.sizes.data(), view.buffer.strides = view.strides.data();
    was_vector = true, length = kLine;
  }
  Reshaped view;
  int64_t length;
  bool was_vector = false;
};

// Writes the place of each element that is not zero, a row for each, until there are as many as asked for; then the
// filling. Chunks of lines count theirs first, so that each knows where its rows begin.
template <class T>
Status* write_places(const KernelArgs& k, int64_t filling) {
  constexpr int64_t kChunks = 16;
  const Buffer& out = k.out[0];
  const auto rank = static_cast<size_t>(k.in[0].rank);
  const Lines lines(k.in[0]);
  const Buffer& in = lines.view.buffer;
  const int64_t count = lines.length ? in.elements() / lines.length : 0, size = out.shape[0], work = in.elements();
  const auto begin_of = [&](int64_t chunk) { return count / kChunks * chunk + std::min(chunk, count % kChunks); };
  std::array<int64_t, kChunks + 1> rows{};
  const auto each_chunk = [&](auto body) {
    return in_parts(k, kChunks, work, [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; c++) body(c, begin_of(c), begin_of(c + 1));
    });
  };
  each_chunk([&](int64_t chunk, int64_t begin, int64_t end) {
    int64_t own = 0;
    each_block<T>(in, begin, end, [](const Sizes&) {}, [&](int64_t, uint64_t bits) { own += std::popcount(bits); });
    rows[static_cast<size_t>(chunk + 1)] = own;
  });
  for (size_t c = 1; c <= kChunks; c++) rows[c] += rows[c - 1];
  each_chunk([&](int64_t chunk, int64_t begin, int64_t end) {
    int64_t row = rows[static_cast<size_t>(chunk)], before = 0;
    const Sizes* at = nullptr;
    auto* to = out.as<int64_t>();
    each_block<T>(
        in, begin, end,
        [&](const Sizes& place) { at = &place, before = lines.was_vector ? place[0] * lines.length : 0; },
        [&](int64_t first, uint64_t bits) {
          for (; bits && row < size; bits &= bits - 1, row++) {
            const int64_t last = first + std::countr_zero(bits);
            int64_t* place = to + row * out.strides[0];
            for (size_t d = 0; d + 1 < rank; d++) place[static_cast<int64_t>(d) * out.strides[1]] = (*at)[d];
            if (rank) place[static_cast<int64_t>(rank - 1) * out.strides[1]] = before + last;
          }
        });
  });
  for (int64_t row = rows[kChunks]; row < size; row++)
    for (size_t d = 0; d < rank; d++)
      out.as<int64_t>()[row * out.strides[0] + static_cast<int64_t>(d) * out.strides[1]] = filling;
  return nullptr;
}
Status* nonzero_kernel(const KernelArgs& k) {
  return by_dtype(k.in[0].dtype, [&](auto t) { return write_places<decltype(t)>(k, k.args[2].i); });
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
Status* sort_rows_kernel(const KernelArgs& k) {
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
    primitive("prims.nonzero(tensor input, int size, int fill_value) -> tensor",
              "The places of the first `size` elements that are not zero, a row for each in row-major order; "
              "rows of fill_value where there are fewer.",
              nonzero_meta, nonzero_kernel, nullptr, 0,
              {.nondiff = "the result is an index", .samples = nonzero_samples}),
    primitive("prims.sort_rows(tensor input) -> tensor",
              "The numbers of the rows of a matrix in lexicographic order; equal ones stay as they are, NaN is "
              "the greatest.",
              sort_rows_meta, sort_rows_kernel, nullptr, 0,
              {.nondiff = "the result is an index", .samples = row_samples}),
};

}  // namespace

extern const OpRows nonzero_prims_ops = kRows;

}  // namespace thunder
