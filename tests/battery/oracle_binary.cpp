// Oracles of elementwise functions of two and three tensors, which broadcast.
#include <cmath>

#include "battery/oracle_loops.h"

namespace thunder::battery {
namespace {

Arrays add(const Arguments& a) {
  const double alpha = a.number(2, 1);
  return zip(a, [&](double x, double y) { return x + (alpha == 1 ? y : alpha * y); });
}
Arrays sub(const Arguments& a) {
  const double alpha = a.number(2, 1);
  return zip(a, [&](double x, double y) { return x - (alpha == 1 ? y : alpha * y); });
}
// Rounded down as Python does it: no remainder, no step.
double floor_divided(double x, double y) {
  if (y == 0) return x / y;
  double rest = std::fmod(x, y);
  double quotient = (x - rest) / y;
  if (rest != 0 && (rest < 0) != (y < 0)) quotient -= 1;
  return std::round(quotient);
}
Arrays div(const Arguments& a) {
  const std::string mode = a.text(2, "");
  return zip(a, [&](double x, double y) {
    return mode == "floor" ? floor_divided(x, y) : mode == "trunc" ? std::trunc(x / y) : x / y;
  });
}

// The logarithm, to the base exp(scale), of the sum of its powers.
double log_of_sum(double x, double y, double scale) {
  if (x != x || y != y) return std::nan("");
  const double large = std::max(x, y), small = std::min(x, y);
  return std::isinf(large) ? large : large + std::log1p(std::exp((small - large) * scale)) / scale;
}

constexpr OracleRow kBinary[] = {
    {"add", add},
    {"sub", sub},
    {"div", div},
    row("mul", [](double x, double y) { return x * y; }),
    row("pow", [](double x, double y) { return std::pow(x, y); }),
    row("maximum", [](double x, double y) { return x != x || x > y ? x : y; }),
    row("minimum", [](double x, double y) { return x != x || x < y ? x : y; }),
    row("eq", [](double x, double y) { return x == y ? 1.0 : 0.0; }),
    row("ne", [](double x, double y) { return x != y ? 1.0 : 0.0; }),
    row("lt", [](double x, double y) { return x < y ? 1.0 : 0.0; }),
    row("le", [](double x, double y) { return x <= y ? 1.0 : 0.0; }),
    row("gt", [](double x, double y) { return x > y ? 1.0 : 0.0; }),
    row("ge", [](double x, double y) { return x >= y ? 1.0 : 0.0; }),
    row("remainder", [](double x, double y) {
      const double rest = std::fmod(x, y);
      return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
    }),
    row("fmod", [](double x, double y) { return std::fmod(x, y); }),
    row("atan2", [](double x, double y) { return std::atan2(x, y); }),
    row("hypot", [](double x, double y) { return std::hypot(x, y); }),
    row("logaddexp", [](double x, double y) { return log_of_sum(x, y, 1); }),
    row("logaddexp2", [](double x, double y) { return log_of_sum(x, y, std::log(2)); }),
    row("xlogy", [](double x, double y) { return x == 0 && y == y ? 0 : x * std::log(y); }),
    row("xlog1py", [](double x, double y) { return x == 0 && y == y ? 0 : x * std::log1p(y); }),
    row("copysign", [](double x, double y) { return std::copysign(x, y); }),
    row("fmax", [](double x, double y) { return std::fmax(x, y); }),
    row("fmin", [](double x, double y) { return std::fmin(x, y); }),
    row("heaviside", [](double x, double y) { return x == 0 ? y : x > 0 ? 1.0 : 0.0; }),
    row("logical_and", [](double x, double y) { return x != 0 && y != 0 ? 1.0 : 0.0; }),
    row("logical_or", [](double x, double y) { return x != 0 || y != 0 ? 1.0 : 0.0; }),
    row("logical_xor", [](double x, double y) { return (x != 0) != (y != 0) ? 1.0 : 0.0; }),
};

Arrays where(const Arguments& a) {
  const Array &c = a.tensor(0), &x = a.tensor(1), &y = a.tensor(2);
  return {make(broadcast_shape(c.shape, broadcast_shape(x.shape, y.shape)),
               [&](const Ints& i) { return broadcast_at(c, i) != 0 ? broadcast_at(x, i) : broadcast_at(y, i); })};
}
// The upper bound wins where the bounds cross.
Arrays clamp(const Arguments& a) {
  const Array& x = a.tensor(0);
  Ints shape = x.shape;
  for (size_t p : {1u, 2u})
    if (a.has(p)) shape = broadcast_shape(shape, a.tensor(p).shape);
  return {make(shape, [&](const Ints& i) {
    double v = broadcast_at(x, i);
    if (v != v) return v;
    if (a.has(1)) v = std::max(v, broadcast_at(a.tensor(1), i));
    if (a.has(2)) v = std::min(v, broadcast_at(a.tensor(2), i));
    return v;
  })};
}
Arrays masked_fill(const Arguments& a) {
  const Array &x = a.tensor(0), &mask = a.tensor(1);
  const double value = a.tensor(2).data[0];
  return {make(broadcast_shape(x.shape, mask.shape), [&](const Ints& i) { return broadcast_at(mask, i) != 0 ? value : broadcast_at(x, i); })};
}
// copy and fill: the second argument under the first one's shape.
Arrays second(const Arguments& a) {
  return {make(a.tensor(0).shape, [&](const Ints& i) { return broadcast_at(a.tensor(1), i); })};
}

constexpr OracleRow kTernary[] = {
    {"where", where}, {"clamp", clamp}, {"masked_fill", masked_fill}, {"copy", second}, {"fill", second},
};

}  // namespace

std::span<const OracleRow> binary_oracles() { return kBinary; }
std::span<const OracleRow> ternary_oracles() { return kTernary; }

}  // namespace thunder::battery
