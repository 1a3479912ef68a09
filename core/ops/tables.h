// What tables of composites are made of: words that formulas over variables use, and templates that turn a formula into
// an op, so that a row is a name, a sentence, a formula and samples.
#pragma once

#include <cmath>
#include <limits>
#include <numbers>

#include "base/text.h"
#include "ops/elementwise.h"
#include "ops/numbers.h"

namespace thunder {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kPi = std::numbers::pi, kLn2 = std::numbers::ln2;

// ---- words: each is one op ----

template <class Op>  // a Prim, or a name
Var apply(Op op, Var x) {
  return x.builder->call(op, {x});
}
template <class Op>
Var apply(Op op, Var x, In y) {
  return x.builder->call(op, {x, y});
}

inline Var operator+(double a, Var b) { return b + a; }
inline Var operator*(double a, Var b) { return b * a; }
inline Var operator/(double a, Var b) { return b.builder->call("div", {a, b}); }
inline Var abs(Var x) { return apply(Prim::abs, x); }
inline Var floor(Var x) { return apply(Prim::floor, x); }
inline Var sqrt(Var x) { return apply(Prim::sqrt, x); }
inline Var sin(Var x) { return apply(Prim::sin, x); }
inline Var cos(Var x) { return apply(Prim::cos, x); }
inline Var tanh(Var x) { return apply(Prim::tanh, x); }
inline Var erf(Var x) { return apply(Prim::erf, x); }
inline Var sign(Var x) { return apply(Prim::sign, x); }
inline Var expm1(Var x) { return apply("expm1", x); }
inline Var log1p(Var x) { return apply("log1p", x); }
inline Var logistic(Var x) { return apply("sigmoid", x); }
inline Var relu(Var x) { return apply("relu", x); }
inline Var maximum(Var x, In y) { return apply("maximum", x, y); }
inline Var minimum(Var x, In y) { return apply("minimum", x, y); }
inline Var clamped(Var x, double low, double high) { return minimum(maximum(x, low), high); }

inline Var lt(Var x, In y) { return apply("lt", x, y); }
inline Var le(Var x, In y) { return apply("le", x, y); }
inline Var gt(Var x, In y) { return apply("gt", x, y); }
inline Var ge(Var x, In y) { return apply("ge", x, y); }
inline Var eq(Var x, In y) { return apply("eq", x, y); }
inline Var ne(Var x, In y) { return apply("ne", x, y); }
inline Var isnan(Var x) { return apply(Prim::ne, x, x); }
inline Var both(Var x, Var y) { return apply("mul", x, y); }  // of booleans
inline Var either(Var x, Var y) { return apply("add", x, y); }
inline Var not_(Var x) { return apply(Prim::logical_not, x); }
inline Var square(Var x) { return x * x; }
// Towards zero.
inline Var truncated(Var x) { return where(lt(x, 0.0), -floor(-x), floor(x)); }
// log(1 + exp(x)).
inline Var softplus_of(Var x) { return maximum(x, 0.0) + log1p(exp(-abs(x))); }
inline Var at_least_one_dim(Var x) { return x.rank() ? x : reshape_to(x, Shape{1}); }
inline Var slice(Var x, size_t dim, Dim start, Dim end) {
  Shape starts(x.rank(), 0), ends = x.shape();
  starts[dim] = start, ends[dim] = end;
  return x.builder->call(Prim::slice, {x, starts, ends, Shape(x.rank(), 1)});
}
// The elements at the places of each line along the axis.
inline Var gather_along(Var x, size_t axis, Var place) {
  return x.builder->call(Prim::gather, {x, static_cast<int64_t>(axis), place});
}
inline Var index_sum(Var x, std::span<const Dim> axes) {
  return axes.empty() ? x : x.builder->call(Prim::sum, {x, axes});
}

// ---- what is required of operands ----

inline void require_ranks(const Call& c, size_t left, size_t a, size_t right, size_t b) {
  c.require(c.type(left).rank() == a && c.type(right).rank() == b, c.op.schema.params[left].name, " must have rank ", a,
            " and ", c.op.schema.params[right].name, " rank ", b, "; ", c.types());
}

// ---- formulas as ops ----

// Calls formulas of variables only, and formulas that read options of the call as well.
template <auto formula, class... Vars>
Var formula_of(Call& c, Vars... v) {
  if constexpr (requires { formula(c, v...); }) return formula(c, v...);
  else return formula(v...);
}

// A formula over reals, computed in f32 for narrower ones and rounded once. Integers become reals.
template <auto formula>
Results real_formula(Call& c) {
  Var x = c.var(0);
  const DType dtype = to_real(x.dtype());
  return convert(formula_of<formula>(c, computed(convert(x, dtype))), dtype);
}
// A formula over numbers of any dtype, computed in that dtype.
template <auto formula>
Results formula_on(Call& c) {
  return formula_of<formula>(c, c.var(0));
}

// Two and three operands, promoted and broadcast; for reals integers become such.
template <auto formula, bool real>
Results pair_formula(Call& c) {
  const ComputedOperands x = computed_operands(c, {0, 1}, real);
  Var y = formula_of<formula>(c, computed(x.v[0]), computed(x.v[1]));
  return y.dtype() == DType::boolean ? y : rounded(x, y);
}
template <auto formula>
Results triple_formula(Call& c) {
  const ComputedOperands x = computed_operands(c, {0, 1, 2});
  return rounded(x, formula_of<formula>(c, computed(x.v[0]), computed(x.v[1]), computed(x.v[2])));
}

// Calls the prim of the op's own name after promotion; if `real`, integers become reals.
template <bool real>
Results unary_prim(Call& c) {
  Var x = c.var(0);
  return c.builder.call(cat("prims.", c.op.name()), {real ? convert(x, to_real(x.dtype())) : x});
}
template <bool real>
Results binary_prim(Call& c) {
  return computed_by(c, cat("prims.", c.op.name()), real);
}

// ---- gradients as formulas ----

// The cotangent times a slope, a formula of the input x and the result y.
template <auto slope>
void slope_of_input(Grad& g) {
  g.add(0, computed(g.cotangent()) * slope(computed(g.var(0))));
}
template <auto slope>
void slope_of_result(Grad& g) {
  g.add(0, computed(g.cotangent()) * slope(computed(g.result())));
}
// Slopes in two operands that were broadcast to the result, formulas of both.
template <auto slope0, auto slope1>
void slopes_of_pair(Grad& g) {
  Var dy = computed(g.cotangent()), a = in_dtype(g, 0, dy.dtype()), b = in_dtype(g, 1, dy.dtype());
  if (g.wants(0)) g.add(0, sum_to(dy * slope0(a, b), g.type(0).shape));
  if (g.wants(1)) g.add(1, sum_to(dy * slope1(a, b), g.type(1).shape));
}

// ---- other names ----

// Calls the target with the same arguments, and its own defaults for the rest.
inline Results forward_to_alias_target(Call& c) {
  const OpDef& target = c.builder.registry().get(c.op.alias_of);
  CompleteArgs all(target, c.args);
  return c.builder.invoke(target, all.span());
}
// The same arguments under another name.
consteval OpRow another_name(SchemaText schema, CastPolicy autocast, std::string_view target, SamplesFn samples,
                             uint32_t tags = 0, std::string_view nondiff = {}) {
  return composite(schema, autocast, "Another name.", forward_to_alias_target, samples, tags,
                   {.nondiff = nondiff, .alias_of = target});
}

// ---- losses ----

// The reduction of a loss over its elements: none, their mean or their sum; the option is the parameter named
// reduction. The elements of a loss with weights count in their mean as much as their weights.
inline Var reduced_loss(const Call& c, Var loss, Var weight = {}) {
  const Reduction reduction = reduction_of(c, static_cast<size_t>(c.op.schema.find("reduction")));
  const Shape shape = loss.shape();
  if (weight) loss = loss * weight;
  if (reduction != Reduction::none) loss = c.builder.call(Prim::sum, {loss, Shape{}});
  if (reduction != Reduction::mean) return loss;
  return loss / (weight ? c.builder.call(Prim::sum, {weight, Shape{}}) : count(loss, shape));
}
// A formula of an input and a target for each element, then the reduction.
template <auto formula>
Results loss_formula(Call& c) {
  auto v = promoted(c, {0, 1}, true);
  const DType dtype = v[0].dtype();
  return convert(reduced_loss(c, formula_of<formula>(c, computed(v[0]), computed(v[1]))), dtype);
}

}  // namespace thunder
