// Images resized and rearranged: interpolation along each dim, and channels traded for pixels.
#include <algorithm>

#include "ops/cubic.h"

namespace thunder {
namespace {

// ---- interpolation: along one dim after the other ----

// Where the pixels of a dim are read. `scale` is the input's size by the result's, or what the caller says it is.
struct Resize {
  size_t axis;
  Dim from, to;
  double scale;
  bool corners;
};

double size_as_double(Dim size) { return static_cast<double>(hint(size)); }

Var iota_f64(Var like, Dim n) {
  return like.builder->call(Prim::iota, {Shape{n}, DType::f64, like.type().device});
}
Var take_clamped(Var x, const Resize& r, Var place) {
  return x.builder->call(Prim::take, {x, static_cast<int64_t>(r.axis),
                                        convert(clamped(place, 0, size_as_double(r.from) - 1), DType::i64)});
}
Var resize_nearest(Var x, const Resize& r, double offset) {
  return take_clamped(x, r, floor((iota_f64(x, r.to) + offset) * r.scale));
}
// The place of each result's centre in the input, or of its corners.
Var source_centres(Var x, const Resize& r) {
  Var i = iota_f64(x, r.to);
  return r.corners ? i * r.scale : (i + 0.5) * r.scale - 0.5;
}
Var weights_along_axis(Var weights, Var x, const Resize& r) {
  return along_axis(convert(weights, x.dtype()), r.axis, x.rank());
}
Var resize_linear(Var x, const Resize& r) {
  Var at = maximum(source_centres(x, r), 0.0), low = floor(at);
  Var a = take_clamped(x, r, low), b = take_clamped(x, r, low + 1.0), w = weights_along_axis(at - low, x, r);
  return a * (1.0 - w) + b * w;
}
Var resize_cubic(Var x, const Resize& r) {
  Var at = source_centres(x, r), low = floor(at), y;
  const auto weights = cubic_weights(at - low);
  for (int k = 0; k < 4; k++) {
    Var part = take_clamped(x, r, low + (k - 1.0)) * weights_along_axis(weights[static_cast<size_t>(k)], x, r);
    y = y ? y + part : part;
  }
  return y;
}

// Before a size shrinks, all pixels that fall to a result count, by a filter as wide as the shrinking: a linear one, or
// the cubic convolution with a = -0.5. The product with a matrix of weights.
Var resize_antialiased(Var x, const Resize& r, bool is_cubic) {
  constexpr double a = -0.5;
  const double wider = std::max(r.scale, 1.0), reach = (is_cubic ? 2 : 1) * wider;
  Var centre = along_axis((iota_f64(x, r.to) + 0.5) * r.scale, 0, 2), j = along_axis(iota_f64(x, r.from), 1, 2);
  Var first = truncated(centre - reach + 0.5), behind = truncated(centre + reach + 0.5);
  Var d = abs((j - centre + 0.5) * (1 / wider));
  Var weight = relu(1.0 - d);
  if (is_cubic)
    weight = where(lt(d, 1.0), ((a + 2) * d - (a + 3)) * d * d + 1.0,
                   where(lt(d, 2.0), ((d - 5.0) * d + 8.0) * d * a - 4 * a, 0.0));
  weight = where(both(ge(j, first), lt(j, behind)), weight, 0.0);
  weight = convert(weight / sum_kept(weight, Shape{1}), x.dtype());
  const auto axis = static_cast<int64_t>(r.axis);
  Var lines = x.builder->call("transpose", {x, axis, -1});
  return x.builder->call("transpose", {x.builder->call("matmul", {lines, swap_last_two(weight)}), axis, -1});
}

// A size times a factor, rounded down: a formula if the factor, or its inverse, is an integer.
Dim scale_size(Dim size, double factor) {
  const auto is_count = [](double n) { return n >= 1 && n <= INT32_MAX && n == std::floor(n); };
  if (is_count(factor)) return size * Dim(static_cast<int64_t>(factor));
  if (is_count(1 / factor)) return size / Dim(static_cast<int64_t>(1 / factor));
  return static_cast<int64_t>(std::floor(size_as_double(size) * factor));
}

// Parameters: input, size, scale_factor, mode, align_corners, recompute_scale_factor, antialias.
std::vector<Resize> read_resizes(const Call& c, Var x, bool corners) {
  const size_t dims = x.rank() - 2;
  c.require(c.has(1) != c.has(2), "takes either size or scale_factor");
  const bool recomputed = c.has(5) && c.flag(5);
  c.require(!recomputed || c.has(2), "recompute_scale_factor belongs to scale_factor, not to size");
  const size_t given = c.has(1) ? c.dims(1).size() : c.reals(2).size();
  c.require(given == 1 || given == dims, c.has(1) ? "size" : "scale_factor", " must have one value or ", dims, ", got ",
            given);
  std::vector<Resize> out;
  for (size_t i = 0; i < dims; i++) {
    Resize r{2 + i, x.shape()[2 + i], 0, 1, corners};
    c.require(hint(r.from) > 0, "sizes must not be 0, got ", name(x.type()));
    const size_t at = given == 1 ? 0 : i;
    r.to = c.has(1) ? c.dims(1)[at] : scale_size(r.from, c.reals(2)[at]);
    c.require(hint(r.to) > 0 && hint(r.to) <= INT32_MAX, "the result would have size ", name(r.to));
    if (corners)
      r.scale = hint(r.to) > 1 ? (size_as_double(r.from) - 1) / (size_as_double(r.to) - 1) : 0;
    else
      r.scale = c.has(2) && !recomputed ? 1 / c.reals(2)[at] : size_as_double(r.from) / size_as_double(r.to);
    out.push_back(r);
  }
  return out;
}
Results interpolate(Call& c) {
  Var x = c.var(0);
  const std::string_view mode = c.text(3);
  c.require(is_real(x.dtype()) && x.rank() >= 3 && x.rank() <= 5,
            "input must be real and [batch, channels, ...] with one to three more dims; ", c.types());
  const bool is_linear = mode == "linear" || mode == "bilinear" || mode == "trilinear", is_cubic = mode == "bicubic";
  const bool by_copy = mode == "nearest" || mode == "nearest-exact";
  c.require(is_linear || is_cubic || by_copy || mode == "area",
            "mode must be 'nearest', 'nearest-exact', 'linear', 'bilinear', 'trilinear', 'bicubic' or 'area', got '",
            mode, "'");
  const size_t wanted = mode == "linear" ? 3 : mode == "bilinear" || is_cubic ? 4 : mode == "trilinear" ? 5 : x.rank();
  c.require(x.rank() == wanted, "mode '", mode, "' needs an input of ", wanted, " dims; ", c.types());
  const bool corners = c.has(4) && c.flag(4);
  c.require(!corners || is_linear || is_cubic, "align_corners belongs to linear and cubic modes, got '", mode, "'");
  const bool filters = c.flag(6);
  c.require(!filters || is_cubic || mode == "bilinear", "antialias belongs to modes 'bilinear' and 'bicubic', got '",
            mode, "'");
  const auto all = read_resizes(c, x, corners);
  if (mode == "area") {
    Shape size;
    for (const Resize& r : all) size.push_back(r.to);
    return c.builder.call(x.rank() == 3   ? "adaptive_avg_pool1d"
                          : x.rank() == 4 ? "adaptive_avg_pool2d"
                                          : "adaptive_avg_pool3d",
                          {x, size});
  }
  if (!by_copy) x = computed(x);
  for (const Resize& r : all) {
    if (by_copy)
      x = resize_nearest(x, r, mode == "nearest" ? 0 : 0.5);
    else if (filters)
      x = resize_antialiased(x, r, is_cubic);
    else
      x = is_cubic ? resize_cubic(x, r) : resize_linear(x, r);
  }
  return convert(x, c.type(0).dtype);
}

// ---- channels as pixels ----

Results pixel_shuffle(Call& c) {
  Var x = c.var(0);
  const int64_t r = c.integer(1);
  c.require(x.rank() >= 3, "input must be [..., channels, height, width]; ", c.types());
  const Dim channels = x.size(-3), h = x.size(-2), w = x.size(-1);
  const bool small = r > 0 && r <= hint(channels);  // so that the square does not overflow
  c.require(small ? hint(channels) % (r * r) == 0 : r > 0 && hint(channels) == 0, "the square of upscale_factor ", r,
            " must divide the channels ", name(channels));
  Shape lead(x.shape().begin(), x.shape().end() - 3), whole = lead;
  const Dim batch = elements(lead);
  const Dim left = small ? channels / (r * r) : Dim(0);
  Var y = reshape_to(x, Shape{batch, left, r, r, h, w});
  for (Dim d : {left, h * r, w * r}) whole.push_back(d);
  return reshape_to(permute_to(y, Shape{0, 1, 4, 2, 5, 3}), whole);
}
Results pixel_unshuffle(Call& c) {
  Var x = c.var(0);
  const int64_t r = c.integer(1);
  c.require(x.rank() >= 3, "input must be [..., channels, height, width]; ", c.types());
  const Dim channels = x.size(-3), h = x.size(-2), w = x.size(-1);
  c.require(r > 0 && hint(h) % r == 0 && hint(w) % r == 0, "downscale_factor ", r, " must divide the height ", name(h),
            " and the width ", name(w));
  Shape lead(x.shape().begin(), x.shape().end() - 3), whole = lead;
  Var y = reshape_to(x, Shape{elements(lead), channels, h / r, r, w / r, r});
  for (Dim d : {channels * (r * r), h / r, w / r}) whole.push_back(d);
  return reshape_to(permute_to(y, Shape{0, 1, 3, 5, 2, 4}), whole);
}
Results channel_shuffle(Call& c) {
  Var x = c.var(0);
  const int64_t groups = c.integer(1);
  c.require(x.rank() >= 3, "input must be [batch, channels, ...]; ", c.types());
  c.require(groups > 0 && hint(x.size(1)) % groups == 0, "groups ", groups, " must divide the channels ",
            name(x.size(1)));
  const Shape shape = x.shape();
  Dim rest = 1;
  for (size_t i = 2; i < shape.size(); i++) rest = rest * shape[i];
  return reshape_to(permute_to(reshape_to(x, Shape{shape[0], groups, shape[1] / groups, rest}), Shape{0, 2, 1, 3}),
                    shape);
}

// ---- samples ----

using Ints = std::vector<int64_t>;

void sample_interpolations(Samples& s) {
  s.add({TensorSpec{{1, 2, 3}}, 5});
  s.add({TensorSpec{{1, 2, 5}}, 3, SampleArg(), "nearest-exact"});
  s.add({TensorSpec{{1, 2, 3, 5}}, Ints{12, 10}});
  s.add({TensorSpec{{1, 2, 4}}, 7, SampleArg(), "linear"});
  s.add({TensorSpec{{1, 1, 3, 4}}, Ints{5, 2}, SampleArg(), "bilinear", true});
  s.add({TensorSpec{{1, 1, 3, 4}}, Ints{6, 3}, SampleArg(), "bilinear", false});
  s.add({TensorSpec{{1, 1, 4, 4}}, Ints{6, 3}, SampleArg(), "bicubic"});
  s.add({TensorSpec{{1, 1, 2, 2, 3}}, Ints{3, 3, 2}, SampleArg(), "trilinear"});
  s.add({TensorSpec{{1, 2, 4}}, 2, SampleArg(), "area"});
  s.add({TensorSpec{{1, 1, 5, 4}}, Ints{3, 6}, SampleArg(), "bilinear", SampleArg(), SampleArg(), true});
  s.add({TensorSpec{{1, 1, 7, 5}}, Ints{2, 4}, SampleArg(), "bicubic", true, SampleArg(), true});
  s.refuse({TensorSpec{{1, 2, 3}}, 5, SampleArg(), "linear", SampleArg(), SampleArg(), true}, "antialias belongs");
  s.refuse({TensorSpec{{1, 2, 3}}, 5, SampleArg(), "nearest", SampleArg(), true}, "belongs to scale_factor");
  s.refuse({TensorSpec{{1, 2, 3}}}, "either size or scale_factor");
  s.refuse({TensorSpec{{1, 2, 3}}, 5, SampleArg(), "bilinear"}, "needs an input of 4 dims");
  s.refuse({TensorSpec{{1, 2, 3}}, 5, SampleArg(), "spline"}, "'spline'");
}
void sample_shuffles(Samples& s) {
  s.add({TensorSpec{{2, 8, 2, 3}}, 2});
  s.refuse({TensorSpec{{2, 3, 2, 3}}, 2}, "must divide");
}
void sample_unshuffles(Samples& s) {
  s.add({TensorSpec{{2, 2, 4, 6}}, 2});
  s.refuse({TensorSpec{{2, 2, 3, 6}}, 2}, "must divide");
}
void sample_channels(Samples& s) {
  s.add({TensorSpec{{2, 6, 3}}, 3});
  s.refuse({TensorSpec{{2, 6, 3}}, 4}, "must divide");
}

constexpr OpRow kRows[] = {
    composite(
        "interpolate(tensor input, int[]? size=None, float[]? scale_factor=None, str mode='nearest', bool? "
        "align_corners=None, bool? recompute_scale_factor=None, bool antialias=False) -> tensor",
        CastPolicy::none,
        "The dims behind batch and channels resized: nearest, nearest-exact, linear, bilinear, trilinear, bicubic or "
        "area. recompute_scale_factor: by the rounded sizes; antialias: all pixels count where sizes shrink.",
        interpolate, sample_interpolations),
    composite("pixel_shuffle(tensor input, int upscale_factor) -> tensor", CastPolicy::none,
              "Channels as pixels: [c * r * r, h, w] becomes [c, h * r, w * r].", pixel_shuffle, sample_shuffles),
    composite("pixel_unshuffle(tensor input, int downscale_factor) -> tensor", CastPolicy::none,
              "Pixels as channels: [c, h * r, w * r] becomes [c * r * r, h, w].", pixel_unshuffle, sample_unshuffles),
    composite("channel_shuffle(tensor input, int groups) -> tensor", CastPolicy::none,
              "The channels of groups side by side.", channel_shuffle, sample_channels),
};

}  // namespace

extern const OpRows images_ops = kRows;

}  // namespace thunder
