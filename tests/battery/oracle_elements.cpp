// Oracles of elementwise functions with options, or that are not defined on every real number.
#include <cmath>
#include <numbers>
#include <numeric>

#include "battery/oracle_loops.h"

namespace thunder::battery {
namespace {

template <class F>
Arrays zip3(const Arguments& a, F f) {
  const Array &x = a.tensor(0), &y = a.tensor(1), &z = a.tensor(2);
  return {make(broadcast_shape(broadcast_shape(x.shape, y.shape), z.shape),
               [&](const Ints& i) { return f(broadcast_at(x, i), broadcast_at(y, i), broadcast_at(z, i)); })};
}
// On 64 bits as integers.
template <class F>
constexpr OracleRow integers(std::string_view op, F) {
  return {op, [](const Arguments& a) {
            return zip(a, [](double x, double y) { return static_cast<double>(F()(static_cast<int64_t>(x), static_cast<int64_t>(y))); });
          }};
}

// By its series: the far terms as an integral.
double zeta(double s, double q) {
  constexpr int kTerms = 20000;
  double sum = 0;
  for (int k = kTerms - 1; k >= 0; k--) sum += std::pow(q + k, -s);
  const double a = q + kTerms;
  return sum + std::pow(a, 1 - s) / (s - 1) + 0.5 * std::pow(a, -s) + s / 12 * std::pow(a, -s - 1);
}
// By its power series, whose terms are all positive.
double igamma(double a, double x) {
  double sum = 0;
  for (int k = 0; k < 150; k++) sum += std::pow(x, k + a) * std::exp(-x) / std::tgamma(a + k + 1);
  return sum;
}
double polygamma(int n, double x) {
  if (n > 0) return (n % 2 ? 1 : -1) * std::tgamma(n + 1) * zeta(n + 1, x);
  double sum = 0;
  for (; x < 1000; x++) sum -= 1 / x;
  return sum + std::log(x) - 1 / (2 * x) - 1 / (12 * x * x);
}
Arrays mvlgamma(const Arguments& a) {
  const auto p = static_cast<double>(a.integer(1, 1));
  return map(a.tensor(0), [=](double x) {
    double sum = p * (p - 1) / 4 * std::log(std::numbers::pi);
    for (double j = 1; j <= p; j++) sum += std::lgamma(x + (1 - j) / 2);
    return sum;
  });
}
Arrays nan_to_num(const Arguments& a) {
  return map(a.tensor(0), [&](double x) { return x != x ? a.number(1, 0) : x; });
}
double floor_divided(double x, double y) {
  const double rest = std::fmod(x, y), quotient = (x - rest) / y;
  return std::round(rest != 0 && (rest < 0) != (y < 0) ? quotient - 1 : quotient);
}
// Powers of two are exact.
double shifted(const Array& of, double x, double by) {
  const int bits = of.dtype == DType::u8 ? 8 : of.dtype == DType::i32 ? 32 : 64;
  return by >= bits ? 0 : std::ldexp(x, static_cast<int>(by));
}
Arrays nextafter(const Arguments& a) {
  const bool narrow = a.tensor(0).dtype == DType::f32 && a.tensor(1).dtype == DType::f32;
  return zip(a, [=](double x, double y) { return narrow ? static_cast<double>(std::nextafter(static_cast<float>(x), static_cast<float>(y))) : std::nextafter(x, y); });
}
Arrays isclose(const Arguments& a) {
  return zip(a, [&](double x, double y) {
    const bool near = x == y || (std::isfinite(x - y) && std::fabs(x - y) <= a.number(3, 1e-8) + a.number(2, 1e-5) * std::fabs(y));
    return near || (a.flag(4, false) && x != x && y != y) ? 1.0 : 0.0;
  });
}
double all(const Array& x) {
  for (double v : x.data)
    if (v == 0) return 0;
  return 1;
}
Arrays equal(const Arguments& a) {
  const bool same = a.tensor(0).shape == a.tensor(1).shape && a.tensor(0).data == a.tensor(1).data;
  return {Array{{}, {same ? 1.0 : 0.0}, DType::none}};
}

constexpr OracleRow kRows[] = {
    {"polygamma", [](const Arguments& a) { return map(a.tensor(1), [&](double x) { return polygamma(static_cast<int>(a.integer(0, 0)), x); }); }},
    {"mvlgamma", mvlgamma},
    {"nan_to_num", nan_to_num},
    {"nextafter", nextafter},
    {"frexp", [](const Arguments& a) {
       int power = 0;
       return Arrays{map(a.tensor(0), [&](double x) { return std::frexp(x, &power); })[0], map(a.tensor(0), [&](double x) { return std::frexp(x, &power), static_cast<double>(power); })[0]};
     }},
    row("igamma", [](double a, double x) { return igamma(a, x); }),
    row("igammac", [](double a, double x) { return 1 - igamma(a, x); }),
    row("zeta", [](double x, double y) { return zeta(x, y); }),
    {"bitwise_not", [](const Arguments& a) {
       const bool truth = a.tensor(0).dtype == DType::boolean;
       return map(a.tensor(0), [=](double x) { return truth ? 1 - x : -x - 1; });
     }},
    integers("bitwise_and", [](int64_t x, int64_t y) { return x & y; }),
    integers("bitwise_or", [](int64_t x, int64_t y) { return x | y; }),
    integers("bitwise_xor", [](int64_t x, int64_t y) { return x ^ y; }),
    integers("gcd", [](int64_t x, int64_t y) { return std::gcd(x, y); }),
    integers("lcm", [](int64_t x, int64_t y) { return std::lcm(x, y); }),
    {"bitwise_left_shift", [](const Arguments& a) { return zip(a, [&](double x, double y) { return shifted(a.tensor(0), x, y); }); }},
    {"bitwise_right_shift", [](const Arguments& a) { return zip(a, [](double x, double y) { return std::floor(std::ldexp(x, -static_cast<int>(y))); }); }},
    row("floor_divide", [](double x, double y) { return floor_divided(x, y); }),
    row("ldexp", [](double x, double y) { return x * std::exp2(y); }),
    row("float_power", [](double x, double y) { return std::pow(x, y); }),
    {"rsub", [](const Arguments& a) { return zip(a, [&](double x, double y) { return y - a.number(2, 1) * x; }); }},
    {"lerp", [](const Arguments& a) { return zip3(a, [](double x, double y, double w) { return x + w * (y - x); }); }},
    {"addcmul", [](const Arguments& a) { return zip3(a, [&](double x, double y, double z) { return x + a.number(3, 1) * y * z; }); }},
    {"addcdiv", [](const Arguments& a) { return zip3(a, [&](double x, double y, double z) { return x + a.number(3, 1) * y / z; }); }},
    {"isclose", isclose},
    {"allclose", [](const Arguments& a) { return Arrays{Array{{}, {all(isclose(a)[0])}, DType::none}}; }},
    {"equal", equal},
};

}  // namespace

std::span<const OracleRow> element_oracles() { return kRows; }

}  // namespace thunder::battery
