// Elementwise functions of one tensor, as users call them: each row is one prim, and reals where it needs them.
#include "ops/elementwise.h"
#include "ops/numbers.h"

namespace thunder {
namespace {

Results call_unary_prim(Call& c, std::string_view prim, bool to_reals) {
  const bool live = !to_reals && is_plain_number(c, 0) && !is_number(c.args[0]);  // what is made of it is a number, too
  Var x = live ? c.builder.var(c.args[0].v) : c.var(0);
  if (to_reals) x = convert(x, to_real(x.dtype()));
  return c.builder.call(prim, {x});
}

void sample_numbers(Samples& s) {
  s.add({TensorSpec{{2, 3}}});
  s.add({TensorSpec{{}, DType::f64}});
  s.add({TensorSpec{{0, 3}}});
  s.add({TensorSpec{{5}, DType::bf16}});
  s.add({TensorSpec{{2, 3}, DType::i64, -9, 9}});
}
void sample_signed_numbers(Samples& s) {
  sample_numbers(s);
  s.refuse({TensorSpec{{3}, DType::boolean, 0, 1}}, "boolean");
}
void sample_signs(Samples& s) {
  s.add({TensorSpec{{2, 3}}});
  s.add({TensorSpec{{7}, DType::i64, -9, 9}});
  s.add({TensorSpec{{4}, DType::boolean, 0, 1}});
}
void sample_positive_numbers(Samples& s) {
  s.add({TensorSpec{{2, 3}, DType::f32, 0.25, 4}});
  s.add({TensorSpec{{}, DType::f64, 0.25, 4}});
  s.add({TensorSpec{{0, 3}, DType::f32, 0.25, 4}});
  s.add({TensorSpec{{5}, DType::bf16, 0.25, 4}});
  s.add({TensorSpec{{2, 3}, DType::i64, 1, 9}});
}
void sample_truths(Samples& s) {
  sample_numbers(s);
  s.add({TensorSpec{{4}, DType::boolean, 0, 1}});
}

constexpr OpRow kRows[] = {
    composite(
        "abs(tensor input) -> tensor", CastPolicy::none, "The absolute value.",
        [](Call& c) { return call_unary_prim(c, "prims.abs", false); }, sample_signed_numbers, kInplace),
    composite(
        "neg(tensor input) -> tensor", CastPolicy::none, "-input.",
        [](Call& c) { return call_unary_prim(c, "prims.neg", false); }, sample_signed_numbers, kInplace),
    composite(
        "sign(tensor input) -> tensor", CastPolicy::none, "-1, 0 or 1; 0 for NaN.",
        [](Call& c) -> Results {
          if (c.type(0).dtype == DType::boolean) return c.var(0);
          return call_unary_prim(c, "prims.sign", false);
        },
        sample_signs, kInplace),
    composite(
        "floor(tensor input) -> tensor", CastPolicy::none, "The largest integer that is not greater.",
        [](Call& c) { return call_unary_prim(c, "prims.floor", false); }, sample_signed_numbers, kInplace),
    composite(
        "logical_not(tensor input) -> tensor", CastPolicy::none, "Whether the input is zero.",
        [](Call& c) { return call_unary_prim(c, "prims.logical_not", false); }, sample_truths, kInplace),
    composite(
        "exp(tensor input) -> tensor", CastPolicy::fp32, "e to the power of the input.",
        [](Call& c) { return call_unary_prim(c, "prims.exp", true); }, sample_numbers, kInplace),
    composite(
        "log(tensor input) -> tensor", CastPolicy::fp32, "The natural logarithm.",
        [](Call& c) { return call_unary_prim(c, "prims.log", true); }, sample_positive_numbers, kInplace),
    composite(
        "sqrt(tensor input) -> tensor", CastPolicy::none, "The square root.",
        [](Call& c) { return call_unary_prim(c, "prims.sqrt", true); }, sample_positive_numbers, kInplace),
    composite(
        "rsqrt(tensor input) -> tensor", CastPolicy::fp32, "1 / sqrt(input).",
        [](Call& c) { return call_unary_prim(c, "prims.rsqrt", true); }, sample_positive_numbers, kInplace),
    composite(
        "reciprocal(tensor input) -> tensor", CastPolicy::fp32, "1 / input.",
        [](Call& c) { return call_unary_prim(c, "prims.reciprocal", true); }, sample_positive_numbers, kInplace),
    composite(
        "sin(tensor input) -> tensor", CastPolicy::none, "The sine of radians.",
        [](Call& c) { return call_unary_prim(c, "prims.sin", true); }, sample_numbers, kInplace),
    composite(
        "cos(tensor input) -> tensor", CastPolicy::none, "The cosine of radians.",
        [](Call& c) { return call_unary_prim(c, "prims.cos", true); }, sample_numbers, kInplace),
    composite(
        "tanh(tensor input) -> tensor", CastPolicy::none, "The hyperbolic tangent.",
        [](Call& c) { return call_unary_prim(c, "prims.tanh", true); }, sample_numbers, kInplace),
    composite(
        "erf(tensor input) -> tensor", CastPolicy::none, "The error function.",
        [](Call& c) { return call_unary_prim(c, "prims.erf", true); }, sample_numbers, kInplace),
    composite(
        "square(tensor input) -> tensor", CastPolicy::none, "input * input; of booleans as i64.",
        [](Call& c) -> Results {
          Var x = c.var(0).dtype() == DType::boolean ? convert(c.var(0), DType::i64) : c.var(0);
          return c.builder.call(Prim::mul, {x, x});
        },
        sample_numbers, kInplace),
};

}  // namespace

extern const OpRows unary_ops = kRows;

}  // namespace thunder
