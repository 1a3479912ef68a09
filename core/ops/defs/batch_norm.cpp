// batch_norm: channels standardised over the batch while training, by running statistics otherwise.
#include "base/text.h"
#include "ir/dim_reads.h"
#include "ops/formulas.h"
#include "ops/grad.h"
#include "ops/samples.h"

namespace thunder {
namespace {

constexpr size_t kChannel = 1;

void require_channels(const Call& c, size_t input, std::initializer_list<size_t> vectors) {
  const TensorType& x = c.type(input);
  c.require(is_real(x.dtype), "input must be real; ", c.types());
  c.require(x.rank() >= 2, "input must be [batch, channels, ...], got ", name(x));
  const Shape wanted{x.shape[kChannel]};
  for (size_t v : vectors)
    if (c.has(v))
      c.require(c.type(v).shape == wanted, c.op.schema.params[v].name, " must have shape ", name(wanted), ", got ",
                name(c.type(v).shape), "; ", c.types());
}

Dim values_per_channel(const TensorType& x) {
  Shape others = x.shape;
  others.erase(kChannel);
  return elements(others);
}
// Training with one value in each channel is refused. An empty batch changes nothing, as in PyTorch.
void require_batch(const Call& c, size_t input) {
  c.require(!is_equal(values_per_channel(c.type(input)), 1),
            "training needs more than one value in each channel, got input ", name(c.type(input)));
}
bool is_empty(const Call& c, size_t input) { return is_equal(values_per_channel(c.type(input)), 0); }

struct Moments {
  Var mean, variance;  // of size 1 in all but the channels
  Var centred = {}, offset = {};  // the input less a guess at its mean, and the mean of that
};

// The mean of a part of the batch, taken before its elements are widened: else all of the wider input is stored.
Var estimate_mean(Var x, std::span<const Dim> axes) {
  constexpr int64_t kPart = 64;  // of the batch's rows, so that one in so many is read twice
  const Shape starts(x.rank(), 0);
  Shape ends = x.shape();
  ends[0] = (ends[0] + (kPart - 1)) / kPart;
  Builder& b = *x.builder;
  Var part = computed(b.call(Prim::slice, {x, starts, ends, Shape(x.rank(), 1)}));
  return b.call(Prim::detach, {mean_kept(part, axes)});
}

// In one pass, from a guess g: mean = g + E[x - g], variance = E[(x - g)^2] - E[x - g]^2 (T. Chan, G. Golub, R.
// LeVeque: Algorithms for Computing the Sample Variance, 1983, shifted data). What cancels is at most (g - mean)^2 /
// variance times the result, and where g is the mean of a fraction p of the rows that is at most (1 - p) / p, here 63:
// of the 24 bits of a float, six.
Moments compute_moments(Var input) {
  const Shape axes = all_but(kChannel, input.rank());
  Moments m;
  Var near = estimate_mean(input, axes), x = computed(input);
  m.centred = x - near;
  m.offset = mean_kept(m.centred, axes);
  m.mean = near + m.offset;
  Var variance = mean_kept(m.centred * m.centred, axes) - m.offset * m.offset;
  m.variance = x.builder->call("maximum", {variance, full_like(variance, 0)});
  return m;
}

// ---- batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps) ----

Results batch_norm(Call& c) {
  require_channels(c, 0, {1, 2, 3, 4});
  const bool training = c.flag(5);
  c.require(training || (c.has(1) && c.has(2)), "running_mean and running_var must be given unless training");
  if (training) require_batch(c, 0);
  if (training && is_empty(c, 0)) return c.builder.call(Prim::clone, {c.var(0)});
  Var x = computed(c.var(0));
  auto vector = [&](size_t i) { return along_axis(computed(c.var(i)), kChannel, x.rank()); };
  const Moments m = training ? compute_moments(c.var(0)) : Moments{vector(1), vector(2)};
  Var y = (x - m.mean) * rsqrt(m.variance + c.real(7));
  if (c.has(3)) y = y * vector(3);
  if (c.has(4)) y = y + vector(4);
  return convert(y, c.type(0).dtype);
}

void batch_norm_vjp(Grad& g) {
  // Running statistics are plain factors: the decomposition's gradient is as good as any.
  if (!g.flag(5)) return g.descend();
  Results d = g.builder.results("batch_norm_backward", {g.cotangent(), g.var(0), g.var(3), g.var(4), g.real(7)});
  g.add(0, g.builder.var(d[0]));
  if (g.has(3)) g.add(3, g.builder.var(d[1]));
  if (g.has(4)) g.add(4, g.builder.var(d[2]));
}

// grad, input, weight, bias, eps
Results batch_norm_backward(Call& c) {
  require_channels(c, 1, {2, 3});
  require_batch(c, 1);
  c.require(c.type(0).shape == c.type(1).shape, "grad and input must have one shape; ", c.types());
  auto parameter = [&](size_t i, Var gradient) {
    return c.has(i) ? convert(reshape_to(gradient, c.type(i).shape), c.type(i).dtype)
                    : full(c.builder, {}, 0, DType::f32, c.type(0).device);
  };
  Var x = computed(c.var(1)), dy = computed(c.var(0));
  const Shape axes = all_but(kChannel, x.rank());
  if (is_empty(c, 1)) {
    Var none = sum_kept(dy, axes);
    return {full_like(c.var(1), 0).id, parameter(2, none).id, parameter(3, none).id};
  }
  const Moments m = compute_moments(c.var(1));
  Var scale = rsqrt(m.variance + c.real(4)), standard = (x - m.mean) * scale;
  // The weight is a factor of whole channels: outside of the sums, these are the parameters' gradients too. They are
  // made in the pass that makes the moments, where these are not there yet.
  Var against = sum_kept(dy * m.centred, axes), sum = sum_kept(dy, axes);
  against = (against - m.offset * sum) * scale;
  Var n = count(sum, {{values_per_channel(x.type())}});
  if (c.has(2)) scale = scale * along_axis(computed(c.var(2)), kChannel, x.rank());
  Var dx = scale * (dy - sum / n - standard * (against / n));
  return {convert(dx, c.type(1).dtype).id, parameter(2, against).id, parameter(3, sum).id};
}

// ---- batch_norm_update(input, running_mean, running_var, weight, bias, momentum, eps) ----

Results batch_norm_update(Call& c) {
  require_channels(c, 0, {1, 2, 3, 4});
  require_batch(c, 0);
  Var y =
      c.builder.call("batch_norm", {c.var(0), c.args[1], c.args[2], c.args[3], c.args[4], true, c.real(5), c.real(6)});
  if (is_empty(c, 0)) return {y.id, c.var(1).id, c.var(2).id};
  const Moments m = compute_moments(c.var(0));
  // The running variance is that of the population which the batch was drawn from.
  Var n = count(m.variance, {{values_per_channel(c.type(0))}});
  Var unbiased = m.variance * (n / (n - 1.0));
  auto moved = [&](size_t i, Var now) {
    Var then = computed(c.var(i));
    return convert(then * (1 - c.real(5)) + reshape_to(now, then.shape()) * c.real(5), c.type(i).dtype).id;
  };
  return {y.id, moved(1, m.mean), moved(2, unbiased)};
}

// ---- batch_norm_stats(input, eps) ----

Results batch_norm_stats(Call& c) {
  require_channels(c, 0, {});
  const Moments m = compute_moments(c.var(0));
  const Shape channels = {c.type(0).shape[kChannel]};
  return {reshape_to(m.mean, channels).id, reshape_to(rsqrt(m.variance + c.real(1)), channels).id};
}

void sample_batch_norms(Samples& s) {
  const TensorSpec three{{3}}, positive{{3}, DType::f32, 0.5, 2};
  s.add({TensorSpec{{4, 3}}, three, positive});
  s.add({TensorSpec{{4, 3}}, three, positive, three, three});
  s.add({TensorSpec{{2, 3, 4, 5}}, three, positive, three, three, true});
  s.add({TensorSpec{{4, 3, 2}}, SampleArg(), SampleArg(), three, SampleArg(), true, 0.1, 1e-3});
  s.add({TensorSpec{{4, 3}, DType::bf16}, SampleArg(), SampleArg(), SampleArg(), SampleArg(), true});
  s.refuse({TensorSpec{{4, 3}}, SampleArg(), SampleArg()}, "running_mean and running_var must be given");
  s.refuse({TensorSpec{{4, 3}}, TensorSpec{{4}}, positive}, "running_mean must have shape [3], got [4]");
  s.refuse({TensorSpec{{4, 3}}, three, positive, TensorSpec{{4}}}, "weight must have shape [3], got [4]");
  s.add({TensorSpec{{0, 3}}, three, positive, three, three, true});
  s.refuse({TensorSpec{{1, 3}}, three, positive, three, three, true}, "more than one value");
  s.refuse({TensorSpec{{3}}, three, positive}, "[batch, channels, ...]");
}
void update_samples(Samples& s) {
  const TensorSpec three{{3}}, positive{{3}, DType::f32, 0.5, 2};
  s.add({TensorSpec{{4, 3}}, three, positive});
  s.add({TensorSpec{{2, 3, 4, 5}}, three, positive, three, three, 0.3, 1e-3});
  s.refuse({TensorSpec{{4, 3}}, three, TensorSpec{{4}}}, "running_var must have shape [3], got [4]");
}
void stats_samples(Samples& s) {
  s.add({TensorSpec{{4, 3}}, 1e-5});
  s.add({TensorSpec{{2, 3, 4, 5}}, 1e-3});
  s.add({TensorSpec{{4, 3, 2}, DType::bf16}, 1e-5});
  s.refuse({TensorSpec{{3}}, 1e-5}, "[batch, channels, ...]");
}
void sample_batch_norm_gradients(Samples& s) {
  s.add({TensorSpec{{4, 3}}, TensorSpec{{4, 3}}, TensorSpec{{3}}, TensorSpec{{3}}, 1e-5});
  s.add({TensorSpec{{2, 3, 4}}, TensorSpec{{2, 3, 4}}, SampleArg(), SampleArg(), 1e-3});
  s.refuse({TensorSpec{{4, 3}}, TensorSpec{{5, 3}}, SampleArg(), SampleArg(), 1e-3}, "one shape");
}

constexpr OpRow kRows[] = {
    composite("batch_norm(tensor input, tensor? running_mean, tensor? running_var, tensor? weight=None, "
              "tensor? bias=None, bool training=False, float momentum=0.1, float eps=1e-05) -> tensor",
              CastPolicy::none,
              "Each channel standardised, by the batch's own statistics when training, then scaled and shifted. "
              "Leaves the running statistics alone: see batch_norm_update.",
              batch_norm, sample_batch_norms, 0, {.vjp = batch_norm_vjp}),
    composite("batch_norm_update(tensor input, tensor running_mean, tensor running_var, tensor? weight=None, "
              "tensor? bias=None, float momentum=0.1, float eps=1e-05) -> (tensor, tensor, tensor)",
              CastPolicy::none, "batch_norm while training, and the running mean and variance after this batch.",
              batch_norm_update, update_samples),
    composite("batch_norm_stats(tensor input, float eps) -> (tensor, tensor)", CastPolicy::none,
              "The mean of each channel, and 1 / sqrt(variance + eps), by which a training batch_norm standardises: "
              "[channels], float32 or wider.",
              batch_norm_stats, stats_samples),
    composite("batch_norm_backward(tensor grad, tensor input, tensor? weight, tensor? bias, float eps) -> "
              "(tensor, tensor, tensor)",
              CastPolicy::none,
              "The gradients of a training batch_norm's input, weight and bias; a 0-d zero for one that is None.",
              batch_norm_backward, sample_batch_norm_gradients, kHidden),
};

}  // namespace

extern const OpRows batch_norm_ops = kRows;

}  // namespace thunder
