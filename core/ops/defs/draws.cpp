// Random tensors of other distributions and of other tensors' shapes, made of uniform and normal numbers.
#include "ops/tables.h"

namespace thunder {
namespace {

void require_real(const Call& c, DType d) {
  c.require(is_real(d), "dtype must be real, got ", name(d));
}
Var draw_uniform(Builder& b, const Shape& shape, DType d, Device device) {
  return b.call("rand", {shape, d, device});
}
Var draw_normal(Builder& b, const Shape& shape, DType d, Device device) {
  return b.call("randn", {shape, d, device});
}
// Uniform numbers in (0, 1], whose logarithms are finite.
Var draw_positive_uniform(Builder& b, const Shape& shape, DType d, Device device) {
  return 1.0 - draw_uniform(b, shape, d, device);
}
Var draw_exponentials(Builder& b, const Shape& shape, DType d, Device device) {
  return -log(draw_positive_uniform(b, shape, d, device));
}

// ---- of another tensor's shape ----

template <bool gaussian>
Results draw_like_input(Call& c) {
  const DType dtype = c.dtype(1, c.type(0).dtype);
  require_real(c, dtype);
  const Shape shape = c.type(0).shape;
  const Device device = c.has(2) ? c.device(2) : c.type(0).device;
  return gaussian ? draw_normal(c.builder, shape, dtype, device) : draw_uniform(c.builder, shape, dtype, device);
}
Results uniform_like(Call& c) {
  require_real(c, c.dtype(3, c.type(0).dtype));
  const Shape shape = c.type(0).shape;
  return c.builder.call("uniform", {shape, c.real(1), c.real(2), c.dtype(3, c.type(0).dtype), c.type(0).device});
}
Results randint_like(Call& c) {
  const Shape shape = c.type(0).shape;
  const Device device = c.has(4) ? c.device(4) : c.type(0).device;
  return convert(c.builder.call("randint", {c.integer(1), c.integer(2), shape, DType::i64, device}),
                 c.dtype(3, c.type(0).dtype));
}
Results randperm(Call& c) {
  c.require(c.integer(0) >= 0, "n must not be negative, got ", c.integer(0));
  const Draw draw = c.builder.draw();
  return convert(c.builder.call(Prim::philox_permutation,
                                {to_device(draw.state, c.device(2)), draw.ordinal, Shape{c.integer(0)}}),
                 c.dtype(1, DType::i64));
}

// ---- by parameters ----

Results bernoulli(Call& c) {
  Var p = c.var(0);
  const DType dtype = p.dtype();
  const Shape shape = p.shape();
  if (!c.has(1))
    require_real(c, dtype);
  else
    c.require(c.real(1) >= 0 && c.real(1) <= 1, "p must be a probability, got ", c.real(1));
  Var u = draw_uniform(c.builder, shape, DType::f32, p.type().device);
  return convert(c.has(1) ? lt(u, c.real(1)) : lt(u, convert(p, DType::f32)), dtype);
}
Results normal_op(Call& c) {
  // mean and std broadcast; a size is only for numbers.
  if (c.has(2)) {
    c.require(is_plain_number(c, 0) && is_plain_number(c, 1),
              "size is given with a number for mean and for std");
    const DType dtype = c.dtype(3, DType::f32);
    require_real(c, dtype);
    const Shape shape(c.dims(2));
    return convert(
        draw_normal(c.builder, shape, compute_dtype(dtype), c.device(4)) * in_dtype(c, 1, compute_dtype(dtype)) +
            in_dtype(c, 0, compute_dtype(dtype)),
        dtype);
  }
  auto v = promoted(c, {0, 1}, true);
  const DType dtype = v[0].dtype();
  const Shape shape = v[0].shape();
  return convert(
      draw_normal(c.builder, shape, compute_dtype(dtype), v[0].type().device) * computed(v[1]) + computed(v[0]), dtype);
}
// In PyTorch these ops write in place; here they give a new tensor of the input's shape and dtype.
template <auto draw>
Results draw_in_compute_dtype(Call& c) {
  const DType dtype = c.type(0).dtype;
  require_real(c, dtype);
  const Shape shape = c.type(0).shape;
  return convert(draw(c, shape, compute_dtype(dtype)), dtype);
}
Var exponential(const Call& c, const Shape& shape, DType d) {
  c.require(c.real(1) > 0, "lambd must be positive, got ", c.real(1));
  return draw_exponentials(c.builder, shape, d, c.type(0).device) / c.real(1);
}
Var cauchy(const Call& c, const Shape& shape, DType d) {
  c.require(c.real(2) > 0, "sigma must be positive, got ", c.real(2));
  Var angle = (draw_uniform(c.builder, shape, d, c.type(0).device) - 0.5) * kPi;
  return apply("tan", angle) * c.real(2) + c.real(1);
}
Var log_normal(const Call& c, const Shape& shape, DType d) {
  c.require(c.real(2) > 0, "std must be positive, got ", c.real(2));
  return exp(draw_normal(c.builder, shape, d, c.type(0).device) * c.real(2) + c.real(1));
}
Var geometric(const Call& c, const Shape& shape, DType d) {
  c.require(c.real(1) > 0 && c.real(1) < 1, "p must be between 0 and 1, got ", c.real(1));
  return floor(log(draw_positive_uniform(c.builder, shape, d, c.type(0).device)) / std::log1p(-c.real(1))) + 1.0;
}

// ---- choices by weights ----

Results multinomial(Call& c) {
  Var p = c.var(0);
  const int64_t n = c.integer(1);
  c.require(is_real(p.dtype()) && (p.rank() == 1 || p.rank() == 2),
            "input must be real weights [categories] or [rows, categories]; ", c.types());
  c.require(n > 0, "num_samples must be positive, got ", n);
  const int64_t categories = hint(p.size(-1));
  Builder& b = c.builder;
  p = computed(p);
  if (!c.flag(2)) {
    c.require(n <= categories, "without replacement num_samples must be at most the ", categories, " categories, got ",
              n);
    // The smallest of exponential variables with these rates are a sample without replacement.
    const Shape shape = p.shape();
    Var times = draw_exponentials(b, shape, p.dtype(), p.type().device) / p;
    return {b.results("topk", {times, n, -1, false})[1]};
  }
  Var sums = b.call("cumsum", {p, -1}), total = b.call("slice", {sums, -1, categories - 1, categories, 1});
  Shape shape = p.shape();
  shape[shape.size() - 1] = n;
  Var place = b.call("searchsorted", {sums, draw_uniform(b, shape, p.dtype(), p.type().device) * total, true});
  return minimum(place, categories - 1);
}
Results gumbel_softmax(Call& c) {
  Var x = c.var(0);
  require_real(c, x.dtype());
  c.require(c.real(1) > 0, "tau must be positive, got ", c.real(1));
  const DType dtype = x.dtype();
  x = computed(x);
  const Shape shape = x.shape();
  Builder& b = c.builder;
  const int64_t dim = c.integer(3);
  Var noise = -log(maximum(draw_exponentials(b, shape, x.dtype(), x.type().device), 1e-30));
  Var y = b.call("softmax", {(x + noise) / c.real(1), dim});
  if (c.flag(2) && x.rank()) {  // a number's only class is chosen already
    // The hard choice forward, the soft one's gradient.
    const size_t axis = normalize_axis(dim, x.rank());
    Var classes = counted_along(b, shape[axis], axis, x.rank(), x.type().device);
    Var hard = convert(eq(classes, b.call("argmax", {y, dim, true})), y.dtype());
    y = y + b.call("detach", {hard - y});
  }
  return convert(y, dtype);
}

// ---- samples ----

using Ints = std::vector<int64_t>;

void sample_likes(Samples& s) {
  s.add({TensorSpec{{2, 3}}});
  s.add({TensorSpec{{0, 3}, DType::f64}});
  s.refuse({TensorSpec{{2}, DType::i64, 0, 9}}, "real");
}
void sample_integers_like(Samples& s) {
  s.add({TensorSpec{{2, 3}, DType::i64, 0, 9}, -5, 5});
}
void sample_permutations(Samples& s) {
  s.add({5});
  s.add({0});
  s.refuse({-1}, "negative");
}
void sample_probabilities(Samples& s) {
  s.add({TensorSpec{{2, 3}, DType::f32, 0, 1}});
  s.add({TensorSpec{{2, 3}, DType::i64, 0, 1}, 0.5});
  s.refuse({TensorSpec{{2}}, 1.5}, "probability");
}
void sample_normals(Samples& s) {
  s.add({0.0, 1.0, Ints{2, 3}});
  s.add({TensorSpec{{2, 3}}, TensorSpec{{3}, DType::f32, 0.5, 2}});
  s.add({TensorSpec{{3}}, 2.0});
}
template <int option>
void sample_anew(Samples& s) {
  s.add_without_gradient({TensorSpec{{2, 3}}});
  s.add_without_gradient({TensorSpec{{2, 3}, DType::bf16}});
  if (option) s.refuse({TensorSpec{{2}}, -1.0}, "positive");
}
void sample_shares(Samples& s) {
  s.add_without_gradient({TensorSpec{{2, 3}}, 0.5});
  s.refuse({TensorSpec{{2}}, 0.0}, "between 0 and 1");
}
void sample_weights(Samples& s) {
  s.add({TensorSpec{{4}, DType::f32, 0.1, 1}, 2});
  s.add({TensorSpec{{2, 4}, DType::f32, 0.1, 1}, 6, true});
  s.refuse({TensorSpec{{4}, DType::f32, 0.1, 1}, 5}, "without replacement");
}
void sample_logits(Samples& s) {
  s.add({TensorSpec{{2, 3}}});
  s.add_without_gradient({TensorSpec{{2, 3}}, 0.5, true, 0});
  s.add_without_gradient({TensorSpec{{}}, 1.0, true});
  s.refuse({TensorSpec{{2, 3}}, 0.0}, "positive");
}
constexpr std::string_view kAnew = "it is drawn anew", kChoice = "the result is an index";

constexpr OpRow kRows[] = {
    composite("rand_like(tensor input, dtype? dtype=None, device? device=None) -> tensor", CastPolicy::none,
              "Uniform in [0, 1), of input's size and dtype.", draw_like_input<false>, sample_likes, kRandom | 0,
              {.nondiff = kAnew}),
    composite("randn_like(tensor input, dtype? dtype=None, device? device=None) -> tensor", CastPolicy::none,
              "Standard normal, of input's size and dtype.", draw_like_input<true>, sample_likes, kRandom | 0,
              {.nondiff = kAnew}),
    composite("uniform_like(tensor input, float low=0, float high=1, dtype? dtype=None) -> tensor", CastPolicy::none,
              "Uniform from low to high, of input's size and dtype.", uniform_like, sample_likes, kRandom | 0,
              {.nondiff = kAnew}),
    composite("randint_like(tensor input, int low, int high, dtype? dtype=None, device? device=None) -> tensor",
              CastPolicy::none, "Integers from low up to but not including high, of input's size and dtype.",
              randint_like, sample_integers_like, kRandom | 0, {.nondiff = kAnew}),
    composite("randperm(int n, dtype? dtype=None, device? device=None) -> tensor", CastPolicy::none,
              "The integers below n in random order; i64 unless a dtype is given.", randperm, sample_permutations,
              kRandom | 0),
    composite("bernoulli(tensor input, float? p=None) -> tensor", CastPolicy::none,
              "1 with the probability input, or p, else 0; of input's size and dtype.", bernoulli, sample_probabilities,
              kRandom | kInplace, {.nondiff = kAnew}),
    composite("normal(tensor|number mean=0, tensor|number std=1, int[]? size=None, dtype? dtype=None, device? "
              "device=None) -> tensor",
              CastPolicy::none, "Normal with the given means and deviations.", normal_op, sample_normals, kRandom | 0),
    composite("exponential(tensor input, float lambd=1) -> tensor", CastPolicy::none,
              "Exponentially distributed, of input's size and dtype; exponential_ stores it.",
              draw_in_compute_dtype<exponential>, sample_anew<1>, kRandom | kInplace, {.nondiff = kAnew}),
    composite("cauchy(tensor input, float median=0, float sigma=1) -> tensor", CastPolicy::none,
              "Cauchy distributed, of input's size and dtype; cauchy_ stores it.", draw_in_compute_dtype<cauchy>,
              sample_anew<0>, kRandom | kInplace, {.nondiff = kAnew}),
    composite("log_normal(tensor input, float mean=1, float std=2) -> tensor", CastPolicy::none,
              "The exponential of normal numbers, of input's size and dtype; log_normal_ stores it.",
              draw_in_compute_dtype<log_normal>, sample_anew<0>, kRandom | kInplace, {.nondiff = kAnew}),
    composite("geometric(tensor input, float p) -> tensor", CastPolicy::none,
              "How many tries a success of probability p takes, of input's size and dtype; geometric_ stores it.",
              draw_in_compute_dtype<geometric>, sample_shares, kRandom | kInplace, {.nondiff = kAnew}),
    composite("multinomial(tensor input, int num_samples, bool replacement=False) -> tensor", CastPolicy::none,
              "Indices of categories, by the weights in each row.", multinomial, sample_weights, kRandom | 0,
              {.nondiff = kChoice}),
    composite("gumbel_softmax(tensor input, float tau=1.0, bool hard=False, int dim=-1) -> tensor", CastPolicy::none,
              "softmax of logits with noise: a sample, soft or as one-hot.", gumbel_softmax, sample_logits,
              kRandom | 0),
};

}  // namespace

extern const OpRows draws_ops = kRows;

}  // namespace thunder
