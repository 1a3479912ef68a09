// Losses as formulas of an input and a target for each element, reduced to their mean or sum.
#include "ops/tables.h"

namespace thunder {
namespace {

Results l1_loss(Call& c) {
  auto v = promoted(c, {0, 1}, true);
  Var loss = abs(computed(v[0]) - computed(v[1]));
  return convert(reduced_loss(c, loss, loss_weight(c, 3, loss)), v[0].dtype());
}
Var smooth_l1(const Call& c, Var x, Var y) {
  const double beta = c.real(3);
  c.require(beta >= 0, "beta must not be negative, got ", beta);
  Var d = abs(x - y), near = minimum(d, beta);  // whose square is finite
  return beta == 0 ? d : where(lt(d, beta), near * near * (0.5 / beta), d - 0.5 * beta);
}
Var huber(const Call& c, Var x, Var y) {
  const double delta = c.real(3);
  c.require(delta > 0, "delta must be positive, got ", delta);
  Var d = abs(x - y), near = minimum(d, delta);
  Var loss = where(lt(d, delta), near * near * 0.5, (d - 0.5 * delta) * delta), weight = loss_weight(c, 4, loss);
  return weight ? loss * weight : loss;
}
// max(x, 0), with PyTorch's nonzero slope at 0.
Var max_with_zero(Var x) { return apply("clamp_min", x, 0.0); }
Var apply_weight(const Call& c, size_t param, Var loss) {
  return c.has(param) ? loss * convert(c.var(param), loss.dtype()) : loss;
}
// Logarithms are no less than -100, and the slope's denominator no less than 1e-12, as in PyTorch: both are finite at
// probabilities of 0 and 1.
Var clamped_log(Var x) { return maximum(log(x), -100.0); }
Var clamped_log1p(Var x) { return maximum(log1p(x), -100.0); }
Results cross_entropies(Call& c) {
  Var x = c.var(0), y = c.var(1);
  return -(y * clamped_log(x) + (1.0 - y) * clamped_log1p(-x));
}
void cross_entropies_vjp(Grad& g) {
  Var dy = g.cotangent(), x = g.var(0), y = g.var(1);
  if (g.wants(0)) g.add(0, dy * (x - y) / maximum((1.0 - x) * x, 1e-12));
  if (g.wants(1)) g.add(1, dy * (clamped_log1p(-x) - clamped_log(x)));
}
Var binary_cross_entropy(const Call& c, Var x, Var y) {
  return apply_weight(c, 2, c.builder.call("binary_cross_entropies", {x, y}));
}
Var binary_cross_entropy_with_logits(const Call& c, Var x, Var y) {
  Var loss = (1.0 - y) * x;
  Var positive = softplus_of(-x);
  loss = loss + (c.has(4) ? positive * (1.0 + (convert(c.var(4), x.dtype()) - 1.0) * y) : positive);
  return apply_weight(c, 2, loss);
}
Var kl_div_of(const Call& c, Var x, Var y) {
  if (c.flag(3)) return exp(y) * (y - x);
  Var zero = eq(y, 0.0);
  return where(zero, y * 0.0, y * log(where(zero, 1.0, y))) - y * x;
}
Results kl_div(Call& c) {
  if (c.text(2) != "batchmean") return loss_formula<kl_div_of>(c);
  const bool batched = c.type(0).rank() > 0;
  Var sum = c.builder.call("kl_div", {c.var(0), c.var(1), "sum", c.flag(3)});
  return batched ? sum / count(sum, {{c.type(0).shape[0]}}) : sum;
}
Var poisson_nll(const Call& c, Var x, Var y) {
  Var loss = c.flag(2) ? exp(x) - y * x : x - y * log(x + c.real(4));
  if (!c.flag(3)) return loss;
  // Stirling's approximation of log(y!), for targets above 1.
  Var large = gt(y, 1.0), safe = where(large, y, 1.0);
  return loss + where(large, safe * log(safe) - safe + log(safe * (2 * kPi)) * 0.5, 0.0);
}
Results gaussian_nll(Call& c) {
  const Shape &rows = c.type(0).shape, &given = c.type(2).shape;
  // One variance for each row; if the shape fits rows and columns, rows count.
  if (given.size() + 1 == rows.size() && std::equal(given.begin(), given.end(), rows.begin())) {
    Var spread = c.builder.call("unsqueeze", {c.var(2), -1});
    return c.builder.call("gaussian_nll_loss", {c.args[0], c.args[1], spread, c.args[3], c.args[4], c.args[5]});
  }
  auto v = promoted(c, {0, 1, 2}, true);
  const DType dtype = v[0].dtype();
  Var x = computed(v[0]), y = computed(v[1]);
  // As in PyTorch, clamping the variance does not stop its gradient.
  Var variance = computed(v[2]), limited = maximum(c.builder.call("detach", {variance}), c.real(4));
  variance = variance + c.builder.call("detach", {limited - variance});
  Var d = x - y, loss = (log(variance) + d * d / variance) * 0.5;
  if (c.flag(3)) loss = loss + 0.5 * std::log(2 * kPi);
  return convert(reduced_loss(c, loss), dtype);
}
Var hinge_embedding(const Call& c, Var x, Var y) {
  return where(ne(y, 1.0), max_with_zero(c.real(2) - x), 0.0) + where(ne(y, -1.0), x, 0.0);
}
Var soft_margin(Var x, Var y) {
  return softplus_of(-(x * y));
}

Results margin_ranking(Call& c) {
  auto v = promoted(c, {0, 1, 2}, true);
  const DType dtype = v[0].dtype();
  return convert(reduced_loss(c, max_with_zero(-(computed(v[2]) * (computed(v[0]) - computed(v[1]))) + c.real(3))),
                 dtype);
}
Results cosine_embedding(Call& c) {
  const DType dtype = to_real(c.type(0).dtype);
  Var x = c.var(0), y = c.var(1), t = c.var(2);
  c.require(x.shape() == y.shape() && t.rank() + 1 == x.rank(), "needs inputs of one shape and a target for each row; ",
            c.types());
  constexpr double kEps = 1e-12;
  x = computed(convert(x, dtype)), y = computed(convert(y, dtype));
  const Shape last{-1};
  const auto dot = [&](Var a, Var b) { return c.builder.call("sum", {a * b, last}); };
  Var cosine = dot(x, y) / sqrt((dot(x, x) + kEps) * (dot(y, y) + kEps));
  return convert(
      reduced_loss(c, where(eq(t, 1), 1.0 - cosine, where(eq(t, -1), max_with_zero(cosine - c.real(3)), 0.0))), dtype);
}
Results triplet_margin(Call& c) {
  auto v = promoted(c, {0, 1, 2}, true);
  const DType dtype = v[0].dtype();
  const auto distance = [&](Var a, Var b) { return c.builder.call("pairwise_distance", {a, b, c.real(4), c.real(5)}); };
  Var near = distance(computed(v[0]), computed(v[1])), far = distance(computed(v[0]), computed(v[2]));
  if (c.flag(6)) far = minimum(far, distance(computed(v[1]), computed(v[2])));
  return convert(reduced_loss(c, max_with_zero(near - far + c.real(3))), dtype);
}
// The mean over the classes of each row, then the reduction over rows.
Results multilabel_soft_margin(Call& c) {
  auto v = promoted(c, {0, 1}, true);
  const DType dtype = v[0].dtype();
  Var x = computed(v[0]), y = computed(v[1]);
  c.require(x.rank() > 0, "input must have at least one dim");
  Var loss = apply_weight(c, 2, y * softplus_of(-x) + (1.0 - y) * softplus_of(x));
  return convert(reduced_loss(c, c.builder.call("mean", {loss, Shape{-1}})), dtype);
}

// ---- samples ----

const char* const kHow[] = {"none", "mean", "sum"};
template <int low, int high, int target_low, int target_high>
void sample_pairs(Samples& s) {
  const auto x = [](std::vector<int64_t> shape, DType d = DType::f32) {
    return TensorSpec{std::move(shape), d, low / 10.0, high / 10.0};
  };
  const auto y = [](std::vector<int64_t> shape, DType d = DType::f32) {
    return TensorSpec{std::move(shape), d, target_low / 10.0, target_high / 10.0};
  };
  s.add({x({4, 5}), y({4, 5})});
  s.add({x({6}, DType::bf16), y({6}, DType::bf16)});
  s.add({x({}), y({})});
  s.refuse({x({4, 5}), y({4})}, "broadcast");
}
template <int low, int high, int target_low, int target_high, int option>
void sample_reduced_pairs(Samples& s) {
  sample_pairs<low, high, target_low, target_high>(s);
  const TensorSpec x{{3, 4}, DType::f32, low / 10.0, high / 10.0},
      y{{3, 4}, DType::f32, target_low / 10.0, target_high / 10.0};
  if (option < 0) {
    for (const char* how : kHow) s.add({x, y, how});
    return;
  }
  for (const char* how : kHow) s.add({x, y, how, option / 4.0});
}
void sample_entropies(Samples& s) {
  sample_pairs<1, 9, 0, 10>(s);
  const TensorSpec x{{3, 4}, DType::f32, 0.1, 0.9}, y{{3, 4}, DType::f32, 0, 1}, w{{4}, DType::f32, 0.5, 2};
  for (const char* how : kHow) s.add({x, y, w, how});
}
void sample_probabilities(Samples& s) {
  s.add({TensorSpec{{3, 4}, DType::f32, 0.1, 0.9}, TensorSpec{{3, 4}, DType::f32, 0, 1}});
}
void sample_logit_entropies(Samples& s) {
  sample_pairs<-30, 30, 0, 10>(s);
  const TensorSpec x{{3, 4}, DType::f32, -3, 3}, y{{3, 4}, DType::f32, 0, 1}, w{{4}, DType::f32, 0.5, 2};
  for (const char* how : kHow) s.add({x, y, w, how, w});
}
void sample_divergences(Samples& s) {
  sample_pairs<-30, -1, 1, 9>(s);
  const TensorSpec x{{3, 4}, DType::f32, -3, -0.1}, y{{3, 4}, DType::f32, 0.1, 0.9};
  for (const char* how : {"none", "mean", "sum", "batchmean"}) s.add({x, y, how});
  s.add({x, x, "sum", true});
}
void sample_poissons(Samples& s) {
  s.add({TensorSpec{{3, 4}}, TensorSpec{{3, 4}, DType::f32, 2, 5}});
  s.add({TensorSpec{{3, 4}, DType::f32, 0.5, 2}, TensorSpec{{3, 4}, DType::f32, 2, 5}, false, true, 1e-8, "sum"});
}
void sample_gaussians(Samples& s) {
  s.add({TensorSpec{{3, 4}}, TensorSpec{{3, 4}}, TensorSpec{{3, 4}, DType::f32, 0.5, 2}});
  s.add({TensorSpec{{3, 4}}, TensorSpec{{3, 4}}, TensorSpec{{3, 1}, DType::f32, 0.5, 2}, true, 1e-6, "none"});
}
void sample_signs(Samples& s) {
  s.add({TensorSpec{{3, 4}}, TensorSpec{{3, 4}, DType::i64, 1, 1}});
  s.add({TensorSpec{{3, 4}}, TensorSpec{{3, 4}, DType::i64, -1, -1}, 1.5, "none"});
}
void sample_soft_signs(Samples& s) {
  s.add({TensorSpec{{3, 4}}, TensorSpec{{3, 4}, DType::i64, -1, 1}});
  s.add({TensorSpec{{3, 4}}, TensorSpec{{3, 4}, DType::i64, 1, 1}, "sum"});
}
void sample_rankings(Samples& s) {
  s.add({TensorSpec{{5}}, TensorSpec{{5}}, TensorSpec{{5}, DType::i64, -1, 1}, 0.5});
  s.add({TensorSpec{{5}}, TensorSpec{{5}}, TensorSpec{{5}, DType::i64, 1, 1}, 0.25, "none"});
}
void sample_cosines(Samples& s) {
  s.add({TensorSpec{{3, 4}}, TensorSpec{{3, 4}}, TensorSpec{{3}, DType::i64, 1, 1}});
  s.add({TensorSpec{{3, 4}}, TensorSpec{{3, 4}}, TensorSpec{{3}, DType::i64, -1, -1}, -0.5, "none"});
}
void sample_triplets(Samples& s) {
  const TensorSpec x{{3, 4}};
  s.add({x, x, x});
  s.add({x, x, x, 2.0, 3.0, 1e-6, true, "none"});
}
void sample_labels(Samples& s) {
  s.add({TensorSpec{{3, 4}}, TensorSpec{{3, 4}, DType::i64, 0, 1}});
  s.add({TensorSpec{{3, 4}}, TensorSpec{{3, 4}, DType::i64, 0, 1}, TensorSpec{{4}, DType::f32, 0.5, 2}, "none"});
}
consteval OpRow row(SchemaText schema, CastPolicy autocast, std::string_view doc, DecomposeFn decompose,
                    SamplesFn samples) {
  return composite(schema, autocast, doc, decompose, samples);
}

constexpr OpRow kRows[] = {
    row("l1_loss(tensor input, tensor target, str reduction='mean', tensor? weight=None) -> tensor", CastPolicy::fp32,
        "|input - target|, its mean or its sum.", l1_loss, sample_reduced_pairs<-20, 20, -20, 20, -1>),
    row("smooth_l1_loss(tensor input, tensor target, str reduction='mean', float beta=1.0) -> tensor", CastPolicy::fp32,
        "d * d / (2 * beta) for distances d below beta, else d - beta / 2.", loss_formula<smooth_l1>,
        sample_reduced_pairs<-20, 20, -20, 20, 3>),
    row("huber_loss(tensor input, tensor target, str reduction='mean', float delta=1.0, tensor? weight=None) -> tensor",
        CastPolicy::fp32, "d * d / 2 for distances d up to delta, else delta * (d - delta / 2).", loss_formula<huber>,
        sample_reduced_pairs<-20, 20, -20, 20, 3>),
    row("binary_cross_entropy(tensor input, tensor target, tensor? weight=None, str reduction='mean') -> tensor",
        CastPolicy::fp32, "-(target * log(input) + (1 - target) * log(1 - input)), times weight.",
        loss_formula<binary_cross_entropy>, sample_entropies),
    composite("binary_cross_entropies(tensor input, tensor target) -> tensor", CastPolicy::none,
              "binary_cross_entropy of each element, of two tensors of one type.", cross_entropies,
              sample_probabilities, kHidden, {.vjp = cross_entropies_vjp}),
    row("binary_cross_entropy_with_logits(tensor input, tensor target, tensor? weight=None, str reduction='mean', "
        "tensor? pos_weight=None) -> tensor",
        CastPolicy::fp32,
        "binary_cross_entropy of sigmoid(input), without its overflow; pos_weight weighs the positive part.",
        loss_formula<binary_cross_entropy_with_logits>, sample_logit_entropies),
    row("kl_div(tensor input, tensor target, str reduction='mean', bool log_target=False) -> tensor", CastPolicy::fp32,
        "target * (log(target) - input), where input holds logarithms; 'batchmean' divides the sum by the rows.",
        kl_div, sample_divergences),
    row("poisson_nll_loss(tensor input, tensor target, bool log_input=True, bool full=False, float eps=1e-08, str "
        "reduction='mean') -> tensor",
        CastPolicy::fp32,
        "exp(input) - target * input, or of input itself where it is no logarithm; full adds Stirling's term.",
        loss_formula<poisson_nll>, sample_poissons),
    row("gaussian_nll_loss(tensor input, tensor target, tensor var, bool full=False, float eps=1e-06, str "
        "reduction='mean') -> tensor",
        CastPolicy::fp32,
        "(log(var) + (input - target) ** 2 / var) / 2, with var at least eps; full adds its constant.", gaussian_nll,
        sample_gaussians),
    row("hinge_embedding_loss(tensor input, tensor target, float margin=1.0, str reduction='mean') -> tensor",
        CastPolicy::fp32, "input unless target is -1, plus what it lacks to margin unless target is 1.",
        loss_formula<hinge_embedding>, sample_signs),
    row("soft_margin_loss(tensor input, tensor target, str reduction='mean') -> tensor", CastPolicy::fp32,
        "log(1 + exp(-target * input)).", loss_formula<soft_margin>, sample_soft_signs),
    row("margin_ranking_loss(tensor input1, tensor input2, tensor target, float margin=0.0, str reduction='mean') -> "
        "tensor",
        CastPolicy::fp32, "max(0, -target * (input1 - input2) + margin).", margin_ranking, sample_rankings),
    row("cosine_embedding_loss(tensor input1, tensor input2, tensor target, float margin=0.0, str reduction='mean') -> "
        "tensor",
        CastPolicy::fp32, "1 - cosine of rows where target is 1, what exceeds margin where it is -1.", cosine_embedding,
        sample_cosines),
    row("triplet_margin_loss(tensor anchor, tensor positive, tensor negative, float margin=1.0, float p=2.0, float "
        "eps=1e-06, bool swap=False, str reduction='mean') -> tensor",
        CastPolicy::fp32, "max(0, distance to positive - distance to negative + margin).", triplet_margin,
        sample_triplets),
    row("multilabel_soft_margin_loss(tensor input, tensor target, tensor? weight=None, str reduction='mean') -> tensor",
        CastPolicy::fp32, "The mean over classes of binary_cross_entropy_with_logits.", multilabel_soft_margin,
        sample_labels),
};

}  // namespace

extern const OpRows losses_ops = kRows;

}  // namespace thunder
