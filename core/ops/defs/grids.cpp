// Images and volumes read at places of a grid, and grids made of affine maps.
#include <vector>

#include "ops/cubic.h"

namespace thunder {
namespace {

// ---- affine_grid ----

// The centres of n pixels in [-1, 1], or places from corner to corner.
Var normalized_coordinates(Var like, int64_t n, bool corners) {
  Var i = like.builder->call(Prim::iota, {Shape{n}, like.dtype(), like.type().device});
  if (corners) return n > 1 ? i * (2.0 / static_cast<double>(n - 1)) - 1.0 : i * 0.0;
  return (i * 2.0 + 1.0) / static_cast<double>(n) - 1.0;
}
Results affine_grid(Call& c) {
  Var theta = c.var(0);
  auto size = c.dims(1);
  const size_t dims = size.size() == 5 ? 3 : 2;
  const auto rows = static_cast<int64_t>(dims);
  c.require(theta.rank() == 3 && is_real(theta.dtype()) && size.size() == dims + 2 && theta.size(1) == Dim(rows) &&
                theta.size(2) == Dim(rows + 1),
            "theta must be [batch, 2, 3], and size [batch, channels, height, width], or [batch, 3, 4] where size has a "
            "depth; ",
            c.types());
  const DType dtype = theta.dtype();
  theta = computed(theta);
  Shape plane(size.begin() + 2, size.end()), result = plane;
  const Dim points = elements(plane);
  for (Dim d : plane) c.require(hint(d) > 0, "sizes must be positive, got ", name(size));
  plane.push_back(1);
  ValueList parts;
  for (size_t i = dims; i-- > 0;) {
    Shape along(dims + 1, 1);
    along[i] = plane[i];
    parts.push_back(expand_to(reshape_to(normalized_coordinates(theta, hint(plane[i]), c.flag(2)), along), plane).id);
  }
  parts.push_back(full(c.builder, plane, 1, theta.dtype(), theta.type().device).id);
  Var base = reshape_to(c.builder.call("cat", {parts, -1}), Shape{1, points, rows + 1});
  Var grid = c.builder.call("matmul", {expand_to(base, Shape{size[0], points, rows + 1}), swap_last_two(theta)});
  result.insert(0, size[0]), result.push_back(rows);
  return convert(reshape_to(grid, result), dtype);
}

// ---- grid_sample ----

// One sampled dim of the input.
struct Side {
  int64_t size;
  bool corners;
  std::string_view padding;

