// Oracles of functions of one element.
#include <cmath>
#include <numbers>

#include "battery/oracle.h"

namespace thunder::battery {
namespace {

template <class F>
Arrays map(const Arguments& a, F f) {
  const Array& x = a.tensor(0);
  return {make(x.shape, [&](const Ints& i) { return f(at(x, i)); })};
}
// A row's oracle from a formula without state.
template <class F>
constexpr OracleRow row(std::string_view op, F) {
  return {op, [](const Arguments& a) { return map(a, F()); }};
}

Arrays gelu(const Arguments& a) {
  if (a.text(1, "none") == "none") return map(a, [](double x) { return x * 0.5 * (1 + std::erf(x / std::numbers::sqrt2)); });
  return map(a, [](double x) {
    return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
  });
}

Arrays leaky_relu(const Arguments& a) {
  const double slope = a.number(1, 0.01);
  return map(a, [=](double x) { return x > 0 ? x : x * slope; });
}

constexpr OracleRow kRows[] = {
    row("abs", [](double x) { return std::fabs(x); }),
    row("neg", [](double x) { return -x; }),
    row("sign", [](double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0; }),
    row("floor", [](double x) { return std::floor(x); }),
    row("logical_not", [](double x) { return x == 0 ? 1.0 : 0.0; }),
    row("exp", [](double x) { return std::exp(x); }),
    row("log", [](double x) { return std::log(x); }),
    row("sqrt", [](double x) { return std::sqrt(x); }),
    row("rsqrt", [](double x) { return 1 / std::sqrt(x); }),
    row("reciprocal", [](double x) { return 1 / x; }),
    row("sin", [](double x) { return std::sin(x); }),
    row("cos", [](double x) { return std::cos(x); }),
    row("tanh", [](double x) { return std::tanh(x); }),
    row("erf", [](double x) { return std::erf(x); }),
    row("square", [](double x) { return x * x; }),
    row("sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }),
    row("relu", [](double x) { return x > 0 || x != x ? x : 0.0; }),
    row("silu", [](double x) { return x / (1 + std::exp(-x)); }),
    {"gelu", gelu},
    {"leaky_relu", leaky_relu},
};

}  // namespace

std::span<const OracleRow> unary_oracles() { return kRows; }

}  // namespace thunder::battery
