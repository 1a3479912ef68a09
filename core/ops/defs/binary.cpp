// Elementwise functions of two tensors, as users call them: operands promote and broadcast to one type, then a prim
// runs.
#include <cmath>

#include "ops/elementwise.h"
#include "ops/numbers.h"

namespace thunder {
namespace {

// The maximum or minimum: computed in the wider type, the rounded result is the same.
Results call_promoted(Call& c, std::string_view prim) {
  auto v = promoted(c, {0, 1});
  return c.builder.call(prim, {v[0], v[1]});
}

// Adds a gradient of the result's shape to an operand that was broadcast to it.
void add_broadcast(Grad& g, size_t i, Var gradient) {
  g.add(i, sum_to(gradient, g.type(i).shape));
}

// ---- add, sub ----

std::optional<double> plain_number_value(const Arg& a) {
  if (a.kind == ArgKind::real) return a.f;
  if (a.kind == ArgKind::integer || a.kind == ArgKind::boolean) return static_cast<double>(a.i);
  return std::nullopt;
}
Results apply_with_alpha(Call& c, std::string_view prim) {
  if (plain_number_value(c.args[2]) == 1.0) return computed_by(c, prim, false, Overflow::wraps);
  const ComputedOperands x = computed_operands(c, {0, 1}, false, Overflow::wraps);
  const DType dtype = x.dtype;
  const Arg& alpha = c.args[2];
  const bool real = alpha.kind == ArgKind::real || (alpha.kind == ArgKind::value && is_real(c.type(2).dtype));
  c.require(is_real(dtype) || !real, "alpha must not be real for operands of ", name(dtype));
  Var a = computed(x.v[0]), b = computed(x.v[1]);
  return rounded(x, c.builder.call(prim, {a, convert(b * alpha, a.dtype())}));
}
void apply_with_alpha_vjp(Grad& g, bool negative) {
  Var dy = g.cotangent();
  if (g.wants(0)) add_broadcast(g, 0, dy);
  const bool plain = plain_number_value(g.args[2]) == 1.0;
  if (g.wants(1)) {
    Var to_other = plain ? dy : dy * g.args[2];
    add_broadcast(g, 1, negative ? -to_other : to_other);
  }
  if (g.wants(2)) {
    Var to_alpha = dy * g.args[1];
    add_broadcast(g, 2, negative ? -to_alpha : to_alpha);
  }
}

// ---- mul, div ----

void mul_vjp(Grad& g) {
  if (g.wants(0)) add_broadcast(g, 0, g.cotangent() * g.args[1]);
  if (g.wants(1)) add_broadcast(g, 1, g.cotangent() * g.args[0]);
}

// Quotients of integers, and of reals, rounded down: as in Python, the remainder has the divisor's sign.
Var floor_quotient(Var a, Var b) {
  Builder& to = *a.builder;
  auto zero = [](Var x) { return full_like(x, 0); };
  if (!is_real(a.dtype())) {
    Var quotient = to.call(Prim::div, {a, b}), rest = a - quotient * b;
    Var signs_differ = to.call(Prim::ne, {to.call(Prim::lt, {rest, zero(b)}), to.call(Prim::lt, {b, zero(b)})});
    Var down = signs_differ * to.call(Prim::ne, {rest, zero(b)});
    return quotient - convert(down, a.dtype());
  }
  // The exact remainder first: the rounded quotient may already have reached the next integer.
  Var rest = to.call(Prim::fmod, {a, b}), quotient = (a - rest) / b;
  Var signs_differ = to.call(Prim::ne, {to.call(Prim::lt, {rest, zero(b)}), to.call(Prim::lt, {b, zero(b)})});
  Var down = signs_differ * to.call(Prim::ne, {rest, zero(b)});
  quotient = quotient - convert(down, a.dtype());
  Var floor = to.call(Prim::floor, {quotient});
  Var rounded = floor + convert(to.call("gt", {quotient - floor, 0.5}), a.dtype());
  // A zero gets the sign of the quotient.
  rounded = where(to.call("eq", {quotient, 0.0}), a / b * 0.0, rounded);
  return where(to.call("eq", {b, 0.0}), a / b, rounded);
}
Var truncated_towards_zero(Var x) {
  Builder& to = *x.builder;
  return to.call("where", {to.call("lt", {x, 0.0}), -to.call(Prim::floor, {-x}), to.call(Prim::floor, {x})});
}
Results div(Call& c) {
  if (!c.has(2)) return computed_by(c, "prims.div", true);
  const bool down = c.text(2) == "floor";
  c.require(down || c.text(2) == "trunc", "rounding_mode must be None, 'trunc' or 'floor', got '", c.text(2), "'");
  const ComputedOperands x = computed_operands(c, {0, 1});
  const DType dtype = x.dtype;
  c.require(dtype != DType::boolean, "booleans cannot be divided with a rounding_mode");
  Var a = computed(x.v[0]), b = computed(x.v[1]);
  if (down) return rounded(x, floor_quotient(a, b));
  Var quotient = c.builder.call(Prim::div, {a, b});
  return rounded(x, is_real(dtype) ? truncated_towards_zero(quotient) : quotient);
}
void div_vjp(Grad& g) {
  if (g.has(2)) return;  // it is constant between jumps
  Var slope = computed(g.cotangent()) / g.args[1];
  if (g.wants(0)) add_broadcast(g, 0, slope);
  if (g.wants(1)) add_broadcast(g, 1, -(slope * computed(g.result())));
}

// ---- pow ----

// Exponents that are known and have a cheaper form, as in PyTorch.
Results pow(Call& c) {
  auto exponent = plain_number_value(c.args[1]);
  if (exponent && !is_plain_number(c, 0)) {
    const bool real = is_real(c.type(0).dtype);
    if (!real && c.args[1].kind != ArgKind::real)
      c.require(*exponent >= 0, "integers to negative integer powers are not allowed; input is ", name(c.type(0)),
                ", other is ", c.args[1].i);
    Var x = c.var(0);
    if (x.dtype() == DType::boolean && c.args[1].kind == ArgKind::boolean) return *exponent == 1 ? x : full_like(x, 1);
    if (*exponent == 2.0 && (real || c.args[1].kind == ArgKind::integer) && x.dtype() != DType::boolean) return x * x;
    // Of 16 bits each product would be rounded.
    if (real && *exponent == 3.0 && size_of(x.dtype()) >= sizeof(float)) return x * x * x;
    // pow() of -infinity and of -0 is not their root; PyTorch takes it for float16 alone.
    if (real && x.dtype() != DType::f16 && *exponent == 0.5) return c.builder.call("sqrt", {x});
    if (real && x.dtype() != DType::f16 && *exponent == -0.5) return c.builder.call("rsqrt", {x});
    if (real && *exponent == -1.0) return c.builder.call("reciprocal", {x});
  }
  return computed_by(c, "prims.pow");
}

// ---- samples ----

void sample_pairs(Samples& s) {
  s.add({TensorSpec{{2, 3}}, TensorSpec{{2, 3}}});
  s.add({TensorSpec{{2, 3}}, TensorSpec{{3}}});
  s.add({TensorSpec{{4, 1, 3}}, TensorSpec{{5, 1}}});
  s.add({TensorSpec{{7}}, 2.5});
  s.add({0.5, TensorSpec{{7}, DType::f64}});
  s.add({TensorSpec{{}}, TensorSpec{{}}});
  s.add({TensorSpec{{0, 3}}, TensorSpec{{3}}});
  s.add({TensorSpec{{2, 3}, DType::bf16}, TensorSpec{{3}}});
  s.add({TensorSpec{{2, 3}, DType::i32, -9, 9}, TensorSpec{{3}, DType::i64, 1, 9}});
  s.add({TensorSpec{{2, 3}, DType::i64, -9, 9}, 2.5});
  s.refuse({TensorSpec{{2, 3}}, TensorSpec{{4}}}, "broadcast");
}
void sample_sums(Samples& s) {
  sample_pairs(s);
  s.add({TensorSpec{{2, 3}}, TensorSpec{{3}}, 0.5});
  s.add({TensorSpec{{4}, DType::i64, -9, 9}, TensorSpec{{4}, DType::i64, -9, 9}, 3});
}
void sample_quotients(Samples& s) {
  const TensorSpec divisor{{3}, DType::f32, 0.5, 3};
  s.add({TensorSpec{{2, 3}}, divisor});
  s.add({divisor, TensorSpec{{2, 1}, DType::f64, -3, -0.5}});
  s.add({TensorSpec{{2, 3}}, 2.5});
  s.add({1, TensorSpec{{4}, DType::i64, 1, 9}});
  s.add({TensorSpec{{}}, TensorSpec{{}, DType::f32, 1, 2}});
  s.add({TensorSpec{{0, 3}}, divisor});
  s.add({TensorSpec{{2, 3}, DType::bf16}, divisor});
  s.add_without_gradient({TensorSpec{{2, 3}, DType::f32, -20, 20}, divisor, "floor"});
  s.add_without_gradient({TensorSpec{{2, 3}, DType::f32, -20, 20}, divisor, "trunc"});
  s.add({TensorSpec{{2, 3}, DType::i64, -20, 20}, TensorSpec{{3}, DType::i64, 1, 5}, "floor"});
  s.add({TensorSpec{{2, 3}, DType::i32, -20, 20}, -3, "trunc"});
  s.refuse({TensorSpec{{2, 3}}, TensorSpec{{4}}}, "broadcast");
  s.refuse({TensorSpec{{3}}, divisor, "nearest"}, "rounding_mode");
}
void sample_real_powers(Samples& s) {
  const TensorSpec base{{2, 3}, DType::f32, 0.25, 3};
  s.add({base, TensorSpec{{3}}});
  s.add({base, TensorSpec{{2, 1}, DType::f64}});
  for (double exponent : {2.0, 3.0, 0.5, -0.5, -1.0, 0.0, 1.0, 1.7}) s.add({base, exponent});
  s.add({2.5, TensorSpec{{4}}});
  s.add({TensorSpec{{}, DType::f32, 0.5, 2}, 2});
  s.add({TensorSpec{{0, 3}}, 2.0});
  s.add({TensorSpec{{4}, DType::i64, -3, 3}, 3});
  s.add({TensorSpec{{4}, DType::i64, 1, 3}, 0.5});
  s.refuse({TensorSpec{{4}, DType::i64, 1, 3}, -2}, "negative");
  s.refuse({TensorSpec{{2, 3}}, TensorSpec{{4}}}, "broadcast");
}

consteval OpRow comparison(SchemaText schema, std::string_view doc, DecomposeFn decompose) {
  return composite(schema, CastPolicy::none, doc, decompose, sample_pairs, kInplace,
                   {.nondiff = "the result is boolean"});
}

constexpr OpRow kRows[] = {
    checked({.schema = "add(tensor|number input, tensor|number other, tensor|number alpha=1) -> tensor",
             .autocast = CastPolicy::none,
             .doc = "input + alpha * other; promotes and broadcasts.",
             .decompose = [](Call& c) { return apply_with_alpha(c, "prims.add"); },
             .vjp = [](Grad& g) { apply_with_alpha_vjp(g, false); },
             .samples = sample_sums,
             .tags = kInplace}),
    checked({.schema = "sub(tensor|number input, tensor|number other, tensor|number alpha=1) -> tensor",
             .autocast = CastPolicy::none,
             .doc = "input - alpha * other; promotes and broadcasts.",
             .decompose = [](Call& c) { return apply_with_alpha(c, "prims.sub"); },
             .vjp = [](Grad& g) { apply_with_alpha_vjp(g, true); },
             .samples = sample_sums,
             .tags = kInplace}),
    composite("mul(tensor|number input, tensor|number other) -> tensor", CastPolicy::none,
              "input * other; promotes and broadcasts.",
              [](Call& c) -> Results { return computed_by(c, "prims.mul", false, Overflow::wraps); }, sample_pairs,
              kInplace, {.vjp = mul_vjp}),
    composite("div(tensor|number input, tensor|number other, str? rounding_mode=None) -> tensor", CastPolicy::none,
              "input / other, integers as reals; with rounding_mode 'trunc' or 'floor' a whole quotient of the "
              "promoted dtype.",
              div, sample_quotients, kInplace, {.vjp = div_vjp}),
    composite("pow(tensor|number input, tensor|number other) -> tensor", CastPolicy::fp32,
              "input to the power of other; promotes and broadcasts.", pow, sample_real_powers, kInplace),
    composite(
        "maximum(tensor|number input, tensor|number other) -> tensor", CastPolicy::none,
        "The greater of two; NaN if either is.", [](Call& c) { return call_promoted(c, "prims.maximum"); },
        sample_pairs),
    composite(
        "minimum(tensor|number input, tensor|number other) -> tensor", CastPolicy::none,
        "The lesser of two; NaN if either is.", [](Call& c) { return call_promoted(c, "prims.minimum"); },
        sample_pairs),
    comparison("eq(tensor|number input, tensor|number other) -> tensor", "input == other.",
               [](Call& c) -> Results { return computed_by(c, "prims.eq"); }),
    comparison("ne(tensor|number input, tensor|number other) -> tensor", "input != other.",
               [](Call& c) -> Results { return computed_by(c, "prims.ne"); }),
    comparison("lt(tensor|number input, tensor|number other) -> tensor", "input < other.",
               [](Call& c) -> Results { return computed_by(c, "prims.lt"); }),
    comparison("le(tensor|number input, tensor|number other) -> tensor", "input <= other.",
               [](Call& c) -> Results { return computed_by(c, "prims.le"); }),
    comparison("gt(tensor|number input, tensor|number other) -> tensor", "input > other.",
               [](Call& c) -> Results { return computed_by(c, "prims.gt"); }),
    comparison("ge(tensor|number input, tensor|number other) -> tensor", "input >= other.",
               [](Call& c) -> Results { return computed_by(c, "prims.ge"); }),
};

}  // namespace

extern const OpRows binary_ops = kRows;

}  // namespace thunder
