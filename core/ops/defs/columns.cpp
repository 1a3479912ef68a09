// The windows of an image as columns, and columns added up to an image.
#include <algorithm>

#include "ir/same_size.h"
#include "ops/tables.h"

namespace thunder {
namespace {

using Ints = std::vector<int64_t>;

struct Windows {
  int64_t kernel[2], dilation[2], padding[2], stride[2];
  Dim results[2];
};
Windows read_windows(const Call& c, size_t first, Dim height, Dim width) {
  Windows w{};
  const auto read = [&](size_t param, int64_t (&into)[2], int64_t least) {
    auto given = c.dims(param);
    c.require(given.size() == 1 || given.size() == 2, c.op.schema.params[param].name,
              " must have one or two values, got ", name(given));
    for (size_t i = 0; i < 2; i++) into[i] = hint(given[given.size() == 1 ? 0 : i]);
    c.require(into[0] >= least && into[1] >= least && std::max(into[0], into[1]) <= INT32_MAX,
              c.op.schema.params[param].name, " must be at least ", least, ", got ", name(given));
  };
  read(first, w.kernel, 1), read(first + 1, w.dilation, 1), read(first + 2, w.padding, 0), read(first + 3, w.stride, 1);
  for (size_t i = 0; i < 2; i++) {
    const Dim left = (i ? width : height) + Dim(2 * w.padding[i] - (w.kernel[i] - 1) * w.dilation[i] - 1);
    c.require(hint(left) >= 0, "the kernel does not fit the padded input of ", name(height), " by ", name(width));
    w.results[i] = left / Dim(w.stride[i]) + 1;
  }
  return w;
}
// Which of an image's pixels each tap of the kernel meets at each place: a slice.
struct Taps {
  Shape starts, ends, steps;
};
Taps slice_of_tap(const Windows& w, int64_t y, int64_t x, const Shape& padded) {
  Taps t{Shape(4u, 0), padded, Shape(4u, 1)};
  const int64_t at[] = {y, x};
  for (size_t i = 0; i < 2; i++) {
    t.starts[2 + i] = at[i] * w.dilation[i];
    t.ends[2 + i] = (w.results[i] - 1) * Dim(w.stride[i]) + Dim(at[i] * w.dilation[i] + 1);
    t.steps[2 + i] = w.stride[i];
  }
  return t;
}
Results im2col(Call& c) {
  Var x = c.var(0);
  c.require(x.rank() == 3 || x.rank() == 4, "input must be [batch, channels, height, width] or without batch; ",
            c.types());
  const bool single = x.rank() == 3;
  if (single) x = reshape_to(x, Shape{1, x.size(0), x.size(1), x.size(2)});
  const Shape s = x.shape();
  const Windows w = read_windows(c, 1, s[2], s[3]);
  const Shape pad{0, 0, w.padding[0], w.padding[1]};
  x = c.builder.call(Prim::pad, {x, pad, pad, 0.0});
  ValueList parts;
  const Dim places = w.results[0] * w.results[1];
  for (int64_t i = 0; i < w.kernel[0]; i++)
    for (int64_t j = 0; j < w.kernel[1]; j++) {
      const Taps t = slice_of_tap(w, i, j, x.shape());
      parts.push_back(
          reshape_to(c.builder.call(Prim::slice, {x, t.starts, t.ends, t.steps}), Shape{s[0], s[1], 1, places}).id);
    }
  const Dim rows = s[1] * (w.kernel[0] * w.kernel[1]);
  Var y = reshape_to(c.builder.call(Prim::cat, {parts, 2}), Shape{s[0], rows, places});
  return single ? reshape_to(y, Shape{rows, places}) : y;
}
// The transpose: columns added up where their windows lie.
Results fold(Call& c) {
  Var x = c.var(0);
  c.require(x.rank() == 2 || x.rank() == 3, "input must be [batch, rows, places] or without batch; ", c.types());
  auto size = c.dims(1);
  c.require(size.size() == 2, "output_size must have two values, got ", name(size));
  const bool single = x.rank() == 2;
  if (single) x = reshape_to(x, Shape{1, x.size(0), x.size(1)});
  for (Dim d : size)
    c.require(hint(d) >= 0 && hint(d) <= INT32_MAX, "output_size must not be negative, got ", name(size));
  const Windows w = read_windows(c, 2, size[0], size[1]);
  const int64_t kernel = w.kernel[0] * w.kernel[1];
  c.require(hint(x.size(1)) % kernel == 0, "the kernel's ", kernel, " taps must divide the rows; ", c.types());
  const Dim places = w.results[0] * w.results[1];
  c.require(same_size(x.size(2), places), "input must have ", name(places), " places; ", c.types());
  const Dim channels = x.size(1) / kernel;
  const Shape padded{x.size(0), channels, size[0] + Dim(2 * w.padding[0]), size[1] + Dim(2 * w.padding[1])};
  Var columns = reshape_to(x, Shape{x.size(0), channels, kernel, w.results[0], w.results[1]}), y;
  for (int64_t k = 0; k < kernel; k++) {
    const Taps t = slice_of_tap(w, k / w.kernel[1], k % w.kernel[1], padded);
    Var zeros = expand_to(full(c.builder, {}, 0, x.dtype(), x.type().device), padded);
    Var placed = c.builder.call(Prim::slice_scatter,
                                {zeros, c.builder.call("select", {columns, 2, k}), t.starts, t.ends, t.steps});
    y = y ? y + placed : placed;
  }
  Shape ends = padded;
  ends[2] = size[0] + Dim(w.padding[0]), ends[3] = size[1] + Dim(w.padding[1]);
  y = c.builder.call(Prim::slice, {y, Shape{0, 0, w.padding[0], w.padding[1]}, ends, Shape(4u, 1)});
  return single ? reshape_to(y, Shape{channels, size[0], size[1]}) : y;
}

void sample_columns(Samples& s) {
  s.add({TensorSpec{{2, 3, 5, 4}}, Ints{2, 3}});
  s.add({TensorSpec{{2, 5, 4}}, 2, Ints{2, 1}, Ints{1, 0}, 2});
  s.refuse({TensorSpec{{1, 1, 2, 2}}, 3}, "does not fit");
}
void sample_folds(Samples& s) {
  s.add({TensorSpec{{2, 12, 6}}, Ints{4, 3}, 2});
  s.add({TensorSpec{{8, 6}}, Ints{3, 4}, 2, 1, Ints{1, 1}, 2});
  s.refuse({TensorSpec{{2, 12, 5}}, Ints{4, 3}, 2}, "must have 6 places");
}

constexpr OpRow kRows[] = {
    composite(
        "im2col(tensor input, int[] kernel_size, int[] dilation=[1], int[] padding=[0], int[] stride=[1]) -> tensor",
        CastPolicy::none, "The windows of an image as columns: torch.nn.functional.unfold.", im2col, sample_columns),
    composite("fold(tensor input, int[] output_size, int[] kernel_size, int[] dilation=[1], int[] padding=[0], int[] "
              "stride=[1]) -> tensor",
              CastPolicy::none, "Columns added up where the windows of an image lie: the transpose of im2col.", fold,
              sample_folds),
};

}  // namespace

extern const OpRows columns_ops = kRows;

}  // namespace thunder
