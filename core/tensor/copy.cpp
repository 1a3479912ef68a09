// Copies between layouts.
#include <algorithm>
#include <cstring>

#include "tensor/tensor.h"

namespace thunder {

namespace {

// Sizes and steps in bytes of two axes, the second walked inside the first.
struct Plane {
  int64_t sizes[2], from[2], to[2];
};

// Copies in square tiles, so that each cache line of the strided side is used up while it is cached.
template <size_t Item>
void copy_plane(std::byte* to, const std::byte* from, const Plane& p) {
  constexpr int64_t kSide = 32;
  const int64_t side = p.sizes[0] == 1 ? p.sizes[1] : kSide;
  for (int64_t i = 0; i < p.sizes[0]; i += side)
    for (int64_t j = 0; j < p.sizes[1]; j += side)
      for (int64_t x = i; x < std::min(i + side, p.sizes[0]); x++)
        for (int64_t y = j; y < std::min(j + side, p.sizes[1]); y++)
          std::memcpy(to + x * p.to[0] + y * p.to[1], from + x * p.from[0] + y * p.from[1], Item);
}

// Transposes four by four elements in registers, where `from` is contiguous along the first axis and `to` along the
// second.
void transpose_plane(std::byte* to, const std::byte* from, const Plane& p) {
  typedef float Quad __attribute__((vector_size(16), aligned(4), may_alias));
  constexpr int64_t kQuad = 4, kItem = sizeof(float), kSide = 32;
  const int64_t rows = p.sizes[0] / kQuad * kQuad, columns = p.sizes[1] / kQuad * kQuad;
  for (int64_t i = 0; i < rows; i += kSide)
    for (int64_t j = 0; j < columns; j += kSide)
      for (int64_t x = i; x < std::min(i + kSide, rows); x += kQuad)
        for (int64_t y = j; y < std::min(j + kSide, columns); y += kQuad) {
          Quad in[kQuad];
          for (int64_t k = 0; k < kQuad; k++)
            in[k] = *reinterpret_cast<const Quad*>(from + x * kItem + (y + k) * p.from[1]);
          const Quad low[] = {__builtin_shufflevector(in[0], in[1], 0, 4, 1, 5),
                              __builtin_shufflevector(in[2], in[3], 0, 4, 1, 5)};
          const Quad high[] = {__builtin_shufflevector(in[0], in[1], 2, 6, 3, 7),
                               __builtin_shufflevector(in[2], in[3], 2, 6, 3, 7)};
          std::byte* at = to + x * p.to[0] + y * kItem;
          *reinterpret_cast<Quad*>(at) = __builtin_shufflevector(low[0], low[1], 0, 1, 4, 5);
          *reinterpret_cast<Quad*>(at + p.to[0]) = __builtin_shufflevector(low[0], low[1], 2, 3, 6, 7);
          *reinterpret_cast<Quad*>(at + 2 * p.to[0]) = __builtin_shufflevector(high[0], high[1], 0, 1, 4, 5);
          *reinterpret_cast<Quad*>(at + 3 * p.to[0]) = __builtin_shufflevector(high[0], high[1], 2, 3, 6, 7);
        }
  // The remaining rows below and columns on the right.
  copy_plane<kItem>(to + rows * p.to[0], from + rows * kItem,
                    {{p.sizes[0] - rows, p.sizes[1]}, {kItem, p.from[1]}, {p.to[0], kItem}});
  copy_plane<kItem>(to + columns * kItem, from + columns * p.from[1],
                    {{rows, p.sizes[1] - columns}, {kItem, p.from[1]}, {p.to[0], kItem}});
}

void copy_row(std::byte* to, const std::byte* from, const Plane& p) {
  std::memcpy(to, from, static_cast<size_t>(p.sizes[1] * p.from[1]));
}

// The axis along which elements of `from` are adjacent; the last one if that is as good.
size_t nearest_axis(const Buffer& from) {
  size_t nearest = static_cast<size_t>(from.rank) - 1;
  for (size_t a = nearest; a-- > 0;)
    if (from.shape[a] > 1 && std::abs(from.strides[a]) < std::abs(from.strides[nearest]) && from.strides[a] != 0)
      nearest = a;
  return nearest;
}

}  // namespace

void copy_strided(const Buffer& from, const Buffer& to) {
  const auto rank = static_cast<size_t>(from.rank);
  const auto item = static_cast<int64_t>(size_of(from.dtype));
  const int64_t n = from.elements();
  if (n == 0) return;
  auto* source = static_cast<const std::byte*>(from.data);
  auto* target = static_cast<std::byte*>(to.data);
  if (is_dense({from.shape, rank}, {from.strides, rank}) && is_dense({from.shape, rank}, {to.strides, rank})) {
    std::memmove(target, source, static_cast<size_t>(n * item));
    return;
  }
  const size_t last = rank - 1, other = nearest_axis(from);
  Plane plane{{1, from.shape[last]}, {0, from.strides[last] * item}, {0, to.strides[last] * item}};
  if (other != last)
    plane.sizes[0] = from.shape[other], plane.from[0] = from.strides[other] * item,
    plane.to[0] = to.strides[other] * item;
  auto copy = item == 1 ? copy_plane<1> : item == 2 ? copy_plane<2> : item == 4 ? copy_plane<4> : copy_plane<8>;
  if (other != last && item == 4 && plane.from[0] == item && plane.to[1] == item) copy = transpose_plane;
  if (other == last && plane.from[1] == item && plane.to[1] == item) copy = copy_row;
  Sizes at(rank, 0);
  while (true) {
    copy(target, source, plane);
    size_t axis = last;
    while (axis-- > 0) {
      if (axis == other) continue;
      source += from.strides[axis] * item;
      target += to.strides[axis] * item;
      if (++at[axis] < from.shape[axis]) break;
      source -= from.shape[axis] * from.strides[axis] * item;
      target -= from.shape[axis] * to.strides[axis] * item;
      at[axis] = 0;
    }
    if (axis == static_cast<size_t>(-1)) return;
  }
}

}  // namespace thunder
