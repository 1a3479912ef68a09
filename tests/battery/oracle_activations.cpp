// Oracles of activation functions with options, of gates, norms and deviations.
#include <algorithm>
#include <cmath>

#include "battery/oracle_loops.h"

namespace thunder::battery {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double softplus(double x) { return x > 30 ? x : std::log1p(std::exp(x)); }

template <class F>
Arrays halves(const Arguments& a, F f) {
  const Array& x = a.tensor(0);
  const size_t dim = axis_of(a.integer(1, -1), x.shape.size());
  Ints shape = x.shape;
  shape[dim] /= 2;
  return {make(shape, [&](const Ints& i) {
    Ints second = i;
    second[dim] += shape[dim];
    return f(at(x, i), at(x, second));
  })};
}
Arrays prelu(const Arguments& a) {
  const Array &x = a.tensor(0), &w = a.tensor(1);
  return {make(x.shape, [&](const Ints& i) {
    const double slope = w.data.size() == 1 ? w.data[0] : w.data[static_cast<size_t>(i[i.size() > 1 ? 1 : 0])];
    return at(x, i) > 0 ? at(x, i) : slope * at(x, i);
  })};
}
Arrays rope(const Arguments& a) {
  const Array& x = a.tensor(0);
  const int64_t n = x.shape.back();
  return {make(broadcast_shape(x.shape, a.tensor(1).shape), [&](const Ints& i) {
    Ints other = i;
    other.back() = (i.back() + n / 2) % n;
    const double turned = i.back() < n / 2 ? -broadcast_at(x, other) : broadcast_at(x, other);
    return broadcast_at(x, i) * broadcast_at(a.tensor(1), i) + turned * broadcast_at(a.tensor(2), i);
  })};
}

// ---- norms and deviations ----

double mean(const Group& g) { return total(g) / static_cast<double>(g.size()); }
double variance(const Group& g, double correction) {
  double squares = 0;
  for (double v : g) squares += (v - mean(g)) * (v - mean(g));
  return squares / std::max(0.0, static_cast<double>(g.size()) - correction);
}
double norm(const Group& g, double p) {
  double sum = 0, top = 0, low = HUGE_VAL;
  for (double v : g) {
    sum += p == 0 ? (v != 0 ? 1 : 0) : std::pow(std::fabs(v), p);
    top = std::max(top, std::fabs(v)), low = std::min(low, std::fabs(v));
  }
  return p == 0 ? sum : std::isinf(p) ? (p > 0 ? top : low) : std::pow(sum, 1 / p);
}
Array spread(const Arguments& a, bool root) {
  return folded(a.tensor(0), a.ints(1), a.flag(3, false), [&](const Group& g) {
    const double v = variance(g, a.number(2, 1));
    return root ? std::sqrt(v) : v;
  });
}
Array mean_of(const Arguments& a) { return folded(a.tensor(0), a.ints(1), a.flag(3, false), mean); }
Array difference(const Arguments& a, double plus = 0) {
  const Array &x = a.tensor(0), &y = a.tensor(1);
  return make(broadcast_shape(x.shape, y.shape), [&](const Ints& i) { return broadcast_at(x, i) - broadcast_at(y, i) + plus; });
}
Arrays normalize(const Arguments& a) {
  const Array& x = a.tensor(0);
  const Array size = folded(x, a.ints(2, {1}), true, [&](const Group& g) { return std::max(norm(g, a.number(1, 2)), a.number(3, 1e-12)); });
  return {make(x.shape, [&](const Ints& i) { return at(x, i) / broadcast_at(size, i); })};
}
Arrays renorm(const Arguments& a) {
  const Array& x = a.tensor(0);
  Ints others;
  for (size_t d = 0; d < x.shape.size(); d++)
    if (d != axis_of(a.integer(2, 0), x.shape.size())) others.push_back(static_cast<int64_t>(d));
  const Array size = folded(x, others, true, [&](const Group& g) { return norm(g, a.number(1, 2)); });
  return {make(x.shape, [&](const Ints& i) {
    const double n = broadcast_at(size, i);
    return n > a.number(3, 1) ? at(x, i) * a.number(3, 1) / (n + 1e-7) : at(x, i);
  })};
}
Arrays cosine_similarity(const Arguments& a) {
  const Array &x = a.tensor(0), &y = a.tensor(1);
  const Ints shape = broadcast_shape(x.shape, y.shape);
  const auto fold = [&](auto f) { return folded(make(shape, f), {a.integer(2, 1)}, false, total); };
  const Array xy = fold([&](const Ints& i) { return broadcast_at(x, i) * broadcast_at(y, i); });
  const Array xx = fold([&](const Ints& i) { return broadcast_at(x, i) * broadcast_at(x, i); });
  const Array yy = fold([&](const Ints& i) { return broadcast_at(y, i) * broadcast_at(y, i); });
  return {make(xy.shape, [&](const Ints& i) {
    const double eps = a.number(3, 1e-8);
    return at(xy, i) / (std::max(std::sqrt(at(xx, i)), eps) * std::max(std::sqrt(at(yy, i)), eps));
  })};
}

constexpr OracleRow kRows[] = {
    {"softmin", [](const Arguments& a) {
       const Array& x = a.tensor(0);
       const Array sum = folded(x, {a.integer(1, 0)}, true, [](const Group& g) {
         double all = 0;
         for (double v : g) all += std::exp(-v);
         return all;
       });
       return Arrays{make(x.shape, [&](const Ints& i) { return std::exp(-at(x, i)) / broadcast_at(sum, i); })};
     }},
    row("relu6", [](double x) { return std::min(std::max(x, 0.0), 6.0); }),
    row("selu", [](double x) { return 1.0507009873554805 * (x > 0 ? x : 1.6732632423543772 * std::expm1(x)); }),
    row("hardsigmoid", [](double x) { return std::min(std::max(x / 6 + 0.5, 0.0), 1.0); }),
    row("hardswish", [](double x) { return x * std::min(std::max(x / 6 + 0.5, 0.0), 1.0); }),
    row("tanhshrink", [](double x) { return x - std::tanh(x); }),
    row("softsign", [](double x) { return x / (1 + std::fabs(x)); }),
    row("mish", [](double x) { return x * std::tanh(softplus(x)); }),
    row("logsigmoid", [](double x) { return -softplus(-x); }),
    row("rrelu", [](double x) { return x > 0 ? x : x * (1.0 / 8 + 1.0 / 3) / 2; }),
    {"elu", [](const Arguments& a) { return map(a, [&](double x) { return x > 0 ? x : a.number(1, 1) * std::expm1(x); }); }},
    {"celu", [](const Arguments& a) { return map(a, [&](double x) { return x > 0 ? x : a.number(1, 1) * std::expm1(x / a.number(1, 1)); }); }},
    {"hardtanh", [](const Arguments& a) { return map(a, [&](double x) { return std::min(std::max(x, a.number(1, -1)), a.number(2, 1)); }); }},
    {"hardshrink", [](const Arguments& a) { return map(a, [&](double x) { return std::fabs(x) <= a.number(1, 0.5) ? 0 : x; }); }},
    {"softshrink", [](const Arguments& a) { return map(a, [&](double x) { return std::copysign(std::max(0.0, std::fabs(x) - a.number(1, 0.5)), x); }); }},
    {"softplus", [](const Arguments& a) { return map(a, [&](double x) { return x * a.number(1, 1) > a.number(2, 20) ? x : std::log1p(std::exp(a.number(1, 1) * x)) / a.number(1, 1); }); }},
    {"threshold", [](const Arguments& a) { return map(a, [&](double x) { return x > a.number(1, 0) ? x : a.number(2, 0); }); }},
    {"glu", [](const Arguments& a) { return halves(a, [](double x, double y) { return x * sigmoid(y); }); }},
    {"swiglu", [](const Arguments& a) { return halves(a, [](double x, double y) { return x * sigmoid(x) * y; }); }},
    {"prelu", prelu},
    {"rope", rope},
    {"std", [](const Arguments& a) { return Arrays{spread(a, true)}; }},
    {"std_mean", [](const Arguments& a) { return Arrays{spread(a, true), mean_of(a)}; }},
    {"var_mean", [](const Arguments& a) { return Arrays{spread(a, false), mean_of(a)}; }},
    {"norm", [](const Arguments& a) { return Arrays{folded(a.tensor(0), a.ints(2), a.flag(3, false), [&](const Group& g) { return norm(g, a.number(1, 2)); })}; }},
    {"dist", [](const Arguments& a) { return Arrays{folded(difference(a), {}, false, [&](const Group& g) { return norm(g, a.number(2, 2)); })}; }},
    {"normalize", normalize},
    {"renorm", renorm},
    {"cosine_similarity", cosine_similarity},
    {"pairwise_distance", [](const Arguments& a) {
       return Arrays{folded(difference(a, a.number(3, 1e-6)), {-1}, a.flag(4, false), [&](const Group& g) { return norm(g, a.number(2, 2)); })};
     }},
    {"nansum", [](const Arguments& a) { return Arrays{folded(a.tensor(0), a.ints(1), a.flag(2, false), total)}; }},
    {"nanmean", [](const Arguments& a) { return Arrays{folded(a.tensor(0), a.ints(1), a.flag(2, false), mean)}; }},
    {"count_nonzero", [](const Arguments& a) {
       return Arrays{folded(a.tensor(0), a.ints(1), false, [](const Group& g) { return static_cast<double>(std::count_if(g.begin(), g.end(), [](double v) { return v != 0; })); })};
     }},
};

}  // namespace

std::span<const OracleRow> activation_oracles() { return kRows; }

}  // namespace thunder::battery
