#include "passes/algebra.h"

namespace thunder {
namespace {

// x + 0 is not x when x is -0.0; x * 0 is not 0 when x is NaN, infinite or negative; x - x is not 0 when x is not
// finite.
constexpr AlgebraRow kAlgebraRules[] = {
    {"detach(x) -> x", Exact::always},  // this pass runs after gradients are expanded
    {"alias(x) -> x", Exact::always},
    {"set_data(x, y) -> y", Exact::always},
    {"add(x, -0.0) -> x", Exact::always},
    {"add(-0.0, x) -> x", Exact::always},
    {"add(x, 0) -> x", Exact::integers},
    {"add(0, x) -> x", Exact::integers},
    {"add(x, neg(y)) -> sub(x, y)", Exact::always},
    {"add(neg(x), y) -> sub(y, x)", Exact::always},
    {"sub(x, 0) -> x", Exact::always},
    {"sub(-0.0, x) -> neg(x)", Exact::always},
    {"sub(0, x) -> neg(x)", Exact::integers},
    {"sub(x, neg(y)) -> add(x, y)", Exact::always},
    {"sub(x, x) -> 0", Exact::integers},
    {"neg(neg(x)) -> x", Exact::always},
    {"neg(sub(x, y)) -> sub(y, x)", Exact::integers},
    {"mul(x, 1) -> x", Exact::always},
    {"mul(1, x) -> x", Exact::always},
    {"mul(x, -1) -> neg(x)", Exact::always},
    {"mul(-1, x) -> neg(x)", Exact::always},
    {"mul(neg(x), neg(y)) -> mul(x, y)", Exact::always},
    {"mul(x, 0) -> 0", Exact::integers},
    {"mul(0, x) -> 0", Exact::integers},
    {"div(x, 1) -> x", Exact::always},
    {"div(x, -1) -> neg(x)", Exact::always},
    {"div(neg(x), neg(y)) -> div(x, y)", Exact::reals},
    {"div(x, 2) -> mul(x, 0.5)", Exact::reals},
    {"div(1, x) -> reciprocal(x)", Exact::reals},
    {"div(x, sqrt(y)) -> mul(x, rsqrt(y))", Exact::never},
    {"reciprocal(sqrt(x)) -> rsqrt(x)", Exact::never},
    {"reciprocal(reciprocal(x)) -> x", Exact::never},
    {"pow(x, 1) -> x", Exact::always},
    {"pow(x, 0) -> 1", Exact::always},
    {"pow(x, 2) -> mul(x, x)", Exact::integers},
    {"pow(x, 0.5) -> sqrt(x)", Exact::never},
    {"exp(log(x)) -> x", Exact::never},
    {"log(exp(x)) -> x", Exact::never},
    {"abs(abs(x)) -> abs(x)", Exact::always},
    {"abs(neg(x)) -> abs(x)", Exact::reals},
    {"floor(floor(x)) -> floor(x)", Exact::always},
    {"maximum(x, x) -> x", Exact::always},
    {"minimum(x, x) -> x", Exact::always},
    {"logical_not(logical_not(x)) -> x", Exact::always},
    {"where(c, x, x) -> x", Exact::always},
    {"where(1, x, y) -> x", Exact::always},
    {"where(0, x, y) -> y", Exact::always},
};

bool is_rule_allowed(size_t rule, const TensorType& result, const void* context) {
  const bool real = is_real(result.dtype), fast = static_cast<const PassContext*>(context)->fast_math;
  switch (kAlgebraRules[rule].exact) {
    case Exact::always: return true;
    case Exact::reals: return real;
    case Exact::integers: return !real || fast;
    case Exact::never: return real && fast;
  }
  return false;
}

std::vector<Rule> parse_algebra_rules(const Registry& registry) {
  std::vector<Rule> rules;
  rules.reserve(std::size(kAlgebraRules));
  for (const AlgebraRow& row : kAlgebraRules) rules.emplace_back(row.rule, registry, "prims.");
  return rules;
}

}  // namespace

std::span<const AlgebraRow> algebra_rules() {
  return kAlgebraRules;
}

std::optional<Trace> algebra(const Trace& trace, PassContext& context) {
  return apply_rules(trace, context.registry, context.registry.once(parse_algebra_rules), is_rule_allowed, &context);
}

}  // namespace thunder
