// Products of matrices of every size and layout, and what they should give.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "base/text.h"
#include "executors/cpu/product_kernels.h"
#include "program/launch.h"
#include "support/noise.h"

namespace thunder::test {

inline Status* parallel_for(const Launch* launch, int64_t n, int64_t grain, ThreadPool::Body body, void* arg) {
  return launch->threads->parallel_for(n, grain, body, arg);
}

// How the elements of an operand of n rows and m columns lie.
struct Layout {
  const char* name;
  Matrix (*of)(const float* data, int64_t rows, int64_t columns);
};
constexpr Layout kLayouts[] = {
    {"rows", [](const float* p, int64_t, int64_t m) { return Matrix{p, m, 1}; }},
    {"columns", [](const float* p, int64_t n, int64_t) { return Matrix{p, 1, n}; }},
    {"rows apart", [](const float* p, int64_t, int64_t m) { return Matrix{p, m + 3, 1}; }},
    {"columns apart", [](const float* p, int64_t n, int64_t) { return Matrix{p, 1, n + 3}; }},
    {"every second", [](const float* p, int64_t, int64_t m) { return Matrix{p, 2 * m, 2}; }},
    {"one row", [](const float* p, int64_t, int64_t) { return Matrix{p, 0, 1}; }},
    {"one element", [](const float* p, int64_t, int64_t) { return Matrix{p, 0, 0}; }},
};

// c + a b in doubles.
inline std::vector<double> product_of(const Product& p, const std::vector<float>& before) {
  std::vector<double> out;
  for (int64_t i = 0; i < p.m; i++)
    for (int64_t j = 0; j < p.n; j++) {
      double sum = p.add ? static_cast<double>(before[static_cast<size_t>(i * p.c_row + j)]) : 0;
      for (int64_t l = 0; l < p.k; l++)
        sum += static_cast<double>(p.a.data[i * p.a.row + l * p.a.column]) * static_cast<double>(p.b.data[l * p.b.row + j * p.b.column]);
      out.push_back(sum);
    }
  return out;
}
inline void expect_near(const Product& p, const std::vector<double>& expected, const std::string& what, double precision) {
  const double tolerance = precision * (4 + std::sqrt(static_cast<double>(p.k)) * 2);
  for (int64_t i = 0; i < p.m; i++)
    for (int64_t j = 0; j < p.n; j++) {
      const double want = expected[static_cast<size_t>(i * p.n + j)], got = static_cast<double>(p.c[i * p.c_row + j]);
      ASSERT_LE(std::fabs(got - want), tolerance * (1 + std::fabs(want))) << what << " at " << i << ", " << j << ": " << got << " for " << want;
    }
}

struct Sizes3 {
  int64_t m, n, k;
};
constexpr Sizes3 kSizes[] = {{1, 1, 1},  {1, 5, 7},    {5, 1, 9},     {1, 1030, 67}, {3, 35, 70},   {5, 33, 17},
                             {13, 70, 300}, {70, 70, 70}, {40, 150, 90}, {260, 20, 33}, {257, 530, 9}, {2, 3, 0}};

// Calls f(product) for every size and pair of layouts; c is fresh, its rows apart, and compared afterwards.
template <class F>
void each_product(F&& f, double precision = 1e-6) {
  uint32_t seed = 0;
  for (const Sizes3& s : kSizes)
    for (const Layout& a : kLayouts)
      for (const Layout& b : kLayouts)
        for (bool add : {false, true}) {
          const int64_t row = s.n + 1;
          const std::vector<float> left = noise(2 * (s.m + 3) * (s.k + 3), ++seed), right = noise(2 * (s.n + 3) * (s.k + 3), ++seed);
          std::vector<float> c = noise(s.m * row, ++seed);
          Product p{s.m, s.n, s.k, a.of(left.data(), s.m, s.k), b.of(right.data(), s.k, s.n), c.data(), row, add};
          const std::vector<double> expected = product_of(p, c);
          f(p);
          expect_near(p, expected, cat(s.m, " x ", s.n, " x ", s.k, ", ", a.name, " by ", b.name, add ? ", added" : ""), precision);
          if (testing::Test::HasFatalFailure()) return;
        }
}

inline float number(Bf16 h) { return std::bit_cast<float>(static_cast<uint32_t>(h) << 16); }

// The same of halves, which must be exact: zeros and some ones, whose sums are halves too, in whatever order.
template <class F>
void each_bf16_product(F&& f) {
  const auto digits = [](int64_t n, size_t seed) {
    std::vector<Bf16> out(static_cast<size_t>(n));
    // Without a period: it would hide columns that are taken for others.
    for (size_t i = 0; i < out.size(); i++) out[i] = ((i + seed) * 2654435761U >> 13) % 16 == 0 ? 0x3f80 : 0;
    return out;
  };
  for (const Sizes3& s : kSizes)
    for (const Layout& left : kLayouts)
      for (const Layout& right : kLayouts)
        for (bool add : {false, true}) {
          const int64_t row = s.n + 1;
          const std::vector<Bf16> a = digits(2 * (s.m + 3) * (s.k + 3), 1), b = digits(2 * (s.n + 3) * (s.k + 3), 2), before = digits(s.m * row, 3);
          std::vector<Bf16> c = before;
          const Matrix x = left.of(nullptr, s.m, s.k), y = right.of(nullptr, s.k, s.n);
          const ProductOf<Bf16> p{s.m, s.n, s.k, {a.data(), x.row, x.column}, {b.data(), y.row, y.column}, c.data(), row, add};
          f(p);
          for (int64_t i = 0; i < s.m; i++)
            for (int64_t j = 0; j < s.n; j++) {
              const auto at = static_cast<size_t>(i * row + j);
              float want = add ? number(before[at]) : 0;
              for (int64_t l = 0; l < s.k; l++) want += number(p.a.data[i * x.row + l * x.column]) * number(p.b.data[l * y.row + j * y.column]);
              // Of one element, as many ones as there are depths: more than eight bits.
              if (want > 256) continue;
              ASSERT_EQ(number(c[at]), want) << s.m << " x " << s.n << " x " << s.k << ", " << left.name << " by " << right.name << " at " << i << ", " << j;
            }
          if (testing::Test::HasFatalFailure()) return;
        }
}

}  // namespace thunder::test
