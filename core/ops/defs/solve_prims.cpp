// Systems of linear equations by LAPACK, and what determinants need; and their gradients.
#include <algorithm>
#include <cmath>

#include "ops/batch.h"
#include "ops/grad.h"
#include "ops/matrices.h"
#include "ops/tables.h"

namespace thunder {
namespace {

// Both operands have the same leading dims.
void solution_meta(const Call& c, Types& out) {
  require_square(c);
  const TensorType &a = c.type(0), &b = c.type(1);
  bool fits = a.dtype == b.dtype && a.device == b.device && a.rank() == b.rank();
  for (size_t i = 0; fits && i + 1 < a.rank(); i++) fits = a.shape[i] == b.shape[i];
  c.require(fits, "other must have the matrices' dtype, batch and rows; ", c.types());
  out.push(b);
}
void each_matrix_meta(const Call& c, Types& out) {
  require_square(c);
  TensorType t = c.type(0);
  t.shape.erase(t.rank() - 1), t.shape.erase(t.rank() - 1);
  out.push(t);
  if (c.op.schema.results.size() == 2) out.push(t);
}
// Broadcasts a value of each matrix over the matrix.
Var append_matrix_dims(Var x) { return x.builder->call("unsqueeze", {x.builder->call("unsqueeze", {x, -1}), -1}); }
Var inverse_transposed(const Grad& g) { return swap_last_two(g.builder.call("linalg_inv", {g.var(0)})); }
Var identity_like(Var a) {
  return expand_to(a.builder->call("eye", {hint(a.size(-1)), nullptr, a.dtype(), a.type().device}), a.type().shape);
}

// ---- triangular_solve: input, other, upper, transposed, unitriangular ----

Status* triangular_solve(const KernelArgs& k) {
  return with_lapack(k, [&](auto zero, auto& f) -> Status* {
    using T = decltype(zero);
    const Matrices<T> in(k.in[0]), other(k.in[1]), out(k.out[0]);
    const int n = static_cast<int>(in.rows), columns = static_cast<int>(other.columns);
    if (!n || !columns) return nullptr;
    return each_matrix(k, in, [&](int64_t i) -> Status* {
      std::vector<T> a = in.load(i), b = other.load(i);
      int info = 0;
      f.trtrs(k.args[2].i ? "U" : "L", k.args[3].i ? "T" : "N", k.args[4].i ? "U" : "N", &n, &columns, a.data(), &n,
              b.data(), &n, &info, 1, 1, 1);
      if (info)
        return refused(k, cat("the triangle is singular: element ", info - 1, " of its diagonal is zero"), i, in.batch);
      out.store(i, b);
      return nullptr;
    });
  });
}
void triangular_solve_vjp(Grad& g) {
  const bool upper = g.flag(2), transposed = g.flag(3), unit = g.flag(4);
  Var db = g.builder.call(Prim::triangular_solve, {g.var(0), g.cotangent(), upper, !transposed, unit});
  g.add(1, db);
  if (!g.wants(0)) return;
  Var da = transposed ? matmul(g.result(), swap_last_two(db)) : matmul(db, swap_last_two(g.result()));
  const int64_t beside = unit ? 1 : 0;
  g.add(0, -g.builder.call(upper ? "triu" : "tril", {da, upper ? beside : -beside}));
}

// ---- solve: input, other, adjoint, check_errors; slogdet, det ----

template <class T>
struct Factored {
  template <class F>
  Factored(const Matrices<T>& in, int64_t i, const F& f) : Factored(static_cast<int>(in.rows), in.load(i), f) {}
  template <class F>
  Factored(int size, std::vector<T> a, const F& f) : n(size), lu(std::move(a)), pivots(static_cast<size_t>(n)) {
    if (n) f.getrf(&n, &n, lu.data(), &n, pivots.data(), &info);
  }
  T determinant() const {
    T all = sign();
    for (int i = 0; i < n; i++) all *= diagonal(i);
    return all;
  }
  T diagonal(int i) const { return lu[static_cast<size_t>(i) * static_cast<size_t>(n) + static_cast<size_t>(i)]; }
  // The sign of the permutation.
  T sign() const {
    T s = 1;
    for (int i = 0; i < n; i++)
      if (pivots[static_cast<size_t>(i)] != i + 1) s = -s;
    return s;
  }
  int n, info = 0;
  std::vector<T> lu;
  std::vector<int> pivots;
};

Status* solve(const KernelArgs& k) {
  return with_lapack(k, [&](auto zero, auto& f) -> Status* {
    using T = decltype(zero);
    const Matrices<T> in(k.in[0]), other(k.in[1]), out(k.out[0]);
    const int columns = static_cast<int>(other.columns);
    return each_matrix(k, in, [&](int64_t i) -> Status* {
      const Factored<T> a(in, i, f);
      if (a.info && k.args[3].i) return refused(k, "the matrix is singular", i, in.batch);
      if (!a.n || !columns) return nullptr;
      std::vector<T> b = other.load(i);
      int info = 0;
      f.getrs(k.args[2].i ? "T" : "N", &a.n, &columns, a.lu.data(), &a.n, a.pivots.data(), b.data(), &a.n, &info, 1);
      out.store(i, b);
      return nullptr;
    });
  });
}
void solve_vjp(Grad& g) {
  const bool adjoint = g.flag(2);
  Var db = g.builder.call(Prim::solve, {g.var(0), g.cotangent(), !adjoint, g.flag(3)});
  g.add(1, db);
  if (!g.wants(0)) return;
  g.add(0, -(adjoint ? matmul(g.result(), swap_last_two(db)) : matmul(db, swap_last_two(g.result()))));
}

Status* slogdet(const KernelArgs& k) {
  return with_lapack(k, [&](auto zero, auto& f) -> Status* {
    using T = decltype(zero);
    const Matrices<T> in(k.in[0]), signs(k.out[0], 0), logs(k.out[1], 0);
    return each_matrix(k, in, [&](int64_t i) -> Status* {
      const Factored<T> a(in, i, f);
      T sign = a.sign(), log = 0;
      for (int d = 0; d < a.n; d++) {
        const T x = a.diagonal(d);
        sign = x > 0 ? sign : x < 0 ? -sign : x * 0, log += std::log(std::abs(x));
      }
      *signs.at(i) = sign, *logs.at(i) = log;
      return nullptr;
    });
  });
}
Status* det(const KernelArgs& k) {
  return with_lapack(k, [&](auto zero, auto& f) -> Status* {
    using T = decltype(zero);
    const Matrices<T> in(k.in[0]), out(k.out[0], 0);
    return each_matrix(k, in, [&](int64_t i) -> Status* {
      *out.at(i) = Factored<T>(in, i, f).determinant();
      return nullptr;
    });
  });
}

// ---- cofactors: the gradient of a determinant, which singular matrices have, too ----

// From A = U S V^T: the cofactors have, in place of each singular value, the product of the others.
template <class T>
bool cofactors_of_singular(int n, std::vector<T> a, const LapackFunctions<T>& f, std::vector<T>& out) {
  const auto size = static_cast<size_t>(n);
  const int n_work = n * (6 + 4 * n) + 72 * n + 1;
  std::vector<T> u(size * size), s(size), vt(size * size), work(static_cast<size_t>(n_work)), others(size, T(1));
  std::vector<int> places(8 * size);
  int info = 0;
  f.gesdd("A", &n, &n, a.data(), &n, s.data(), u.data(), &n, vt.data(), &n, work.data(), &n_work, places.data(), &info,
          1);
  if (info) return false;
  for (size_t i = 0; i < size; i++)
    for (size_t j = 0; j < size; j++)
      if (i != j) others[i] *= s[j];
  const T turn = Factored<T>(n, u, f).determinant() * Factored<T>(n, vt, f).determinant();
  for (size_t c = 0; c < size; c++)
    for (size_t r = 0; r < size; r++) {
      T sum = 0;
      for (size_t i = 0; i < size; i++) sum += u[i * size + r] * others[i] * vt[c * size + i];
      out[c * size + r] = turn * sum;
    }
  return true;
}
Status* cofactors(const KernelArgs& k) {
  return with_lapack(k, [&](auto zero, auto& f) -> Status* {
    using T = decltype(zero);
    const Matrices<T> in(k.in[0]), out(k.out[0]);
    return each_matrix(k, in, [&](int64_t i) -> Status* {
      const Factored<T> a(in, i, f);
      if (!a.n) return nullptr;
      const auto n = static_cast<size_t>(a.n);
      std::vector<T> made(n * n);
      const std::vector<T> given = in.load(i);
      const bool finite = std::all_of(given.begin(), given.end(), [](T x) { return std::isfinite(x); });
      if (a.info && finite) {
        if (!cofactors_of_singular(a.n, given, f, made))
          return refused(k, "the singular values do not converge", i, in.batch);
      } else {
        // The determinant times the inverse, transposed.
        const T det = a.determinant();
        for (size_t d = 0; d < n; d++) made[d * n + d] = det;
        int info = 0;
        f.getrs("T", &a.n, &a.n, a.lu.data(), &a.n, a.pivots.data(), made.data(), &a.n, &info, 1);
      }
      out.store(i, made);
      return nullptr;
    });
  });
}
// d C = tr(A^-1 dA) C - C dA^T A^-T, of matrices that are not singular.
void cofactors_vjp(Grad& g) {
  Var dy = g.cotangent(), c = g.result(), inverse = inverse_transposed(g);
  Var along = g.builder.call("sum", {dy * c, Shape{-2, -1}, true});
  g.add(0, along * inverse - matmul(matmul(inverse, swap_last_two(dy)), c));
}

constexpr OpRow kRows[] = {
    matrix_prim(
        "prims.triangular_solve(tensor input, tensor other, bool upper, bool transposed, bool unitriangular) -> tensor",
        "X of T X = other, where T is a triangle of the input or its transpose.", solution_meta, triangular_solve,
        triangular_solve_vjp),
    matrix_prim("prims.solve(tensor input, tensor other, bool adjoint=False, bool check_errors=True) -> tensor",
                "X of A X = other, where A is the input or its transpose; what divides by zero if it is singular and "
                "that is no error.",
                solution_meta, solve, solve_vjp),
    matrix_prim("prims.slogdet(tensor input) -> (tensor, tensor)",
                "The sign of the determinant, and the logarithm of its absolute value.", each_matrix_meta, slogdet,
                [](Grad& g) {
                  // For a singular matrix the gradient has infinities and NaN, as the logarithm is infinite.
                  if (!g.reached(1)) return;
                  Var scaled = append_matrix_dims(g.cotangent(1)) * identity_like(g.var(0));
                  g.add(0, g.builder.call(Prim::solve, {g.var(0), scaled, true, false}));
                }),
    matrix_prim("prims.det(tensor input) -> tensor", "The determinant.", each_matrix_meta, det,
                [](Grad& g) {
                  g.add(0, append_matrix_dims(g.cotangent()) * g.builder.call(Prim::cofactors, {g.var(0)}));
                }),
    matrix_prim(
        "prims.cofactors(tensor input) -> tensor", "The determinant's derivative in each element.",
        [](const Call& c, Types& out) { require_square(c), out.push(c.type(0)); }, cofactors, cofactors_vjp),
};

}  // namespace

extern const OpRows solve_prims_ops = kRows;

}  // namespace thunder
