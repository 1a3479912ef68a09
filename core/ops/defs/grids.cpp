// Sums of rows of a table, and images read at places of a grid.
#include <algorithm>

#include "ops/tables.h"

namespace thunder {
namespace {

// ---- embedding_bag: input, weight, offsets, mode, per_sample_weights, include_last_offset, padding_idx ----

// All indices in a row, the bag of each, and how many bags there are.
struct Bags {
  Var index, bag;
  Dim count;
};
Bags bags_of(const Call& c) {
  Builder& b = c.builder;
  Var index = c.var(0);
  const Device device = index.type().device;
  if (!c.has(2)) {
    c.require(index.rank() == 2, "without offsets input must have two dims, whose rows are the bags; ", c.types());
    const Shape flat{elements(index.shape())};
    Var row = expand_to(counted_along(b, index.size(0), 0, 2, device), index.shape());
    return {reshape_to(index, flat), reshape_to(row, flat), index.size(0)};
  }
  c.require(index.rank() == 1 && c.type(2).rank() == 1, "with offsets input and offsets must be vectors; ", c.types());
  Var offsets = convert(c.var(2), DType::i64), place = b.call("prims.iota", {Shape{index.size(0)}, DType::i64, device});
  Dim n = offsets.size(0);
  if (c.flag(5)) {
    c.require(hint(n) > 0, "with include_last_offset offsets must not be empty");
    n = n - 1;
    offsets = b.call("prims.slice", {offsets, Shape{0}, Shape{n}, Shape{1}});
  }
  return {index, b.call("searchsorted", {offsets, place, true}) - 1, n};
}
// Rows of weight, of which those of the padding count for nothing.
Var pooled(const Call& c, const Bags& bags, Var weight, std::string_view mode) {
  Builder& b = c.builder;
  const Device device = weight.type().device;
  Var rows = b.call("prims.take", {weight, 0, bags.index}),
      members = full(b, bags.index.shape(), 1, weight.dtype(), device);
  if (c.has(4)) rows = rows * along_axis(reshape_to(convert(c.var(4), weight.dtype()), bags.index.shape()), 0, 2);
  if (c.has(6)) {
    const int64_t n = hint(weight.size(0)), row = c.integer(6);
    c.require(row < n && row >= -n, "padding_idx ", row, " is out of range for a weight of ", n, " rows");
    Var kept = ne(bags.index, row < 0 ? row + n : row);
    rows = where(along_axis(kept, 0, 2), rows, mode == "max" ? -kInfinity : 0.0);
    members = convert(kept, weight.dtype());
  }
  Var zeros = full(b, Shape{bags.count, weight.size(1)}, 0, weight.dtype(), device);
  if (mode == "max") {
    Var to = expand_to(along_axis(bags.bag, 0, 2), rows.shape());
    Var y = b.call("scatter_reduce", {zeros, 0, to, rows, "amax", false});
    return where(eq(y, -kInfinity), 0.0, y);
  }
  Var y = b.call("prims.take_add", {zeros, 0, bags.bag, rows});
  if (mode == "sum") return y;
  Var none = full(b, Shape{bags.count}, 0, weight.dtype(), device);
  Var n = b.call("prims.scatter_add", {none, 0, bags.bag, members});
  return y / along_axis(maximum(n, 1.0), 0, 2);
}
Results embedding_bag(Call& c) {
  Var index = c.var(0), weight = c.var(1);
  const std::string_view mode = c.text(3);
  c.require(mode == "sum" || mode == "mean" || mode == "max", "mode must be 'sum', 'mean' or 'max', got '", mode, "'");
  c.require(weight.rank() == 2 && is_real(weight.dtype()), "weight must be a real matrix; ", c.types());
  c.require(!c.has(4) || mode == "sum", "per_sample_weights belong to mode 'sum', got '", mode, "'");
  c.require(!c.has(4) || c.type(4).shape == index.shape(), "per_sample_weights must have the shape of input; ",
            c.types());
  const DType dtype = weight.dtype();
  if (c.has(2) || c.has(6) || c.has(4)) return convert(pooled(c, bags_of(c), computed(weight), mode), dtype);
  c.require(index.rank() == 2, "without offsets input must have two dims, whose rows are the bags; ", c.types());
  Var rows = c.builder.call("prims.take", {computed(weight), 0, index});
  return convert(c.builder.call(mode == "max" ? "amax" : mode, {rows, Shape{1}}), dtype);
}

// ---- affine_grid, grid_sample ----

// The centres of n pixels in [-1, 1], or places from corner to corner.
Var places(Var like, int64_t n, bool corners) {
  Var i = like.builder->call("prims.iota", {Shape{n}, like.dtype(), like.type().device});
  if (corners) return n > 1 ? i * (2.0 / static_cast<double>(n - 1)) - 1.0 : i * 0.0;
  return (i * 2.0 + 1.0) / static_cast<double>(n) - 1.0;
}
Results affine_grid(Call& c) {
  Var theta = c.var(0);
  auto size = c.dims(1);
  c.require(theta.rank() == 3 && is_real(theta.dtype()) && size.size() == 4 && theta.size(1) == Dim(2) &&
                theta.size(2) == Dim(3),
            "theta must be [batch, 2, 3], and size [batch, channels, height, width]; ", c.types());
  const int64_t h = hint(size[2]), w = hint(size[3]);
  c.require(h > 0 && w > 0, "sizes must be positive, got ", name(size));
  const DType dtype = theta.dtype();
  theta = computed(theta);
  const Shape plane{h, w, 1};
  Var x = expand_to(reshape_to(places(theta, w, c.flag(2)), Shape{1, w, 1}), plane),
      y = expand_to(reshape_to(places(theta, h, c.flag(2)), Shape{h, 1, 1}), plane);
  Var base = reshape_to(c.builder.call("cat", {ValueList{x.id, y.id, full_like(x, 1).id}, -1}), Shape{1, h * w, 3});
  Var grid = c.builder.call("matmul", {expand_to(base, Shape{size[0], h * w, 3}), swap_last_two(theta)});
  return convert(reshape_to(grid, Shape{size[0], h, w, 2}), dtype);
}

// One dim of an image that is sampled.
struct Side {
  int64_t size;
  bool corners;
  std::string_view padding;

