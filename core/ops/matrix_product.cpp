#include "ops/matrix_product.h"

#include <algorithm>
#include <type_traits>

#include "ops/kernels.h"

namespace thunder {
namespace {

// Blocks: the packed left block and the sums stay in the first-level cache while panels of the right operand pass.
constexpr int64_t kRows = 32, kColumns = 256, kInner = 128;
constexpr int kTileRows = 4;

// Signed integers are summed as unsigned ones, which wrap.
template <class T>
using Sum =
    std::conditional_t<std::is_integral_v<T>, std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>, Compute<T>>;

struct Place {
  int64_t offset, y, x;
};

// The places of positions [first, first + count), counted up without a division each.
void compute_places(const AxisPositions& p, int64_t first, int64_t count, Place* out) {
  int64_t rest = first;
  std::array<int64_t, 3> at{};
  at[2] = rest % p.size[2], rest /= p.size[2];
  at[1] = rest % p.size[1], rest /= p.size[1];
  at[0] = rest;
  for (int64_t i = 0; i < count; i++) {
    Place place{0, p.first_y, p.first_x};
    for (size_t a = 0; a < 3; a++) {
      place.offset += at[a] * p.offset[a];
      place.y += at[a] * p.y[a];
      place.x += at[a] * p.x[a];
    }
    out[i] = place;
    if (++at[2] < p.size[2]) continue;
    at[2] = 0;
    if (++at[1] < p.size[1]) continue;
    at[1] = 0;
    at[0]++;
  }
}

// Neighbouring positions in one row of pixels that are equally far apart.
struct Run {
  int64_t first, count;
  int64_t offset, x;  // from one to the next
};
int64_t find_runs(const Place* places, int64_t count, Run* out) {
  int64_t n = 0;
  for (int64_t i = 0; i < count;) {
    Run run{i, 1, 0, 0};
    if (i + 1 < count) run.offset = places[i + 1].offset - places[i].offset, run.x = places[i + 1].x - places[i].x;
    for (int64_t j = i + 1; j < count; j++, run.count++) {
      const Place &a = places[j - 1], &b = places[j];
      if (b.y != a.y || b.x - a.x != run.x || b.offset - a.offset != run.offset) break;
    }
    i += run.count;
    out[n++] = run;
  }
  return n;
}

// Copies the elements where a run meets a place to out[0], out[out_step] ...
template <class T>
void copy_run(const Operand& from, const Place& at, const Place& start, const Run& run, Sum<T>* out, int64_t out_step) {
  const Image& image = from.image;
  const T* data = static_cast<const T*>(from.data) + at.offset + start.offset;
  if (image.height < 0) {
    for (int64_t i = 0; i < run.count; i++) out[i * out_step] = static_cast<Sum<T>>(data[i * run.offset]);
    return;
  }
  for (int64_t i = 0; i < run.count; i++) out[i * out_step] = 0;
  const int64_t y = at.y + start.y, x = at.x + start.x;
  if (y % image.step_y || y < 0 || y / image.step_y >= image.height) return;
  data += y / image.step_y * image.row;
  if (run.x == 1 && run.offset == 0) {
    // The first pixel of the run that is stored; from there on every step_x-th one is, next to each other.
    const int64_t skip = (image.step_x - x % image.step_x) % image.step_x;
    const int64_t stored = (x + skip) / image.step_x, last = (run.count - skip + image.step_x - 1) / image.step_x;
    const int64_t end = std::min(last, image.width - stored);
    for (int64_t i = std::max<int64_t>(0, -stored); i < end; i++)
      out[(skip + i * image.step_x) * out_step] = static_cast<Sum<T>>(data[(stored + i) * image.column]);
    return;
  }
  for (int64_t i = 0; i < run.count; i++) {
    const int64_t pixel = x + i * run.x;
    if (pixel % image.step_x || pixel < 0 || pixel / image.step_x >= image.width) continue;
    out[i * out_step] = static_cast<Sum<T>>(data[i * run.offset + pixel / image.step_x * image.column]);
  }
}

// The positions summed over that a block covers.
struct Depth {
  int64_t count, n_runs;
  Place places[kInner];
  Run runs[kInner];
};

// Copies Width outer positions (zeros after the first `count`) by all inner ones to out[inner][Width].
template <class T, int Width>
void pack(const Operand& from, int64_t first, int64_t count, const Depth& inner, Sum<T>* out) {
  Place outer[Width];
  Run runs[Width];
  compute_places(from.outer, first, count, outer);
  const int64_t n_runs = find_runs(outer, count, runs);
  if (count < Width) std::fill_n(out, inner.count * Width, Sum<T>(0));
  // Along the side whose runs are longer.
  if (count * inner.n_runs >= inner.count * n_runs) {
    for (int64_t k = 0; k < inner.count; k++)
      for (int64_t r = 0; r < n_runs; r++)
        copy_run<T>(from, inner.places[k], outer[runs[r].first], runs[r], out + k * Width + runs[r].first, 1);
  } else {
    for (int64_t i = 0; i < count; i++)
      for (int64_t r = 0; r < inner.n_runs; r++) {
        const Run& run = inner.runs[r];
        copy_run<T>(from, outer[i], inner.places[run.first], run, out + run.first * Width + i, Width);
      }
  }
}

// sums[kTileRows][Width] += left[depth][kTileRows] * right[depth][Width]; all of it in registers.
template <class S, int Width>
[[gnu::always_inline]] inline void multiply_tile(const S* left, const S* right, int64_t depth, S* sums) {
  S held[kTileRows][Width];
  for (int r = 0; r < kTileRows; r++)
    for (int w = 0; w < Width; w++) held[r][w] = 0;
  for (int64_t k = 0; k < depth; k++)
    for (int r = 0; r < kTileRows; r++)
      for (int w = 0; w < Width; w++) held[r][w] += left[k * kTileRows + r] * right[k * Width + w];
  for (int r = 0; r < kTileRows; r++)
    for (int w = 0; w < Width; w++) sums[r * kColumns + w] += held[r][w];
}

// The same code for two processors. It contracts nothing, so both give the same bits.
constexpr int kVector = 16, kWideVector = 32;  // bytes
template <class S>
struct Narrow {
  static constexpr int width = 2 * kVector / static_cast<int>(sizeof(S));
  static void run(const S* left, const S* right, int64_t depth, S* sums) {
    multiply_tile<S, width>(left, right, depth, sums);
  }
};
#if defined(__x86_64__) && defined(__GNUC__)
template <class S>
struct Widened {
  static constexpr int width = 2 * kWideVector / static_cast<int>(sizeof(S));
  [[gnu::target("avx2")]] static void run(const S* left, const S* right, int64_t depth, S* sums) {
    multiply_tile<S, width>(left, right, depth, sums);
  }
};
bool has_avx2() { return __builtin_cpu_supports("avx2"); }
#else
template <class S>
using Widened = Narrow<S>;
bool has_avx2() { return false; }
#endif

template <class T, class Tile>
void multiply_block(const Operand& left, const Operand& right, int64_t i0, int64_t rows, int64_t j0, int64_t columns,
                    int64_t depth, Sum<T>* sums) {
  alignas(64) Sum<T> packed_left[kRows * kInner], packed_right[Tile::width * kInner];
  Depth inner_left, inner_right;
  auto enter = [&](const AxisPositions& p, int64_t k0, Depth& d) {
    d.count = std::min(kInner, depth - k0);
    compute_places(p, k0, d.count, d.places);
    d.n_runs = find_runs(d.places, d.count, d.runs);
  };
  for (int64_t k0 = 0; k0 < depth; k0 += kInner) {
    enter(left.inner, k0, inner_left), enter(right.inner, k0, inner_right);
    const int64_t n = inner_left.count;
    for (int64_t i = 0; i < rows; i += kTileRows)
      pack<T, kTileRows>(left, i0 + i, std::min<int64_t>(kTileRows, rows - i), inner_left, packed_left + i * n);
    for (int64_t j = 0; j < columns; j += Tile::width) {
      pack<T, Tile::width>(right, j0 + j, std::min<int64_t>(Tile::width, columns - j), inner_right, packed_right);
      for (int64_t i = 0; i < rows; i += kTileRows)
        Tile::run(packed_left + i * n, packed_right, n, sums + i * kColumns + j);
    }
  }
}

template <class T, class Tile>
void multiply_matrices(const Operand& left, const Operand& right, const ProductOutput& out, int64_t rows,
                       int64_t columns, int64_t depth) {
  alignas(64) Sum<T> sums[kRows * kColumns];
  Place to_row[kRows], to_column[kColumns];
  for (int64_t i0 = 0; i0 < rows; i0 += kRows) {
    const int64_t m = std::min(kRows, rows - i0);
    compute_places(out.rows, i0, m, to_row);
    for (int64_t j0 = 0; j0 < columns; j0 += kColumns) {
      const int64_t n = std::min(kColumns, columns - j0);
      const int64_t tiled_rows = (m + kTileRows - 1) / kTileRows * kTileRows,
                    tiled_columns = (n + Tile::width - 1) / Tile::width * Tile::width;
      for (int64_t i = 0; i < tiled_rows; i++) std::fill_n(sums + i * kColumns, tiled_columns, Sum<T>(0));
      multiply_block<T, Tile>(left, right, i0, m, j0, n, depth, sums);
      compute_places(out.columns, j0, n, to_column);
      for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++)
          static_cast<T*>(out.data)[to_row[i].offset + to_column[j].offset] = static_cast<T>(sums[i * kColumns + j]);
    }
  }
}

}  // namespace

void matrix_product(DType dtype, const Operand& left, const Operand& right, const ProductOutput& out, int64_t rows,
                    int64_t columns, int64_t inner) {
  by_dtype(dtype, [&](auto t) {
    using T = decltype(t);
    if constexpr (!std::is_same_v<T, bool>) {
      if (has_avx2())
        multiply_matrices<T, Widened<Sum<T>>>(left, right, out, rows, columns, inner);
      else multiply_matrices<T, Narrow<Sum<T>>>(left, right, out, rows, columns, inner);
    }
  });
}

}  // namespace thunder
