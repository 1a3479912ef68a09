// Greatest elements of windows with where they were, and back: max_unpool.
#include "ops/extremes.h"
#include "ops/pool_windows.h"

namespace thunder {
namespace {

using namespace pools;

// ---- one dim: max_pool2d over rows of height 1 ----

Results pool_as_one_row(Call& c, std::string_view op) {
  Var x = c.var(0);
  c.require(x.rank() == 2 || x.rank() == 3, "input must be [batch, channels, length] or [channels, length], got ",
            name(x.type()));
  const auto row = [&](size_t param, int64_t other) { return Shape{other, value_at(c, param, 0, 1, 0)}; };
  Shape tall = x.shape();
  tall.insert(x.rank() - 1, 1);
  const Shape kernel = row(1, 1), stride = c.has(2) && !c.dims(2).empty() ? row(2, 1) : kernel, padding = row(3, 0),
              dilation = row(4, 1);
  Results made = c.builder.results(op, {reshape_to(x, tall), kernel, stride, padding, dilation, c.flag(5)});
  for (ValueId& v : made) {
    Shape flat = c.builder.type(v).shape;
    flat.erase(flat.size() - 2);
    v = reshape_to(c.builder.var(v), flat).id;
  }
  return made;
}
Results max_pool1d(Call& c) { return pool_as_one_row(c, "max_pool2d"); }
Results max_pool1d_with_indices(Call& c) { return pool_as_one_row(c, "max_pool2d_with_indices"); }

// ---- three dims: planes, and then the first of the greatest over their depth, or the last NaN ----

struct Best {
  Var value, place;
};
Best fold_depth_maximum(Best all, const Window& w) {
  Builder& b = *all.value.builder;
  Var values = padded(all.value, w.axis, w.padding, w.behind, least_of(all.value.dtype())),
      places = padded(all.place, w.axis, w.padding, w.behind, -1);
  Best best;
  for (int64_t k = 0; k < w.kernel; k++) {
    Best part{at_place(values, w, k), at_place(places, w, k)};
    if (!best.value) {
      best = part;
      continue;
    }
    // Padding has no place, and gives way to any element.
    Var better = either(gt(part.value, best.value), lt(best.place, 0));
    if (is_real(part.value.dtype())) better = either(better, isnan(part.value));
    best = {b.call("where", {better, part.value, best.value}), b.call("where", {better, part.place, best.place})};
  }
  return best;
}
Results max_pool3d_with_indices(Call& c) {
  Var x = c.var(0);
  auto all = windows(c, x, 3, 4, c.flag(5));
  const Shape given = x.shape();
  const bool single = x.rank() == 4;
  if (single) x = c.builder.call("unsqueeze", {x, 0});
  const Shape& s = x.shape();
  const auto two = [&](int64_t Window::* of) { return Shape{all[1].*of, all[2].*of}; };
  const Results planes = c.builder.results(
      "prims.max_pool2d", {reshape_to(x, Shape{s[0], s[1] * s[2], s[3], s[4]}), two(&Window::kernel),
                           two(&Window::stride), two(&Window::padding), two(&Window::dilation), c.flag(5)});
  const Shape volume{s[0], s[1], s[2], all[1].count, all[2].count};
  Var place = reshape_to(c.builder.var(planes[1]), volume),
      plane = counted_along(c.builder, s[2], 2, 5, x.type().device);
  all[0].axis = 2;
  const Best best = fold_depth_maximum(
      {reshape_to(c.builder.var(planes[0]), volume), place + plane * (all[1].size * all[2].size)}, all[0]);
  const Shape found{s[0], s[1], all[0].count, all[1].count, all[2].count};
  Results out{reshape_to(best.value, found).id, reshape_to(best.place, found).id};
  if (single)
    for (ValueId& v : out) v = c.builder.call("squeeze", {c.builder.var(v), Shape{0}}).id;
  return out;
}

// ---- adaptive: from the last dim on, so that the first in row-major order stays ----

template <size_t dims>
Results adaptive_with_indices(Call& c) {
  Builder& b = c.builder;
  Var x = c.var(0);
  c.require(x.rank() == dims + 1 || x.rank() == dims + 2, "input must have ", dims + 1, " or ", dims + 2, " dims, got ",
            name(x.type()));
  const size_t lead = x.rank() - dims;
  const Shape plane(x.shape().begin() + lead, x.shape().end());
  Var at = expand_to(reshape_to(b.call(Prim::iota, {Shape{elements(plane)}, DType::i64, x.type().device}), plane),
                     x.shape());
  for (size_t i = dims; i-- > 0;) {
    const auto axis = static_cast<int64_t>(lead + i);
    const int64_t results = share_count(c, x, lead + i, i, dims);
    if (x.shape()[lead + i] == Dim(results)) continue;
    Var place = shares(x, lead + i, results, [&](Var part, int64_t start) {
      Shape kept = part.shape();
      kept[lead + i] = 1;
      return reshape_to(b.call(Prim::argmax, {part, axis}), kept) + start;
    });
    x = b.call(Prim::gather, {x, axis, place}), at = b.call(Prim::gather, {at, axis, place});
  }
  return {x.id, at.id};
}

// ---- max_unpool ----

// What a pool of these windows was made of, or output_size, which may have the dims in front as well.
Shape unpooled_plane_shape(const Call& c, size_t dims) {
  const Shape& in = c.type(0).shape;
  const size_t lead = in.size() - dims;
  auto given = c.has(5) ? c.dims(5) : std::span<const Dim>();
  c.require(given.empty() || given.size() == dims || given.size() == in.size(), "output_size must have ", dims,
            " values, or ", in.size(), ", got ", name(given));
  Shape plane;
  for (size_t i = 0; i < dims; i++) {
    const int64_t kernel = value_at(c, 2, i, dims, 1),
                  stride = c.has(3) && !c.dims(3).empty() ? value_at(c, 3, i, dims, 1) : kernel;
    const int64_t least = (hint(in[lead + i]) - 1) * stride - 2 * value_at(c, 4, i, dims, 0) + kernel;
    const int64_t size = given.empty() ? least : hint(given[given.size() - dims + i]);
    c.require(size > least - stride && size < least + stride && size > 0, "output_size must lie between ",
              least - stride, " and ", least + stride, " in dim ", lead + i, ", got ", size, "; ", c.types());
    plane.push_back(size);
  }
  return plane;
}
template <size_t dims>
Results max_unpool(Call& c) {
  const TensorType &t = c.type(0), &indices = c.type(1);
  c.require(t.rank() == dims + 1 || t.rank() == dims + 2, "input must have ", dims + 1, " or ", dims + 2, " dims; ",
            c.types());
  c.require(indices.dtype == DType::i64 && indices.shape == t.shape,
            "indices must be i64 and have the shape of input; ", c.types());
  const Shape plane = unpooled_plane_shape(c, dims);
  Shape flat(t.shape.begin(), t.shape.end() - dims), whole = flat, zeros = flat;
  flat.push_back(elements(Shape(t.shape.end() - dims, t.shape.end()))), zeros.push_back(elements(plane));
  for (Dim d : plane) whole.push_back(d);
  Var none = full(c.builder, zeros, 0, t.dtype, t.device);
  Var placed = c.builder.call("scatter", {none, -1, reshape_to(c.var(1), flat), reshape_to(c.var(0), flat)});
  return reshape_to(placed, whole);
}

// ---- samples ----

using Ints = std::vector<int64_t>;

template <size_t dims>
void sample_returned(Samples& s) {
  Ints shape(dims + 2, 2), alone(dims + 2, 1);
  shape[0] = 1, alone[0] = 2, alone[1] = 3;
  const TensorSpec places{shape, DType::i64, 0, (1 << 2 * dims) - 1.0};
  s.add({TensorSpec{alone}, TensorSpec{alone, DType::i64, 0, (1 << dims) - 1.0}, 2});
  // If several outputs have the same index, the last one wins, as the gradient cannot tell.
  s.add_without_gradient({TensorSpec{shape}, places, 2, 2, 0, Ints(dims, 5)});
  s.add_without_gradient({TensorSpec{shape}, TensorSpec{shape, DType::i64, 0, 0}, 3, 2, 1});
  s.refuse({TensorSpec{shape}, TensorSpec{shape}, 2}, "indices must be i64");
  s.refuse({TensorSpec{shape}, places, 2, 2, 0, Ints(dims, 9)}, "output_size must lie between 2 and 6");
  s.refuse({TensorSpec{shape}, TensorSpec{shape, DType::i64, 1 << 2 * dims, 1 << 2 * dims}, 2}, "is out of range");
}

constexpr std::string_view kPlaces =
    "The greatest element of each window, and where it was in its flattened plane or volume: the first, or the last "
    "NaN.";
constexpr std::string_view kAdaptivePlaces =
    "The maxima of output_size nearly equal shares of each dim, and where each was in its flattened plane or volume.";
constexpr std::string_view kUnpooled =
    "Zeros with each element at its index in the flattened plane or volume that a max pool of these windows was made "
    "of.";

constexpr OpRow kRows[] = {
    composite(
        "max_pool1d(tensor input, int[] kernel_size, int[]? stride=None, int[] padding=[0], int[] dilation=[1], bool "
        "ceil_mode=False) -> tensor",
        CastPolicy::none, "The largest element of each window; stride is kernel_size unless given. NaN wins.",
        max_pool1d, sample_max_pools<1>, 0, {.variant = {"return_indices", "max_pool1d_with_indices"}}),
    composite("max_pool1d_with_indices(tensor input, int[] kernel_size, int[]? stride=None, int[] padding=[0], int[] "
              "dilation=[1], bool ceil_mode=False) -> "
              "(tensor, tensor)",
              CastPolicy::none, kPlaces, max_pool1d_with_indices, sample_max_pools<1>),
    composite("max_pool3d_with_indices(tensor input, int[] kernel_size, int[]? stride=None, int[] padding=[0], int[] "
              "dilation=[1], bool ceil_mode=False) -> "
              "(tensor, tensor)",
              CastPolicy::none, kPlaces, max_pool3d_with_indices, sample_max_pools<3>),
    composite("adaptive_max_pool1d_with_indices(tensor input, int[] output_size) -> (tensor, tensor)", CastPolicy::none,
              kAdaptivePlaces, adaptive_with_indices<1>, sample_adaptive_pools<1>),
    composite("adaptive_max_pool2d_with_indices(tensor input, int[] output_size) -> (tensor, tensor)", CastPolicy::none,
              kAdaptivePlaces, adaptive_with_indices<2>, sample_adaptive_pools<2>),
    composite("adaptive_max_pool3d_with_indices(tensor input, int[] output_size) -> (tensor, tensor)", CastPolicy::none,
              kAdaptivePlaces, adaptive_with_indices<3>, sample_adaptive_pools<3>),
    composite(
        "max_unpool1d(tensor input, tensor indices, int[] kernel_size, int[]? stride=None, int[] padding=[0], int[]? "
        "output_size=None) -> tensor",
        CastPolicy::none, kUnpooled, max_unpool<1>, sample_returned<1>),
    composite(
        "max_unpool2d(tensor input, tensor indices, int[] kernel_size, int[]? stride=None, int[] padding=[0], int[]? "
        "output_size=None) -> tensor",
        CastPolicy::none, kUnpooled, max_unpool<2>, sample_returned<2>),
    composite(
        "max_unpool3d(tensor input, tensor indices, int[] kernel_size, int[]? stride=None, int[] padding=[0], int[]? "
        "output_size=None) -> tensor",
        CastPolicy::none, kUnpooled, max_unpool<3>, sample_returned<3>),
};

}  // namespace

extern const OpRows max_pools_ops = kRows;

}  // namespace thunder
