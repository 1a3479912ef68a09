// The pixels under each tap of a convolution's kernel as the columns of a matrix, and back.
#pragma once

#include <algorithm>

#include "ir/shape.h"
#include "ir/trace.h"

namespace thunder {

// The geometry of one call site; sizes of a group.
struct Window {
  int64_t batch, groups, channels, height, width, outputs, kernel_y, kernel_x, out_y, out_x;
  int64_t stride[2], padding[2], dilation[2];

  int64_t taps() const { return kernel_y * kernel_x; }
  int64_t depth() const { return channels * taps(); }
  int64_t pixels() const { return out_y * out_x; }

  // `first`: the argument where stride, padding, dilation and groups begin.
  Window(const Shape& x, const Shape& w, const Shape& y, const Node& node, size_t first) {
    const Sizes image = concrete(x), weight = concrete(w), out = concrete(y);
    groups = node.args[first + 3].i;
    batch = image[0], channels = weight[1], height = image[2], width = image[3];
    outputs = weight[0] / groups, kernel_y = weight[2], kernel_x = weight[3];
    out_y = out[2], out_x = out[3];
    int64_t* const pairs[] = {stride, padding, dilation};
    for (size_t i = 0; i < 3; i++) {
      const Sizes given = concrete(node.args[first + i].dim_list());
      pairs[i][0] = given[0], pairs[i][1] = given[given.size() - 1];
    }
  }
};

// Calls f(column, count, y, x) for each row of pixels of the tile [first, first + count): `count` neighbours from column
// `column` of the tile on, under which tap (ky, kx) lies at image row y and columns x, x + stride ...
template <class F>
void each_row(const Window& w, int64_t ky, int64_t kx, int64_t first, int64_t count, F&& f) {
  int64_t oy = first / w.out_x, ox = first % w.out_x;
  for (int64_t done = 0; done < count; oy++, ox = 0) {
    const int64_t run = std::min(w.out_x - ox, count - done);
    f(done, run, oy * w.stride[0] - w.padding[0] + ky * w.dilation[0], ox * w.stride[1] - w.padding[1] + kx * w.dilation[1]);
    done += run;
  }
}

// Rows of pixels are often shorter than what a call of memcpy pays for.
typedef float FourFloats __attribute__((vector_size(16), aligned(4), may_alias));
inline void copy_row(const float* from, int64_t n, float* to) {
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) *reinterpret_cast<FourFloats*>(to + i) = *reinterpret_cast<const FourFloats*>(from + i);
  for (; i < n; i++) to[i] = from[i];
}
inline void add_row(const float* from, int64_t n, float* to) {
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) *reinterpret_cast<FourFloats*>(to + i) += *reinterpret_cast<const FourFloats*>(from + i);
  for (; i < n; i++) to[i] += from[i];
}
inline void clear_row(float* to, int64_t n) {
  if (n > 0) std::fill_n(to, n, 0.0f);
}

// Of `run` columns x, x + stride ..., those that lie inside the image: [begin, end).
struct Inside {
  int64_t begin, end;
  Inside(const Window& w, int64_t run, int64_t y, int64_t x) : begin(0), end(0) {
    if (y < 0 || y >= w.height) return;
    const int64_t step = w.stride[1];
    begin = x >= 0 ? 0 : std::min(run, (-x + step - 1) / step);
    end = x >= w.width ? begin : std::max(begin, std::min(run, (w.width - 1 - x) / step + 1));
  }
};

// columns[depth, count] of `channels` channels of the image at x.
inline void gather(const Window& w, const float* x, const int64_t* strides, int64_t channels, int64_t first, int64_t count, float* columns) {
  for (int64_t c = 0; c < channels; c++)
    for (int64_t ky = 0; ky < w.kernel_y; ky++)
      for (int64_t kx = 0; kx < w.kernel_x; kx++, columns += count)
        each_row(w, ky, kx, first, count, [&](int64_t at, int64_t run, int64_t row, int64_t column) {
          const Inside in(w, run, row, column);
          const float* from = x + c * strides[1] + row * strides[2] + column * strides[3];
          const int64_t step = w.stride[1] * strides[3];
          float* to = columns + at;
          clear_row(to, in.begin);
          if (step == 1) copy_row(from + in.begin, in.end - in.begin, to + in.begin);
          else
            for (int64_t i = in.begin; i < in.end; i++) to[i] = from[i * step];
          clear_row(to + in.end, run - in.end);
        });
}

// The reverse: adds columns to the dense image at x.
inline void scatter(const Window& w, const float* columns, int64_t first, int64_t count, float* x) {
  for (int64_t c = 0; c < w.channels; c++, x += w.height * w.width)
    for (int64_t ky = 0; ky < w.kernel_y; ky++)
      for (int64_t kx = 0; kx < w.kernel_x; kx++, columns += count)
        each_row(w, ky, kx, first, count, [&](int64_t at, int64_t run, int64_t row, int64_t column) {
          const Inside in(w, run, row, column);
          float* to = x + row * w.width + column;
          if (w.stride[1] == 1) add_row(columns + at + in.begin, in.end - in.begin, to + in.begin);
          else
            for (int64_t i = in.begin; i < in.end; i++) to[i * w.stride[1]] += columns[at + i];
        });
}

}  // namespace thunder
