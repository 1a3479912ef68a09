// group_norm, instance_norm and local_response_norm, as formulas over statistics of parts of the channels.
#include <algorithm>

#include "ops/tables.h"

namespace thunder {
namespace {

void require_channels(const Call& c, size_t param, Dim channels) {
  if (!c.has(param)) return;
  c.require(c.type(param).shape == Shape{channels}, c.op.schema.params[param].name, " must have shape [",
            name(channels), "], got ", name(c.type(param).shape), "; ", c.types());
}
// x standardised over axes.
Var standardise(Var x, std::span<const Dim> axes, double eps) {
  Var mean = mean_kept(x, axes);
  return (x - mean) * rsqrt(variance_kept(x, mean, axes) + eps);
}
Var apply_weight_and_bias(const Call& c, Var y, size_t weight, size_t bias) {
  if (c.has(weight)) y = y * along_axis(convert(c.var(weight), y.dtype()), 1, y.rank());
  if (c.has(bias)) y = y + along_axis(convert(c.var(bias), y.dtype()), 1, y.rank());
  return y;
}

Results group_norm(Call& c) {
  Var x = c.var(0);
  const int64_t groups = c.integer(1);
  c.require(is_real(x.dtype()) && x.rank() >= 2, "input must be real and [batch, channels, ...]; ", c.types());
  const Dim channels = x.size(1);
  c.require(groups > 0 && hint(channels) % groups == 0, "num_groups ", groups, " must divide the channels ",
            name(channels));
  require_channels(c, 2, channels), require_channels(c, 3, channels);
  const Shape shape = x.shape();
  Dim rest = channels / groups;
  for (size_t i = 2; i < shape.size(); i++) rest = rest * shape[i];
  Var y = standardise(reshape_to(computed(x), Shape{shape[0], groups, rest}), Shape{2}, c.real(4));
  return convert(apply_weight_and_bias(c, reshape_to(y, shape), 2, 3), c.type(0).dtype);
}

// input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps
Results instance_norm(Call& c) {
  Var x = c.var(0);
  c.require(is_real(x.dtype()) && x.rank() >= 2, "input must be real and [batch, channels, ...]; ", c.types());
  const Dim channels = x.size(1);
  for (size_t i : {1, 2, 3, 4}) require_channels(c, i, channels);
  x = computed(x);
  Var y;
  if (c.flag(5)) {
    c.require(x.rank() >= 3, "input must have dims to take statistics of, got ", name(c.type(0)));
    y = standardise(x, last_axes(x.rank() - 2, x.rank()), c.real(7));
  } else {
    c.require(c.has(1) && c.has(2), "without use_input_stats running_mean and running_var must be given");
    const auto channel = [&](size_t i) { return along_axis(convert(c.var(i), x.dtype()), 1, x.rank()); };
    y = (x - channel(1)) * rsqrt(channel(2) + c.real(7));
  }
  return convert(apply_weight_and_bias(c, y, 3, 4), c.type(0).dtype);
}

// Divided by a power of the mean square over neighbouring channels.
Results local_response_norm(Call& c) {
  Var x = c.var(0);
  const int64_t size = c.integer(1);
  c.require(is_real(x.dtype()) && x.rank() >= 3, "input must be real and [batch, channels, length, ...]; ", c.types());
  c.require(size >= 1, "size must be at least 1, got ", size);
  x = computed(x);
  Shape low(x.rank(), 0), high(x.rank(), 0);
  // Further neighbours than there are channels are zeros.
  const int64_t before = std::min(size / 2, hint(x.size(1))), behind = std::min((size - 1) / 2, hint(x.size(1)));
  constexpr int64_t kMostNeighbours = 4096;  // each is a line
  c.require(before + behind <= kMostNeighbours, "size ", size, " over ", name(x.size(1)), " channels adds up ",
            before + behind, " neighbours, more than ", kMostNeighbours, "; use avg_pool over the channels of x * x");
  low[1] = before, high[1] = behind;
  Var squares = c.builder.call(Prim::pad, {x * x, low, high, 0.0}), sum;
  for (int64_t k = 0; k <= before + behind; k++) {
    Var part = c.builder.call(Prim::slice, {squares,
                                              [&] {
                                                Shape s(x.rank(), 0);
                                                s[1] = k;
                                                return s;
                                              }(),
                                              [&] {
                                                Shape e = x.shape();
                                                e[1] = e[1] + k;
                                                return e;
                                              }(),
                                              Shape(x.rank(), 1)});
    sum = sum ? sum + part : part;
  }
  Var scale = sum * (c.real(2) / static_cast<double>(size)) + c.real(4);
  return convert(x / c.builder.call("pow", {scale, c.real(3)}), c.type(0).dtype);
}

void sample_grouped(Samples& s) {
  s.add({TensorSpec{{2, 4, 3}}, 2, TensorSpec{{4}}, TensorSpec{{4}}});
  s.add({TensorSpec{{3, 6}}, 3});
  s.add({TensorSpec{{2, 4, 2, 2}, DType::bf16}, 1});
  s.refuse({TensorSpec{{2, 4}}, 3}, "must divide");
  s.refuse({TensorSpec{{2, 4, 3}}, 2, TensorSpec{{3}}}, "weight must have shape [4], got [3]");
}
void sample_instances(Samples& s) {
  const TensorSpec channel{{3}}, variance{{3}, DType::f32, 0.5, 2};
  s.add({TensorSpec{{2, 3, 4}}});
  s.add({TensorSpec{{2, 3, 2, 3}}, SampleArg(), SampleArg(), channel, channel});
  s.add({TensorSpec{{2, 3, 4}}, channel, variance, channel, channel, false});
  s.refuse({TensorSpec{{2, 3, 4}}, SampleArg(), SampleArg(), channel, channel, false}, "running_mean");
}
void sample_neighbours(Samples& s) {
  s.add({TensorSpec{{2, 4, 3}}, 2});
  s.add({TensorSpec{{1, 5, 2, 2}}, 3, 0.5, 0.5, 2.0});
  s.refuse({TensorSpec{{2, 4}}, 2}, "length");
  s.refuse({TensorSpec{{1, 5000, 1}}, 10000}, "9999 neighbours, more than 4096");
}

constexpr OpRow kRows[] = {
    composite(
        "group_norm(tensor input, int num_groups, tensor? weight=None, tensor? bias=None, float eps=1e-05) -> tensor",
        CastPolicy::fp32, "Groups of channels standardised, then each channel scaled and shifted.", group_norm,
        sample_grouped),
    composite(
        "instance_norm(tensor input, tensor? running_mean=None, tensor? running_var=None, tensor? weight=None, tensor? "
        "bias=None, bool use_input_stats=True, float momentum=0.1, float eps=1e-05) -> tensor",
        CastPolicy::fp32,
        "Each channel of each sample standardised, by its own or the running statistics, then scaled and shifted. "
        "Leaves the running statistics alone.",
        instance_norm, sample_instances),
    composite("local_response_norm(tensor input, int size, float alpha=0.0001, float beta=0.75, float k=1.0) -> tensor",
              CastPolicy::none,
              "The input divided by (k + alpha * the mean square of size neighbouring channels) ** beta.",
              local_response_norm, sample_neighbours),
};

}  // namespace

extern const OpRows norms_ops = kRows;

}  // namespace thunder