  // From [-1, 1] to pixels; outside of the image as the padding says.
  Var pixels(Var at) const {
    const auto n = static_cast<double>(size);
    Var p = corners ? (at + 1.0) * ((n - 1) / 2) : ((at + 1.0) * n - 1.0) / 2.0;
    if (padding == "border") return clamped(p, 0, n - 1);
    if (padding == "reflection") {
      const double low = corners ? 0 : -0.5, span = corners ? n - 1 : n;
      if (span == 0) return p * 0.0;
      Var away = abs(p - low), turns = floor(away / span), rest = away - turns * span;
      Var odd = ne(turns - floor(turns * 0.5) * 2.0, 0.0);
      return clamped(where(odd, span - rest, rest) + low, 0, n - 1);
    }
    return p;
  }
};
// The pixels of each channel at integer places, zeros outside.
Var pixels_at(Var image, Var y, Var x) {
  const int64_t h = hint(image.size(2)), w = hint(image.size(3));
  Var inside = both(both(ge(y, 0.0), le(y, double(h - 1))), both(ge(x, 0.0), le(x, double(w - 1))));
  Var at = clamped(y, 0, double(h - 1)) * double(w) + clamped(x, 0, double(w - 1));
  const Shape grid = y.shape();
  Var index = expand_to(reshape_to(convert(at, DType::i64), Shape{grid[0], 1, grid[1] * grid[2]}),
                        Shape{image.size(0), image.size(1), grid[1] * grid[2]});
  Var flat = reshape_to(image, Shape{image.size(0), image.size(1), h * w});
  Var taken = reshape_to(image.builder->call("prims.gather", {flat, 2, index}),
                         Shape{image.size(0), image.size(1), grid[1], grid[2]});
  return where(reshape_to(inside, Shape{grid[0], 1, grid[1], grid[2]}), taken, 0.0);
}
Results grid_sample(Call& c) {
  Var image = c.var(0), grid = c.var(1);
  const std::string_view mode = c.text(2), padding = c.text(3);
  c.require(image.rank() == 4 && grid.rank() == 4 && grid.size(3) == Dim(2) && grid.size(0) == image.size(0) &&
                is_real(image.dtype()),
            "input must be [batch, channels, height, width], and grid [batch, height, width, 2]; ", c.types());
  c.require(image.dtype() == grid.dtype(), "input and grid must have one dtype; ", c.types());
  c.require(mode == "bilinear" || mode == "nearest", "mode must be 'bilinear' or 'nearest', got '", mode, "'");
  c.require(padding == "zeros" || padding == "border" || padding == "reflection",
            "padding_mode must be 'zeros', 'border' or 'reflection', got '", padding, "'");
  c.require(hint(image.size(2)) > 0 && hint(image.size(3)) > 0, "the image has no pixels; ", c.types());
  const DType dtype = image.dtype();
  image = computed(image), grid = computed(grid);
  const Side wide{hint(image.size(3)), c.flag(4), padding}, high{hint(image.size(2)), c.flag(4), padding};
  Var x = wide.pixels(c.builder.call("select", {grid, 3, 0})), y = high.pixels(c.builder.call("select", {grid, 3, 1}));
  if (mode == "nearest") return convert(pixels_at(image, apply("round", y), apply("round", x)), dtype);
  Var left = floor(x), top = floor(y), result;
  for (int k = 0; k < 4; k++) {
    const double right = k & 1, below = k >> 1;
    Var wx = right != 0 ? x - left : left + 1.0 - x, wy = below != 0 ? y - top : top + 1.0 - y, weight = wx * wy;
    const Shape s = weight.shape();
    Var part = pixels_at(image, top + below, left + right) * reshape_to(weight, Shape{s[0], 1, s[1], s[2]});
    result = result ? result + part : part;
  }
  return convert(result, dtype);
}

// ---- samples ----

using Ints = std::vector<int64_t>;

void bags(Samples& s) {
  const TensorSpec rows{{2, 3}, DType::i64, 0, 4}, table{{5, 4}};
  for (const char* mode : {"sum", "mean", "max"}) s.add({rows, table, SampleArg(), mode});
  s.add({rows, table, SampleArg(), "sum", TensorSpec{{2, 3}}});
  s.add({TensorSpec{{6}, DType::i64, 0, 4}, table, TensorSpec{{1}, DType::i64, 0, 0}});
  const TensorSpec line{{6}, DType::i64, 0, 4}, start{{1}, DType::i64, 0, 0};
  s.add({line, table, start, "max"});
  for (const char* mode : {"sum", "mean"}) s.add({rows, table, SampleArg(), mode, SampleArg(), false, -2});
  s.add_without_gradient({line, table, start, "max", SampleArg(), false, 3});
  s.refuse({rows, table, SampleArg(), "sum", SampleArg(), false, 5}, "padding_idx 5");
  s.refuse({rows, table, SampleArg(), "median"}, "'median'");
  s.refuse({TensorSpec{{6}, DType::i64, 0, 4}, table}, "two dims");
}
void grids(Samples& s) {
  s.add({TensorSpec{{2, 2, 3}}, Ints{2, 1, 3, 4}});
  s.add({TensorSpec{{1, 2, 3}}, Ints{1, 1, 3, 4}, true});
  s.refuse({TensorSpec{{2, 3, 3}}, Ints{2, 1, 3, 4}}, "theta must be");
}
void samplings(Samples& s) {
  const TensorSpec image{{2, 2, 4, 3}}, grid{{2, 3, 2, 2}, DType::f32, -1.3, 1.3};
  s.add({image, grid});
  s.add({image, grid, "bilinear", "border", true});
  s.add({image, grid, "bilinear", "reflection"});
  s.add_without_gradient({image, grid, "nearest"});
  s.refuse({image, grid, "bicubic"}, "'bicubic'");
}

consteval OpRow row(SchemaText schema, std::string_view doc, DecomposeFn decompose, SamplesFn samples) {
  return checked({.schema = schema, .doc = doc, .decompose = decompose, .samples = samples});
}

constexpr OpRow kRows[] = {
    row("embedding_bag(tensor input, tensor weight, tensor? offsets=None, str mode='mean', tensor? "
        "per_sample_weights=None, bool include_last_offset=False, int? padding_idx=None) -> tensor",
        "The sum, mean or maximum of the rows of weight at the indices in each row of input, or between offsets, of "
        "which the last may be the end; indices equal to padding_idx count for nothing.",
        embedding_bag, bags),
    row("affine_grid(tensor theta, int[] size, bool align_corners=False) -> tensor",
        "Where the affine maps theta read the pixels of images of this size.", affine_grid, grids),
    row("grid_sample(tensor input, tensor grid, str mode='bilinear', str padding_mode='zeros', bool "
        "align_corners=False) -> tensor",
        "Images read at the places of a grid, whose coordinates (x, y) go from -1 to 1.", grid_sample, samplings),
};

}  // namespace

void register_grids(Registry& r) {
  for (auto& row : kRows) r.add(row);
}

}  // namespace thunder
