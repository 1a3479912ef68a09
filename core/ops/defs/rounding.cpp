// Rounding, the parts of numbers, and questions about them.
#include "ops/tables.h"

namespace thunder {
namespace {

// Rounds to the nearest integer, ties to even. The fraction after floor is exact. A zero has the sign of x.
Var round_half_to_even(Var x) {
  Var low = floor(x), rest = x - low;
  Var odd = ne(low - floor(low * 0.5) * 2.0, 0.0);
  Var up = either(gt(rest, 0.5), both(eq(rest, 0.5), odd));
  Var near = low + convert(up, x.dtype());
  return where(eq(near, 0.0), x * 0.0, near);
}
Results round_op(Call& c) {
  Var x = c.var(0);
  c.require(x.dtype() != DType::boolean, "input must not be boolean, got ", name(x.type()));
  const auto decimals = static_cast<double>(c.integer(1));
  c.require(is_real(x.dtype()) || decimals == 0, "decimals belong to real inputs, got ", name(x.type()));
  if (!is_real(x.dtype())) return x;
  const DType dtype = x.dtype();
  x = computed(x);
  if (decimals == 0) return convert(round_half_to_even(x), dtype);
  const double scale = std::pow(10.0, std::fabs(decimals));
  return convert(decimals > 0 ? round_half_to_even(x * scale) / scale : round_half_to_even(x / scale) * scale, dtype);
}
// Integers are whole.
template <auto formula>
Results round_reals(Call& c) {
  Var x = c.var(0);
  c.require(x.dtype() != DType::boolean, "input must not be boolean, got ", name(x.type()));
  return is_real(x.dtype()) ? formula(x) : x;
}
Results frac(Call& c) {
  Var x = c.var(0);
  c.require(is_real(x.dtype()), "input must be real, got ", name(x.type()));
  return x - truncated(x);
}

// A mantissa in [0.5, 1) and an exponent. Scaling by the power of two takes two steps, which do not overflow.
Results frexp(Call& c) {
  Var x = c.var(0);
  c.require(is_real(x.dtype()), "input must be real, got ", name(x.type()));
  const DType dtype = x.dtype();
  x = computed(x);
  Var size = abs(x), regular = both(gt(size, 0.0), lt(size, kInfinity));
  Var power = floor(apply(Prim::log2, where(regular, size, 0.5))) + 1.0, half = floor(power * 0.5);
  const auto scaled = [&](Var v, Var by) { return v * c.builder.call("pow", {2.0, -by}); };
  Var m = scaled(scaled(x, half), power - half);
  // The logarithm may have been rounded to the next integer.
  Var large = both(regular, ge(abs(m), 1.0)), small = both(regular, lt(abs(m), 0.5));
  m = where(large, m * 0.5, where(small, m * 2.0, m));
  power = where(large, power + 1.0, where(small, power - 1.0, power));
  return {convert(where(regular, m, x), dtype).id, convert(where(regular, power, 0.0), DType::i32).id};
}

Var angle_of(Var x) {
  return where(isnan(x), std::numeric_limits<double>::quiet_NaN(), convert(lt(x, 0.0), x.dtype()) * kPi);
}
// A predicate of reals with a constant result for integers.
template <auto formula, bool for_integers>
Results real_predicate(Call& c) {
  Var x = c.var(0);
  if (is_real(x.dtype())) return formula(x);
  return c.builder.call(for_integers ? "prims.eq" : "prims.ne", {x, x});
}
Var signbit_of(Var x) {
  return is_real(x.dtype()) ? apply(Prim::signbit, x) : lt(x, 0);
}

Results nan_to_num(Call& c) {
  Var x = c.var(0);
  if (!is_real(x.dtype())) return x;
  const double top = info(x.dtype()).largest;
  Var y = where(isnan(x), c.real(1), x);
  y = where(eq(x, kInfinity), c.has(2) ? c.real(2) : top, y);
  return where(eq(x, -kInfinity), c.has(3) ? c.real(3) : -top, y);
}

void sample_numbers(Samples& s) {
  s.add_without_gradient({TensorSpec{{2, 3}}});
  s.add_without_gradient({TensorSpec{{}, DType::f64}});
  s.add({TensorSpec{{0, 3}}});
  s.add_without_gradient({TensorSpec{{5}, DType::bf16}});
  s.add({TensorSpec{{2, 3}, DType::i64, -9, 9}});
}
void sample_signed_numbers(Samples& s) {
  sample_numbers(s);
  s.refuse({TensorSpec{{3}, DType::boolean, 0, 1}}, "boolean");
}
void sample_rounds(Samples& s) {
  sample_signed_numbers(s);
  s.add_without_gradient({TensorSpec{{7}, DType::f64, -100, 100}, 1});
  s.add_without_gradient({TensorSpec{{7}, DType::f64, -100, 100}, -1});
}
void sample_reals(Samples& s) {
  s.add({TensorSpec{{2, 3}}});
  s.add({TensorSpec{{}, DType::f64}});
  s.add({TensorSpec{{5}, DType::bf16}});
  s.refuse({TensorSpec{{3}, DType::i64, 0, 1}}, "real");
}
void sample_anything(Samples& s) {
  sample_numbers(s);
  s.add({TensorSpec{{4}, DType::boolean, 0, 1}});
}
void sample_replaced(Samples& s) {
  s.add({TensorSpec{{2, 3}}});
  s.add({TensorSpec{{2, 3}}, 1.0, 2.0, -2.0});
  s.add({TensorSpec{{2, 3}, DType::i64, -9, 9}});
}

consteval OpRow predicate_row(SchemaText schema, std::string_view doc, DecomposeFn decompose) {
  return composite(schema, CastPolicy::none, doc, decompose, sample_anything, 0, {.nondiff = "the result is boolean"});
}

constexpr OpRow kRows[] = {
    composite("ceil(tensor input) -> tensor", CastPolicy::none, "The least integer that is not less.",
              round_reals<[](Var x) { return -floor(-x); }>, sample_signed_numbers, kInplace),
    composite("trunc(tensor input) -> tensor", CastPolicy::none, "The integer part, towards zero.",
              round_reals<truncated>, sample_signed_numbers, kInplace),
    composite("round(tensor input, int decimals=0) -> tensor", CastPolicy::none,
              "The nearest integer, of two the even one; decimals moves the point.", round_op, sample_rounds, kInplace),
    composite("frac(tensor input) -> tensor", CastPolicy::none, "What trunc takes away.", frac, sample_reals, kInplace),
    composite("frexp(tensor input) -> (tensor mantissa, tensor exponent)", CastPolicy::none,
              "Mantissas in [0.5, 1) and i32 exponents, whose powers of 2 they are multiplied by.", frexp,
              sample_reals),
    composite(
        "positive(tensor input) -> tensor", CastPolicy::none, "The input itself.",
        [](Call& c) -> Results {
          c.require(c.type(0).dtype != DType::boolean, "input must not be boolean, got ", name(c.type(0)));
          return c.var(0);
        },
        sample_signed_numbers, kView | kReturnsSelf),
    composite("angle(tensor input) -> tensor", CastPolicy::none, "pi where the input is negative, else 0; NaN of NaN.",
              real_formula<angle_of>, sample_numbers),
    composite("nan_to_num(tensor input, float nan=0.0, float? posinf=None, float? neginf=None) -> tensor",
              CastPolicy::none,
              "NaN as nan, infinities as posinf and neginf, or as the largest and least finite number.", nan_to_num,
              sample_replaced, kInplace),
    predicate_row("isnan(tensor input) -> tensor", "Whether each element is NaN.", real_predicate<isnan, false>),
    predicate_row("isinf(tensor input) -> tensor", "Whether each element is infinite.",
                  real_predicate<[](Var x) { return eq(abs(x), kInfinity); }, false>),
    predicate_row("isposinf(tensor input) -> tensor", "Whether each element is the positive infinity.",
                  real_predicate<[](Var x) { return eq(x, kInfinity); }, false>),
    predicate_row("isneginf(tensor input) -> tensor", "Whether each element is the negative infinity.",
                  real_predicate<[](Var x) { return eq(x, -kInfinity); }, false>),
    predicate_row("isfinite(tensor input) -> tensor", "Whether each element is neither infinite nor NaN.",
                  real_predicate<[](Var x) { return lt(abs(x), kInfinity); }, true>),
    predicate_row("signbit(tensor input) -> tensor", "Whether each sign bit is set, as in -0.0 and some NaNs.",
                  formula_on<signbit_of>),
};

}  // namespace

extern const OpRows rounding_ops = kRows;

}  // namespace thunder
