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
struct SumOf { using type = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>; };
template <>
struct SumOf<bf16> { using type = float; };
template <>
struct SumOf<float> { using type = float; };
template <>
struct SumOf<double> { using type = double; };
template <class T>
using Sum = typename SumOf<T>::type;

struct Place {
  int64_t offset, y, x;
};

// The places of positions [first, first + count), counted up without a division each.
void places(const Positions& p, int64_t first, int64_t count, Place* out) {
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

template <class T>
Sum<T> pixel(const T* data, const Image& image, Place a, Place b) {
  int64_t y = a.y + b.y, x = a.x + b.x;
  if (image.step_y != 1) {
    if (y % image.step_y) return 0;
    y /= image.step_y;
  }
  if (image.step_x != 1) {
    if (x % image.step_x) return 0;
    x /= image.step_x;
  }
  if (y < 0 || y >= image.height || x < 0 || x >= image.width) return 0;
  return static_cast<Sum<T>>(data[a.offset + b.offset + y * image.row + x * image.column]);
}

// Copies Width outer positions (zeros after the first `count`) by `depth` inner ones to out[inner][Width].
template <class T, int Width>
void pack(const Operand& from, int64_t first, int64_t count, const Place* inner, int64_t depth, Sum<T>* out) {
  const T* data = static_cast<const T*>(from.data);
  std::array<Place, Width> outer;
  places(from.outer, first, count, outer.data());
  const bool is_image = from.image.height >= 0;
  bool run = !is_image && count == Width;
  for (int64_t i = 1; i < count; i++) run &= outer[static_cast<size_t>(i)].offset == outer[0].offset + i;
  for (int64_t k = 0; k < depth; k++, out += Width) {
    if (run) {
      const T* row = data + outer[0].offset + inner[k].offset;
      for (int i = 0; i < Width; i++) out[i] = static_cast<Sum<T>>(row[i]);
      continue;
    }
    for (int64_t i = 0; i < count; i++) {
      const Place at = outer[static_cast<size_t>(i)];
      out[i] = is_image ? pixel(data, from.image, at, inner[k]) : static_cast<Sum<T>>(data[at.offset + inner[k].offset]);
    }
    for (int64_t i = count; i < Width; i++) out[i] = 0;
  }
}

// sums[kTileRows][Width] += left[depth][kTileRows] * right[depth][Width]; all of it in registers.
template <class S, int Width>
[[gnu::always_inline]] inline void tile(const S* left, const S* right, int64_t depth, S* sums) {
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
  static void run(const S* left, const S* right, int64_t depth, S* sums) { tile<S, width>(left, right, depth, sums); }
};
#if defined(__x86_64__) && defined(__GNUC__)
template <class S>
struct Wide {
  static constexpr int width = 2 * kWideVector / static_cast<int>(sizeof(S));
  [[gnu::target("avx2")]] static void run(const S* left, const S* right, int64_t depth, S* sums) {
    tile<S, width>(left, right, depth, sums);
  }
};
bool wide_vectors() { return __builtin_cpu_supports("avx2"); }
#else
template <class S>
using Wide = Narrow<S>;
bool wide_vectors() { return false; }
#endif

template <class T, class Tile>
void block(const Operand& left, const Operand& right, int64_t i0, int64_t rows, int64_t j0, int64_t columns, int64_t depth,
           Sum<T>* sums) {
  alignas(64) Sum<T> packed_left[kRows * kInner], packed_right[Tile::width * kInner];
  Place inner_left[kInner], inner_right[kInner];
  for (int64_t k0 = 0; k0 < depth; k0 += kInner) {
    const int64_t n = std::min(kInner, depth - k0);
    places(left.inner, k0, n, inner_left);
    places(right.inner, k0, n, inner_right);
    for (int64_t i = 0; i < rows; i += kTileRows)
      pack<T, kTileRows>(left, i0 + i, std::min<int64_t>(kTileRows, rows - i), inner_left, n, packed_left + i * n);
    for (int64_t j = 0; j < columns; j += Tile::width) {
      pack<T, Tile::width>(right, j0 + j, std::min<int64_t>(Tile::width, columns - j), inner_right, n, packed_right);
      for (int64_t i = 0; i < rows; i += kTileRows) Tile::run(packed_left + i * n, packed_right, n, sums + i * kColumns + j);
    }
  }
}

template <class T, class Tile>
void product(const Operand& left, const Operand& right, const Product& out, int64_t rows, int64_t columns, int64_t depth) {
  alignas(64) Sum<T> sums[kRows * kColumns];
  Place to_row[kRows], to_column[kColumns];
  for (int64_t i0 = 0; i0 < rows; i0 += kRows) {
    const int64_t m = std::min(kRows, rows - i0);
    places(out.rows, i0, m, to_row);
    for (int64_t j0 = 0; j0 < columns; j0 += kColumns) {
      const int64_t n = std::min(kColumns, columns - j0);
      const int64_t tiled_rows = (m + kTileRows - 1) / kTileRows * kTileRows, tiled_columns = (n + Tile::width - 1) / Tile::width * Tile::width;
      for (int64_t i = 0; i < tiled_rows; i++) std::fill_n(sums + i * kColumns, tiled_columns, Sum<T>(0));
      block<T, Tile>(left, right, i0, m, j0, n, depth, sums);
      places(out.columns, j0, n, to_column);
      for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++)
          static_cast<T*>(out.data)[to_row[i].offset + to_column[j].offset] = static_cast<T>(sums[i * kColumns + j]);
    }
  }
}

}  // namespace

void matrix_product(DType dtype, const Operand& left, const Operand& right, const Product& out, int64_t rows, int64_t columns,
                    int64_t inner) {
  by_dtype(dtype, [&](auto t) {
    using T = decltype(t);
    if constexpr (!std::is_same_v<T, bool>) {
      if (wide_vectors()) product<T, Wide<Sum<T>>>(left, right, out, rows, columns, inner);
      else product<T, Narrow<Sum<T>>>(left, right, out, rows, columns, inner);
    }
  });
}

}  // namespace thunder