  // From [-1, 1] to pixels.
  Var to_pixel_coordinates(Var at) const {
    const auto n = static_cast<double>(size);
    return corners ? (at + 1.0) * ((n - 1) / 2) : ((at + 1.0) * n - 1.0) / 2.0;
  }
  // Points outside of the image, according to the padding.
  Var apply_padding_mode(Var p) const {
    const auto n = static_cast<double>(size);
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
using Place = std::vector<Var>;  // of each dim, from the outermost

struct Sampled {
  Var image;  // [batch, channels, ...]
  std::vector<Side> sides;

  // The pixels of each channel at integer places, zeros outside.
  Var gather_pixels(const Place& place) const {
    Var inside, at;
    for (size_t i = 0; i < sides.size(); i++) {
      const auto last = static_cast<double>(sides[i].size - 1);
      Var within = both(ge(place[i], 0.0), le(place[i], last)), limited = clamped(place[i], 0, last);
      inside = inside ? both(inside, within) : within;
      at = at ? at * static_cast<double>(sides[i].size) + limited : limited;
    }
    const Shape& grid = at.shape();
    const Dim points = elements(Shape(grid.begin() + 1, grid.end())), n = image.size(0), channels = image.size(1);
    Var index = expand_to(reshape_to(convert(at, DType::i64), Shape{grid[0], 1, points}), Shape{n, channels, points});
    Var flat = reshape_to(image, Shape{n, channels, elements(Shape(image.shape().begin() + 2, image.shape().end()))});
    Shape whole = grid;
    whole.insert(1, channels);
    Var taken = reshape_to(image.builder->call(Prim::gather, {flat, 2, index}), whole);
    return where(add_channel_dim(inside), taken, 0.0);
  }
  static Var add_channel_dim(Var grid) {
    Shape shape = grid.shape();
    shape.insert(1, 1);
    return reshape_to(grid, shape);
  }
  // Between the two pixels around of each dim.
  Var sample_linear(const Place& at) const {
    Var sum;
    for (size_t corner = 0; corner < size_t{1} << sides.size(); corner++) {
      Place place;
      Var weight;
      for (size_t i = 0; i < sides.size(); i++) {
        const bool behind = corner >> i & 1;
        Var low = floor(at[i]), w = behind ? at[i] - low : low + 1.0 - at[i];
        place.push_back(behind ? low + 1.0 : low);
        weight = weight ? weight * w : w;
      }
      Var part = gather_pixels(place) * add_channel_dim(weight);
      sum = sum ? sum + part : part;
    }
    return sum;
  }
  // Bicubic: from sixteen pixels of an image, each of which is padded separately.
  Var sample_cubic(const Place& at) const {
    Var sum, top = floor(at[0]), left = floor(at[1]);
    const auto rows = cubic_weights(at[0] - top), columns = cubic_weights(at[1] - left);
    for (size_t i = 0; i < 4; i++)
      for (size_t j = 0; j < 4; j++) {
        const auto di = static_cast<double>(i) - 1, dj = static_cast<double>(j) - 1;
        Var part = gather_pixels({sides[0].apply_padding_mode(top + di), sides[1].apply_padding_mode(left + dj)}) *
                   add_channel_dim(rows[i] * columns[j]);
        sum = sum ? sum + part : part;
      }
    return sum;
  }
};
Results grid_sample(Call& c) {
  Var image = c.var(0), grid = c.var(1);
  const std::string_view mode = c.text(2), padding = c.text(3);
  const size_t dims = image.rank() == 5 ? 3 : 2;
  c.require(image.rank() == dims + 2 && grid.rank() == dims + 2 && grid.size(-1) == Dim(static_cast<int64_t>(dims)) &&
                grid.size(0) == image.size(0) && is_real(image.dtype()),
            "input must be [batch, channels, height, width], and grid [batch, height, width, 2]; or both with a depth, "
            "and 3 coordinates; ",
            c.types());
  c.require(image.dtype() == grid.dtype(), "input and grid must have one dtype; ", c.types());
  c.require(mode == "bilinear" || mode == "nearest" || (mode == "bicubic" && dims == 2),
            "mode must be 'bilinear' or 'nearest', or of images 'bicubic', got '", mode, "'");
  c.require(padding == "zeros" || padding == "border" || padding == "reflection",
            "padding_mode must be 'zeros', 'border' or 'reflection', got '", padding, "'");
  const DType dtype = image.dtype();
  Sampled sampled{computed(image), {}};
  grid = computed(grid);
  Place at;
  for (size_t i = 0; i < dims; i++) {
    const int64_t size = hint(image.shape()[2 + i]);
    c.require(size > 0, "the image has no pixels; ", c.types());
    const Side& side = sampled.sides.emplace_back(Side{size, c.flag(4), padding});
    // The grid's first coordinate is that of the last dim.
    Var place = side.to_pixel_coordinates(c.builder.call("select", {grid, -1, static_cast<int64_t>(dims - 1 - i)}));
    if (mode != "bicubic") place = side.apply_padding_mode(place);
    at.push_back(mode == "nearest" ? apply("round", place) : place);
  }
  return convert(mode == "nearest"   ? sampled.gather_pixels(at)
                 : mode == "bicubic" ? sampled.sample_cubic(at)
                                     : sampled.sample_linear(at),
                 dtype);
}

// ---- samples ----

using Ints = std::vector<int64_t>;

void sample_grids(Samples& s) {
  s.add({TensorSpec{{2, 2, 3}}, Ints{2, 1, 3, 4}});
  s.add({TensorSpec{{1, 2, 3}}, Ints{1, 1, 3, 4}, true});
  s.add({TensorSpec{{2, 3, 4}}, Ints{2, 1, 2, 3, 4}});
  s.refuse({TensorSpec{{2, 3, 3}}, Ints{2, 1, 3, 4}}, "theta must be");
}
void sample_samplings(Samples& s) {
  const TensorSpec image{{2, 2, 4, 3}}, grid{{2, 3, 2, 2}, DType::f32, -1.3, 1.3};
  s.add({image, grid});
  s.add({image, grid, "bilinear", "border", true});
  s.add({image, grid, "bilinear", "reflection"});
  s.add_without_gradient({image, grid, "nearest"});
  s.add({image, grid, "bicubic"});
  s.add({image, grid, "bicubic", "border"});
  s.add({image, grid, "bicubic", "reflection", true});
  const TensorSpec volume{{1, 2, 3, 2, 4}}, places{{1, 2, 2, 2, 3}, DType::f32, -1.3, 1.3};
  s.add({volume, places});
  s.add({volume, places, "bilinear", "reflection", true});
  s.add_without_gradient({volume, places, "nearest", "border"});
  s.refuse({image, grid, "cubic"}, "'cubic'");
  s.refuse({volume, places, "bicubic"}, "of images 'bicubic'");
}

constexpr OpRow kRows[] = {
    composite("affine_grid(tensor theta, int[] size, bool align_corners=False) -> tensor", CastPolicy::none,
              "Where the affine maps theta read the pixels of images, or volumes, of this size.", affine_grid,
              sample_grids),
    composite(
        "grid_sample(tensor input, tensor grid, str mode='bilinear', str padding_mode='zeros', bool "
        "align_corners=False) -> tensor",
        CastPolicy::promote,
        "Images, or volumes, read at the places of a grid, whose coordinates (x, y), or (x, y, z), go from -1 to 1: "
        "bilinear, nearest, and of images bicubic.",
        grid_sample, sample_samplings),
};

}  // namespace

extern const OpRows grids_ops = kRows;

}  // namespace thunder
