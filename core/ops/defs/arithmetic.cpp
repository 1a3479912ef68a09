// Elementwise functions of two and three tensors as formulas: remainders, logarithms of sums, choices, interpolation.
#include "ops/tables.h"

namespace thunder {
namespace {

// ---- remainders ----

// A number is rounded to narrower reals first, as in PyTorch: what is left depends on its last bit.
Var in_result_dtype(const ComputedOperands& x, size_t i) { return computed(convert(x.v[i], x.dtype)); }
Results fmod(Call& c) {
  const ComputedOperands x = computed_operands(c, {0, 1});
  return rounded(x, apply(Prim::fmod, in_result_dtype(x, 0), in_result_dtype(x, 1)));
}
Results remainder(Call& c) {
  const ComputedOperands x = computed_operands(c, {0, 1});
  Var a = in_result_dtype(x, 0), b = in_result_dtype(x, 1), zero = full_like(b, 0), rest = apply(Prim::fmod, a, b);
  Var other_sign = both(ne(rest, zero), apply(Prim::ne, lt(rest, zero), lt(b, zero)));
  return rounded(x, where(other_sign, rest + b, rest));
}
Var ones_like_first(Var a, Var) { return full_like(a, 1); }
Var negated_floor_quotient(Var a, Var b) { return -a.builder->call("div", {a, b, "floor"}); }
Var negated_trunc_quotient(Var a, Var b) { return -a.builder->call("div", {a, b, "trunc"}); }

// ---- logarithms and roots of sums ----

Var hypot_of(Var a, Var b) {
  a = abs(a), b = abs(b);
  Var large = maximum(a, b), none = eq(large, 0.0), ratio = minimum(a, b) / where(none, 1.0, large);
  return where(either(eq(a, kInfinity), eq(b, kInfinity)), kInfinity, large * sqrt(ratio * ratio + 1.0));
}
Var logaddexp_of(Var a, Var b) {
  Var large = maximum(a, b);
  return where(eq(abs(large), kInfinity), large, large + log1p(exp(-abs(a - b))));
}
Var logaddexp2_of(Var a, Var b) {
  Var large = maximum(a, b);
  return where(eq(abs(large), kInfinity), large, large + log1p(exp(-abs(a - b) * kLn2)) / kLn2);
}
Var logaddexp_slope(Var a, Var b) { return logistic(a - b); }
Var logaddexp2_slope(Var a, Var b) { return logistic((a - b) * kLn2); }

// a * f(b), and 0 where a is 0 whatever f gives, but for NaN.
template <auto f>
Var multiply_by_log(Var a, Var b) {
  return where(isnan(b), b, where(eq(a, 0.0), 0.0, a * f(b)));
}
Var xlogy_derivative(Var a, Var b) { return where(both(eq(a, 0.0), le(b, 0.0)), 0.0, log(b)); }
Var xlog1py_derivative(Var a, Var b) { return where(both(eq(a, 0.0), le(b, -1.0)), 0.0, log1p(b)); }
Var divide(Var a, Var b) { return a / b; }
Var divide_by_one_plus(Var a, Var b) { return a / (b + 1.0); }

// ---- choices ----

Var copy_sign(Var a, Var b) { return where(apply("signbit", b), -abs(a), abs(a)); }
Var fmax_of(Var a, Var b) { return where(either(ge(a, b), isnan(b)), a, b); }
Var fmin_of(Var a, Var b) { return where(either(le(a, b), isnan(b)), a, b); }
Var heaviside_of(Var x, Var at_zero) { return where(eq(x, 0), at_zero, convert(gt(x, 0), at_zero.dtype())); }

template <auto formula>
Results apply_to_booleans(Call& c) {
  return formula(convert(c.var(0), DType::boolean), convert(c.var(1), DType::boolean));
}

// ---- three operands ----

Var lerp_of(Var a, Var b, Var weight) {
  Var d = b - a;
  return where(lt(abs(weight), 0.5), a + weight * d, b - d * (1.0 - weight));
}
In checked_scale(const Call& c, Var x, size_t param) {
  const double value = c.real(param);
  if (is_real(x.dtype())) return value;
  c.require(value == std::trunc(value) && std::fabs(value) < 0x1p53, "value must be whole for operands of ",
            name(x.dtype()), ", got ", value);
  return static_cast<int64_t>(value);
}
Var addcmul_of(const Call& c, Var x, Var a, Var b) {
  return c.real(3) == 1 ? x + a * b : x + a * b * checked_scale(c, x, 3);
}
Var addcdiv_of(const Call& c, Var x, Var a, Var b) {
  c.require(is_real(x.dtype()), "operands must be real; ", c.types());
  return c.real(3) == 1 ? x + a / b : x + a * c.real(3) / b;
}

// ---- others ----

Results ldexp(Call& c) {
  Var x = c.var(0);
  if (is_number(c.args[1])) return x * std::exp2(number_of(c.args[1]));
  Var e = c.var(1);
  return x * c.builder.call("pow", {2.0, convert(e, to_real(e.dtype()))});
}
// Computed in the operands' own type, whose neighbouring numbers it steps to.
Results next_after(Call& c) {
  auto v = promoted(c, {0, 1}, true);
  return c.builder.call(Prim::nextafter, {v[0], v[1]});
}
Results float_power(Call& c) {
  return c.builder.call("pow", {in_dtype(c, 0, DType::f64), in_dtype(c, 1, DType::f64)});
}
Results isclose(Call& c) {
  const double relative = c.real(2), absolute = c.real(3);
  c.require(relative >= 0 && absolute >= 0, "rtol and atol must not be negative, got ", relative, " and ", absolute);
  auto v = promoted(c, {0, 1}, true);
  Var a = v[0], b = v[1], error = abs(a - b);
  Var near = both(lt(error, kInfinity), le(error, abs(b * relative) + absolute));
  Var close = either(eq(a, b), near);
  return c.flag(4) ? either(close, both(isnan(a), isnan(b))) : close;
}
Results equal(Call& c) {
  Var a = c.var(0), b = c.var(1);
  if (!(a.shape() == b.shape())) return full(c.builder, {}, 0, DType::boolean, a.type().device);
  return c.builder.call("all", {eq(a, b)});
}

// ---- samples ----

template <int low, int high, int least = -20>
void sample_pairs(Samples& s) {
  const TensorSpec second{{3}, DType::f32, low / 10.0, high / 10.0},
      first{{2, 3}, DType::f32, std::max(-2.0, least / 10.0), 2};
  s.add({first, second});
  s.add({TensorSpec{{4, 1, 3}, DType::f32, std::max(-2.0, least / 10.0), 2},
         TensorSpec{{5, 1}, DType::f32, low / 10.0, high / 10.0}});
  s.add({first, 0.75});
  s.add({TensorSpec{{}, DType::f64, 0.5, 1}, TensorSpec{{}, DType::f64, low / 10.0, high / 10.0}});
  s.add({TensorSpec{{0, 3}}, second});
  s.add({TensorSpec{{2, 3}, DType::bf16, std::max(-2.0, least / 10.0), 2}, second});
  s.refuse({first, TensorSpec{{4}, DType::f32, 1, 2}}, "broadcast");
}
void sample_flat_pairs(Samples& s) {
  s.add_without_gradient({TensorSpec{{2, 3}, DType::f32, -20, 20}, TensorSpec{{3}, DType::f32, 0.5, 3}});
  s.add_without_gradient({TensorSpec{{2, 3}, DType::f64, -20, 20}, TensorSpec{{3}, DType::f64, -3, -0.5}});
  s.add({TensorSpec{{2, 3}, DType::i64, -20, 20}, TensorSpec{{3}, DType::i64, 1, 5}});
  s.add({TensorSpec{{2, 3}, DType::i32, -20, 20}, -3});
  s.add({TensorSpec{{0, 3}}, TensorSpec{{3}, DType::f32, 1, 2}});
  s.refuse({TensorSpec{{2, 3}}, TensorSpec{{4}, DType::f32, 1, 2}}, "broadcast");
}
void sample_remainders(Samples& s) {
  sample_flat_pairs(s);
  s.add({TensorSpec{{2, 1}, DType::f32, 1.1, 1.4}, TensorSpec{{3}, DType::f32, 0.5, 0.53}});
  s.add({TensorSpec{{2, 1}, DType::f32, -1.4, -1.1}, TensorSpec{{3}, DType::f32, 0.5, 0.53}});
}
void sample_truths(Samples& s) {
  s.add({TensorSpec{{2, 3}, DType::boolean, 0, 1}, TensorSpec{{3}, DType::boolean, 0, 1}});
  s.add({TensorSpec{{2, 3}, DType::i64, 0, 1}, TensorSpec{{2, 1}, DType::f32, 0, 1}});
  s.refuse({TensorSpec{{2, 3}}, TensorSpec{{4}}}, "broadcast");
}
void sample_triples(Samples& s) {
  s.add({TensorSpec{{2, 3}}, TensorSpec{{3}}, TensorSpec{{2, 1}, DType::f32, 0.6, 2}});
  s.add({TensorSpec{{2, 3}}, TensorSpec{{2, 3}}, TensorSpec{{}, DType::f32, 0.6, 2}});
  s.add({TensorSpec{{0, 3}}, TensorSpec{{3}}, TensorSpec{{3}}});
  s.add({TensorSpec{{5}, DType::bf16}, TensorSpec{{5}, DType::bf16}, TensorSpec{{5}, DType::bf16, 0.6, 2}});
  s.refuse({TensorSpec{{2, 3}}, TensorSpec{{4}}, TensorSpec{{3}}}, "broadcast");
}
void sample_weighted(Samples& s) {
  sample_triples(s);
  s.add({TensorSpec{{2, 3}}, TensorSpec{{3}}, TensorSpec{{2, 1}, DType::f32, 0.6, 2}, 0.5});
}
void sample_lerps(Samples& s) {
  sample_triples(s);
  s.add({TensorSpec{{2, 3}}, TensorSpec{{3}}, 0.25});
}
void sample_closes(Samples& s) {
  s.add({TensorSpec{{2, 3}}, TensorSpec{{3}}, 0.5, 0.25});
  s.add({TensorSpec{{4}, DType::i64, 0, 2}, TensorSpec{{4}, DType::i64, 0, 2}});
  s.add({TensorSpec{{4}}, TensorSpec{{4}}, 0.0, 1.0, true});
  s.refuse({TensorSpec{{4}}, TensorSpec{{4}}, -0.5}, "must not be negative");
}
void sample_exponents(Samples& s) {
  s.add({TensorSpec{{2, 3}}, TensorSpec{{3}, DType::i64, -3, 3}});
  s.add({TensorSpec{{2, 3}, DType::f32, 0.5, 2}, TensorSpec{{2, 1}}});
}
void sample_powers(Samples& s) {
  s.add({TensorSpec{{2, 3}, DType::f32, 0.5, 2}, TensorSpec{{3}}});
  s.add({TensorSpec{{4}, DType::i64, 1, 5}, 2});
}
void sample_equals(Samples& s) {
  s.add({TensorSpec{{4}, DType::i64, 0, 1}, TensorSpec{{4}, DType::i64, 0, 1}});
  s.add({TensorSpec{{2}, DType::i64, 1, 1}, TensorSpec{{2}, DType::i64, 1, 1}});
  s.add({TensorSpec{{2, 3}}, TensorSpec{{3}}});
}
void sample_zetas(Samples& s) {
  s.add({3.0, TensorSpec{{2, 3}, DType::f32, 0.5, 4}});
  s.add_without_gradient({TensorSpec{{3}, DType::f32, 1.5, 6}, TensorSpec{{2, 1}, DType::f64, 0.5, 4}});
}
void sample_neighbours(Samples& s) {
  s.add({TensorSpec{{2, 3}}, TensorSpec{{3}}});
  s.refuse({TensorSpec{{2}, DType::bf16}, TensorSpec{{2}, DType::bf16}}, "f32 or f64");
}

constexpr std::string_view kTruth = "the result is boolean", kJumps = "it is constant between jumps";
consteval OpRow row(SchemaText schema, CastPolicy autocast, std::string_view doc, DecomposeFn decompose, VjpFn vjp,
                    SamplesFn samples) {
  return composite(schema, autocast, doc, decompose, samples, kInplace, {.vjp = vjp});
}
consteval OpRow nondiff_row(SchemaText schema, std::string_view doc, DecomposeFn decompose, std::string_view why,
                            SamplesFn samples, uint32_t tags = kInplace) {
  return composite(schema, CastPolicy::none, doc, decompose, samples, tags, {.nondiff = why});
}

constexpr OpRow kRows[] = {
    row("remainder(tensor|number input, tensor|number other) -> tensor", CastPolicy::none,
        "What a division rounded down leaves: it has the sign of other.", remainder,
        slopes_of_pair<ones_like_first, negated_floor_quotient>, sample_remainders),
    row("fmod(tensor input, tensor|number other) -> tensor", CastPolicy::none,
        "What a division rounded towards zero leaves: it has the sign of input.", fmod,
        slopes_of_pair<ones_like_first, negated_trunc_quotient>, sample_remainders),
    nondiff_row(
        "floor_divide(tensor|number input, tensor|number other) -> tensor", "The quotient rounded down.",
        [](Call& c) -> Results {
          return c.builder.call("div", {c.args[0], c.args[1], "floor"});
        },
        kJumps, sample_flat_pairs),
    row("atan2(tensor input, tensor|number other) -> tensor", CastPolicy::promote,
        "The angle of the point (other, input) in [-pi, pi].", binary_prim<true>, nullptr, sample_pairs<5, 20>),
    row("hypot(tensor input, tensor|number other) -> tensor", CastPolicy::none,
        "sqrt(input * input + other * other) without its overflow.", pair_formula<hypot_of, true>,
        slopes_of_pair<[](Var a, Var b) { return a / hypot_of(a, b); },
                       [](Var a, Var b) { return b / hypot_of(a, b); }>,
        sample_pairs<5, 20>),
    row("logaddexp(tensor input, tensor|number other) -> tensor", CastPolicy::none,
        "log(exp(input) + exp(other)) without its overflow.", pair_formula<logaddexp_of, true>,
        slopes_of_pair<logaddexp_slope, [](Var a, Var b) { return logaddexp_slope(b, a); }>, sample_pairs<-20, 20>),
    row("logaddexp2(tensor input, tensor|number other) -> tensor", CastPolicy::none,
        "log2(2 ** input + 2 ** other) without its overflow.", pair_formula<logaddexp2_of, true>,
        slopes_of_pair<logaddexp2_slope, [](Var a, Var b) { return logaddexp2_slope(b, a); }>, sample_pairs<-20, 20>),
    row("xlogy(tensor|number input, tensor|number other) -> tensor", CastPolicy::none,
        "input * log(other), 0 where input is 0.", pair_formula<multiply_by_log<[](Var b) { return log(b); }>, true>,
        slopes_of_pair<xlogy_derivative, divide>, sample_pairs<5, 20>),
    row("xlog1py(tensor|number input, tensor|number other) -> tensor", CastPolicy::none,
        "input * log1p(other), 0 where input is 0.",
        pair_formula<multiply_by_log<[](Var b) { return log1p(b); }>, true>,
        slopes_of_pair<xlog1py_derivative, divide_by_one_plus>, sample_pairs<-5, 20>),
    row("copysign(tensor input, tensor|number other) -> tensor", CastPolicy::none,
        "The absolute value of input with the sign of other.", pair_formula<copy_sign, true>, nullptr,
        sample_pairs<5, 20>),
    row("fmax(tensor input, tensor|number other) -> tensor", CastPolicy::none,
        "The greater of two; where one is NaN, the other.", pair_formula<fmax_of, false>, nullptr,
        sample_pairs<-20, 20>),
    row("fmin(tensor input, tensor|number other) -> tensor", CastPolicy::none,
        "The lesser of two; where one is NaN, the other.", pair_formula<fmin_of, false>, nullptr,
        sample_pairs<-20, 20>),
    nondiff_row("heaviside(tensor input, tensor|number values) -> tensor", "0 below zero, 1 above, and values at zero.",
                pair_formula<heaviside_of, false>, kJumps, sample_flat_pairs),
    nondiff_row("nextafter(tensor input, tensor|number other) -> tensor",
                "The next number after input in the direction of other.", next_after, "it steps from number to number",
                sample_neighbours),
    row("zeta(tensor|number input, tensor|number other) -> tensor", CastPolicy::none,
        "Hurwitz' zeta function: the sum of (k + other) ** -input over k.", binary_prim<true>, nullptr, sample_zetas),
    nondiff_row("logical_and(tensor input, tensor other) -> tensor", "Whether both are nonzero.",
                apply_to_booleans<both>, kTruth, sample_truths),
    nondiff_row("logical_or(tensor input, tensor other) -> tensor", "Whether either is nonzero.",
                apply_to_booleans<either>, kTruth, sample_truths),
    nondiff_row("logical_xor(tensor input, tensor other) -> tensor", "Whether one of both is nonzero.",
                apply_to_booleans<[](Var a, Var b) { return ne(a, b); }>, kTruth, sample_truths),
    row("lerp(tensor input, tensor end, tensor|number weight) -> tensor", CastPolicy::none,
        "input + weight * (end - input).", triple_formula<lerp_of>, nullptr, sample_lerps),
    row("addcmul(tensor input, tensor tensor1, tensor tensor2, float value=1) -> tensor", CastPolicy::promote,
        "input + value * tensor1 * tensor2.", triple_formula<addcmul_of>, nullptr, sample_weighted),
    row("addcdiv(tensor input, tensor tensor1, tensor tensor2, float value=1) -> tensor", CastPolicy::promote,
        "input + value * tensor1 / tensor2.", triple_formula<addcdiv_of>, nullptr, sample_weighted),
    row(
        "rsub(tensor input, tensor|number other, tensor|number alpha=1) -> tensor", CastPolicy::none,
        "other - alpha * input.",
        [](Call& c) -> Results {
          return c.builder.call("sub", {c.args[1], c.args[0], c.args[2]});
        },
        nullptr, sample_pairs<-20, 20>),
    row("ldexp(tensor input, tensor|number other) -> tensor", CastPolicy::none, "input * 2 ** other.", ldexp, nullptr,
        sample_exponents),
    row("float_power(tensor|number input, tensor|number exponent) -> tensor", CastPolicy::none,
        "input to the power of exponent in f64.", float_power, nullptr, sample_powers),
    nondiff_row(
        "isclose(tensor input, tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> tensor",
        "Whether |input - other| <= atol + rtol * |other|.", isclose, kTruth, sample_closes, 0),
    nondiff_row(
        "allclose(tensor input, tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> tensor",
        "Whether isclose holds for all elements, as a 0-d boolean.",
        [](Call& c) -> Results {
          return c.builder.call("all",
                                {c.builder.call("isclose", {c.args[0], c.args[1], c.args[2], c.args[3], c.args[4]})});
        },
        kTruth, sample_closes, 0),
    nondiff_row("equal(tensor input, tensor other) -> tensor",
                "Whether both have one shape and the same elements, as a 0-d boolean.", equal, kTruth, sample_equals,
                0),
};

}  // namespace

extern const OpRows arithmetic_ops = kRows;

}  // namespace thunder
