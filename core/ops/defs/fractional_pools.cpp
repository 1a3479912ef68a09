// Max pools whose windows lie at random, so that a size shrinks by any factor (Graham: "Fractional max-pooling", 2014).
#include "ops/pool_windows.h"

namespace thunder {
namespace {

using namespace pools;

// Parameters: input, kernel_size, output_size, output_ratio, _random_samples.

int64_t read_result_size(const Call& c, size_t i, size_t dims, int64_t size) {
  if (c.has(2)) return value_at(c, 2, i, dims, 1);
  auto ratios = c.reals(3);
  c.require(ratios.size() == 1 || ratios.size() == dims, "output_ratio must have one value or ", dims, ", got ",
            ratios.size());
  const double ratio = ratios[ratios.size() == 1 ? 0 : i];
  c.require(ratio > 0 && ratio < 1, "output_ratio must be between 0 and 1, got ", ratio);
  return static_cast<int64_t>(static_cast<double>(size) * ratio);
}
// Where each window begins along a dim: steps of two sizes that follow each other as the sample says. The last one
// ends where the dim does.
Var window_begins(const Call& c, Var sample, int64_t size, int64_t kernel, int64_t results) {
  c.require(results >= 1 && kernel + results - 1 <= size, "windows of ", kernel, " cannot give ", results,
            " results of a dim of ", size, "; ", c.types());
  const auto last = static_cast<double>(size - kernel);
  Var number = counted_along(c.builder, results, 2, 3, sample.type().device), i = convert(number, sample.dtype());
  const double step = results > 1 ? last / static_cast<double>(results - 1) : 0;
  Var place = floor((i + sample) * step) - floor(sample * step);
  return convert(where(eq(number, results - 1), last, place), DType::i64);
}
Var samples_of(const Call& c, Var x, size_t dims) {
  const Shape shape{x.size(0), x.size(1), static_cast<int64_t>(dims)};
  if (!c.has(4)) return c.builder.call("rand", {shape, x.dtype(), x.type().device});
  c.require(c.type(4).shape == shape && is_real(c.type(4).dtype), "_random_samples must be real ", name(shape), "; ",
            c.types());
  return convert(c.var(4), x.dtype());
}

// The greatest element of each window, and where it was in its flattened plane or volume.
template <size_t dims>
Results pool_with_indices(Call& c) {
  Builder& b = c.builder;
  Var x = computed(c.var(0));
  c.require(is_real(x.dtype()) && (x.rank() == dims + 1 || x.rank() == dims + 2), "input must be real and have ",
            dims + 1, " or ", dims + 2, " dims, got ", name(c.type(0)));
  c.require(c.has(2) != c.has(3), "takes either output_size or output_ratio");
  const bool single = x.rank() == dims + 1;
  if (single) x = b.call("unsqueeze", {x, 0});
  const Dim n = x.size(0), channels = x.size(1);
  Var samples = samples_of(c, x, dims), place;
  Shape made{n, channels};
  int64_t plane = 1, results = 1, window = 1;
  for (size_t i = 0; i < dims; i++) {
    const Dim size = x.shape()[2 + i];
    c.require(size.constant(), "the sizes must be known while tracing, got ", name(x.type()));
    const int64_t kernel = value_at(c, 1, i, dims, 1), result = read_result_size(c, i, dims, size.value());
    // In a plane the first sample is that of the width, as in PyTorch.
    const auto which = static_cast<int64_t>(dims == 2 ? 1 - i : i);
    Var first = window_begins(c, b.call("slice", {samples, 2, which, which + 1, 1}), size.value(), kernel, result);
    Shape of_result(2 + 2 * dims, 1);
    of_result[0] = n, of_result[1] = channels, of_result[2 + i] = result;
    Var along = reshape_to(first, of_result) + counted_along(b, kernel, 2 + dims + i, 2 + 2 * dims, x.type().device);
    place = place ? place * size.value() + along : along;
    made.push_back(result), plane *= size.value(), results *= result, window *= kernel;
  }
  const Shape flat{n, channels, plane}, all{n, channels, results * window}, rows{n, channels, results, window},
      column{n, channels, results, 1};
  Var values = reshape_to(b.call("gather", {reshape_to(x, flat), 2, reshape_to(place, all)}), rows);
  Var best = reshape_to(b.call(Prim::argmax, {values, 3}), column);
  if (single) made.erase(0);
  const auto picked = [&](Var of) { return reshape_to(b.call("gather", {of, 3, best}), made); };
  return {convert(picked(values), c.type(0).dtype).id, picked(reshape_to(place, rows)).id};
}
template <size_t dims>
Results pool_values(Call& c) {
  return c.builder.var(pool_with_indices<dims>(c)[0]);
}

// ---- samples ----

template <size_t dims>
void sample_windows_at_random(Samples& s) {
  const auto drawn = [](int64_t n, int64_t channels) {
    return TensorSpec{{n, channels, static_cast<int64_t>(dims)}, DType::f32, 0, 0.99};
  };
  s.add({image<dims>(6), 2, 3, SampleArg(), drawn(2, 1)});
  s.add({image<dims>(5, false), 2, 1, SampleArg(), drawn(1, 2)});
  s.add({image<dims>(5, true, DType::bf16), 1, 5, SampleArg(), drawn(2, 1)});
  s.refuse({image<dims>(5), 2}, "either output_size or output_ratio");
  s.refuse({image<dims>(5), 3, 4, SampleArg(), drawn(2, 1)}, "windows of 3 cannot give 4 results of a dim of 5");
  s.refuse({image<dims>(5), 2, 2, SampleArg(), drawn(1, 1)}, "_random_samples must be real");
}

constexpr std::string_view kGreatest =
    "The greatest element of each of output_size windows (output_ratio: so many of each size) that lie at random, as "
    "_random_samples in [0, 1) say.";
constexpr std::string_view kPlaces =
    "The greatest element of each of output_size windows that lie at random, and where it was in its flattened plane "
    "or "
    "volume.";

constexpr OpRow kRows[] = {
    composite(
        "fractional_max_pool2d(tensor input, int[] kernel_size, int[]? output_size=None, float[]? output_ratio=None, "
        "tensor? _random_samples=None) -> tensor",
        CastPolicy::none, kGreatest, pool_values<2>, sample_windows_at_random<2>, kRandom,
        {.variant = {"return_indices", "fractional_max_pool2d_with_indices"}}),
    composite("fractional_max_pool2d_with_indices(tensor input, int[] kernel_size, int[]? output_size=None, float[]? "
              "output_ratio=None, tensor? _random_samples=None) -> (tensor, tensor)",
              CastPolicy::none, kPlaces, pool_with_indices<2>, sample_windows_at_random<2>, kRandom),
    composite(
        "fractional_max_pool3d(tensor input, int[] kernel_size, int[]? output_size=None, float[]? output_ratio=None, "
        "tensor? _random_samples=None) -> tensor",
        CastPolicy::none, kGreatest, pool_values<3>, sample_windows_at_random<3>, kRandom,
        {.variant = {"return_indices", "fractional_max_pool3d_with_indices"}}),
    composite("fractional_max_pool3d_with_indices(tensor input, int[] kernel_size, int[]? output_size=None, float[]? "
              "output_ratio=None, tensor? _random_samples=None) -> (tensor, tensor)",
              CastPolicy::none, kPlaces, pool_with_indices<3>, sample_windows_at_random<3>, kRandom),
};

}  // namespace

extern const OpRows fractional_pools_ops = kRows;

}  // namespace thunder
