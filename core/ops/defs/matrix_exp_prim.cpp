// The exponential of matrices, and its gradient.
#include <algorithm>
#include <cmath>

#include "ops/batch.h"
#include "ops/grad.h"
#include "ops/matrices.h"
#include "ops/tables.h"

namespace thunder {
namespace {

// Columns of n by n matrices.
void multiply(const LapackFunctions<double>& f, int n, const double* a, const double* b, double* out) {
  constexpr double kOne = 1, kNone = 0;
  f.gemm("N", "N", &n, &n, &n, &kOne, a, &n, b, &n, &kNone, out, &n, 1, 1);
}

// Padé's approximant of degree 13, after halving until the norm is below 5.37, and squared as often (Higham, 2005).
void exponentiate_matrix(int n, std::vector<double>& a, const LapackFunctions<double>& f) {
  // clang-format off
  constexpr double kB[] = {
      64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000, 10559470521600,
      670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1};
  // clang-format on
  double norm = 0;
  for (int c = 0; c < n; c++) {
    double sum = 0;
    for (int r = 0; r < n; r++) sum += std::abs(a[static_cast<size_t>(c * n + r)]);
    norm = std::max(norm, sum);
  }
  const int halvings = std::isfinite(norm) && norm > 5.37 ? static_cast<int>(std::ceil(std::log2(norm / 5.37))) : 0;
  for (double& x : a) x = std::ldexp(x, -halvings);
  const size_t size = a.size();
  std::vector<double> a2(size), a4(size), a6(size), u(size), v(size), w(size);
  multiply(f, n, a.data(), a.data(), a2.data()), multiply(f, n, a2.data(), a2.data(), a4.data()),
      multiply(f, n, a4.data(), a2.data(), a6.data());
  const auto eye = [&](size_t i) { return i % static_cast<size_t>(n + 1) == 0 ? 1.0 : 0.0; };
  for (size_t i = 0; i < size; i++) w[i] = kB[13] * a6[i] + kB[11] * a4[i] + kB[9] * a2[i];
  multiply(f, n, a6.data(), w.data(), v.data());
  for (size_t i = 0; i < size; i++) v[i] += kB[7] * a6[i] + kB[5] * a4[i] + kB[3] * a2[i] + kB[1] * eye(i);
  multiply(f, n, a.data(), v.data(), u.data());
  for (size_t i = 0; i < size; i++) w[i] = kB[12] * a6[i] + kB[10] * a4[i] + kB[8] * a2[i];
  multiply(f, n, a6.data(), w.data(), v.data());
  for (size_t i = 0; i < size; i++) v[i] += kB[6] * a6[i] + kB[4] * a4[i] + kB[2] * a2[i] + kB[0] * eye(i);
  for (size_t i = 0; i < size; i++) a[i] = v[i] + u[i], w[i] = v[i] - u[i];
  std::vector<int> pivots(static_cast<size_t>(n));
  int info = 0;
  f.getrf(&n, &n, w.data(), &n, pivots.data(), &info);
  f.getrs("N", &n, &n, w.data(), &n, pivots.data(), a.data(), &n, &info, 1);
  for (int i = 0; i < halvings; i++) multiply(f, n, a.data(), a.data(), w.data()), a.swap(w);
}

Status* matrix_exp(const KernelArgs& k) {
  const std::string* why = nullptr;
  return with_lapack(k, [&](auto zero, auto&) -> Status* {
    using T = decltype(zero);
    const Matrices<T> in(k.in[0]), out(k.out[0]);
    if (!in.rows) return nullptr;
    return each_matrix(k, in, [&](int64_t i) -> Status* {
      const std::vector<T> a = in.load(i);
      std::vector<double> wide(a.begin(), a.end());
      exponentiate_matrix(static_cast<int>(in.rows), wide, Lapack::get(why)->f64);
      out.store(i, std::vector<T>(wide.begin(), wide.end()));
      return nullptr;
    });
  });
}
// The derivative along G is the upper right block of the exponential of [[A, G], [0, A]]; its transpose along the
// cotangent is the gradient.
void matrix_exp_vjp(Grad& g) {
  Var a = swap_last_two(g.var(0)), zero = full_like(a, 0);
  const auto beside = [&](Var x, Var y, int64_t dim) {
    ValueList both{x.id, y.id};
    return g.builder.call("cat", {both, dim});
  };
  Var whole = g.builder.call(Prim::matrix_exp, {beside(beside(a, g.cotangent(), -1), beside(zero, a, -1), -2)});
  const int64_t n = hint(a.size(-1));
  g.add(0, g.builder.call("narrow", {g.builder.call("narrow", {whole, -2, 0, n}), -1, n, n}));
}

constexpr OpRow kRows[] = {
    matrix_prim(
        "prims.matrix_exp(tensor input) -> tensor", "The sum of input^k / k!.",
        [](const Call& c, Types& out) { require_square(c), out.push(c.type(0)); }, matrix_exp, matrix_exp_vjp),
};

}  // namespace

extern const OpRows matrix_exp_prim_ops = kRows;

}  // namespace thunder
