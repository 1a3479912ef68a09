// Dropouts of whole channels, and those that keep the mean and variance of selu's results.
#include <algorithm>

#include "ops/tables.h"

namespace thunder {
namespace {

Results dropout_channels(Call& c) {
  const double p = c.real(1);
  c.require(p >= 0 && p <= 1, "p must be a probability, got ", p);
  Var x = c.var(0);
  c.require(is_real(x.dtype()), "input must be real; ", c.types());
  c.require(x.rank() >= 2, "input must have channels; ", c.types());
  if (!c.flag(2) || p == 0) return x;
  if (p == 1) return c.builder.call("zeros_like", {x});
  Shape mask(x.rank(), 1);
  for (size_t i = 0; i < 2; i++) mask[i] = x.shape()[i];
  return where(ge(c.builder.call("rand", {mask, DType::f32, x.type().device}), p), x * (1 / (1 - p)), 0.0);
}
// Dropped values, elements or whole channels, are selu's least one, and the rest is scaled so that mean and variance
// stay.
template <bool of_channels>
Results alpha_dropout(Call& c) {
  constexpr double kLeast = -1.7580993408473766;
  const double p = c.real(1);
  c.require(p >= 0 && p <= 1, "p must be a probability, got ", p);
  Var x = c.var(0);
  if (!c.flag(2) || p == 0) return x;
  c.require(is_real(x.dtype()), "input must be real; ", c.types());
  if (p == 1) return c.builder.call("zeros_like", {x});
  c.require(!of_channels || x.rank() >= 2, "input must have channels; ", c.types());
  Shape shape = x.shape();
  if (of_channels) std::fill(shape.begin() + 2, shape.end(), Dim(1));
  const double a = 1 / std::sqrt((1 - p) * (1 + p * kLeast * kLeast)), b = -a * p * kLeast;
  Var kept = ge(c.builder.call("rand", {shape, DType::f32, x.type().device}), p);
  return where(kept, x * a + b, a * kLeast + b);
}

// ---- samples ----

void sample_channels(Samples& s) {
  s.add({TensorSpec{{3, 4, 5}}});
  s.add({TensorSpec{{3, 4, 5}}, 0.75, true});
  s.add({TensorSpec{{3, 4, 5}}, 0.25, false});
  s.refuse({TensorSpec{{3, 4, 5}}, 1.5}, "probability");
}
void sample_elements_kept(Samples& s) {
  s.add({TensorSpec{{3, 4}}});
  s.add({TensorSpec{{3, 4}}, 0.25, true});
  s.refuse({TensorSpec{{3, 4}}, 1.5}, "probability");
}

constexpr uint32_t kDropoutTags = kRandom | kMayView | kReturnsSelf;

consteval OpRow alias(SchemaText schema) {
  return composite(schema, CastPolicy::none, "Another name.", dropout_channels, sample_channels, kDropoutTags,
                   {.alias_of = "feature_dropout"});
}

constexpr OpRow kRows[] = {
    composite("feature_dropout(tensor input, float p=0.5, bool training=True) -> tensor", CastPolicy::none,
              "Whole channels zero with probability p, else times 1 / (1 - p).", dropout_channels, sample_channels,
              kDropoutTags),
    alias("dropout1d(tensor input, float p=0.5, bool training=True) -> tensor"),
    alias("dropout2d(tensor input, float p=0.5, bool training=True) -> tensor"),
    alias("dropout3d(tensor input, float p=0.5, bool training=True) -> tensor"),
    composite("alpha_dropout(tensor input, float p=0.5, bool training=False) -> tensor", CastPolicy::none,
              "dropout that keeps the mean and variance of selu's results.", alpha_dropout<false>, sample_elements_kept,
              kDropoutTags),
    composite("feature_alpha_dropout(tensor input, float p=0.5, bool training=False) -> tensor", CastPolicy::none,
              "alpha_dropout of whole channels.", alpha_dropout<true>, sample_channels, kDropoutTags),
};

}  // namespace

extern const OpRows dropouts_ops = kRows;

}  // namespace thunder
