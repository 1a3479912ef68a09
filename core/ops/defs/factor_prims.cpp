// Factors of matrices by LAPACK: Cholesky's, QR, singular values, eigenvalues of symmetric ones; and their gradients.
#include <algorithm>

#include "ops/batch.h"
#include "ops/grad.h"
#include "ops/matrices.h"
#include "ops/tables.h"

namespace thunder {
namespace {

TensorType with_matrix_size(TensorType t, Dim rows, Dim columns) {
  t.shape[t.rank() - 2] = rows, t.shape[t.rank() - 1] = columns;
  return t;
}
TensorType with_vector_size(TensorType t, Dim size) {
  t.shape.erase(t.rank() - 1);
  t.shape[t.rank() - 1] = size;
  return t;
}
Dim smaller_dim(Dim a, Dim b) {
  return hint(a) < hint(b) ? a : b;
}

Var lower_triangle(Var x, int64_t diagonal = 0) {
  return x.builder->call("tril", {x, diagonal});
}

// Diagonal matrices of these values.
Var diagonal_matrix(Var x) {
  return x.builder->call("diag_embed", {x});
}
Var as_column(Var x) {
  return x.builder->call("unsqueeze", {x, -1});
}
Var as_row(Var x) {
  return x.builder->call("unsqueeze", {x, -2});
}
Var solve_triangle(Var triangle, Var b, bool upper, bool transposed) {
  return triangle.builder->call(Prim::triangular_solve, {triangle, b, upper, transposed, false});
}
// 1 / (a_j - a_i) off the diagonal, 0 on it.
Var inverse_gaps(Var values) {
  Var gaps = as_row(values) - as_column(values);
  Var eye = diagonal_matrix(full_like(values, 1));
  return (1.0 - eye) / (gaps + eye);
}

// ---- cholesky ----

Status* cholesky(const KernelArgs& k) {
  return with_lapack(k, [&](auto zero, auto& f) -> Status* {
    using T = decltype(zero);
    const Matrices<T> in(k.in[0]), out(k.out[0]);
    const int n = static_cast<int>(in.rows);
    if (!n) return nullptr;
    return each_matrix(k, in, [&](int64_t i) -> Status* {
      std::vector<T> a = in.load(i);
      int info = 0;
      f.potrf("L", &n, a.data(), &n, &info, 1);
      if (info)
        return refused(k, cat("the matrix is not positive-definite: its leading minor of order ", info, " is not"), i,
                       in.batch);
      for (int c = 1; c < n; c++) std::fill_n(a.begin() + static_cast<ptrdiff_t>(c) * n, c, T(0));
      out.store(i, a);
      return nullptr;
    });
  });
}
// The gradient of a symmetric matrix, half of it on each side.
void cholesky_vjp(Grad& g) {
  Var l = g.result();
  Var inner = lower_triangle(matmul(swap_last_two(l), g.cotangent()));
  inner = inner - diagonal_matrix(g.builder.call("diagonal", {inner, 0, -2, -1})) * 0.5;
  Var left = solve_triangle(l, inner, false, true);
  Var m = swap_last_two(solve_triangle(l, swap_last_two(left), false, true));
  g.add(0, (m + swap_last_two(m)) * 0.5);
}

// ---- qr ----

void qr_meta(const Call& c, Types& out) {
  require_matrices(c);
  const TensorType& t = c.type(0);
  const Dim m = t.shape[t.rank() - 2], n = t.shape[t.rank() - 1], k = c.flag(1) ? m : smaller_dim(m, n);
  out.push(with_matrix_size(t, m, k)), out.push(with_matrix_size(t, k, n));
}
Status* qr(const KernelArgs& k) {
  return with_lapack(k, [&](auto zero, auto& f) -> Status* {
    using T = decltype(zero);
    const Matrices<T> in(k.in[0]), q(k.out[0]), r(k.out[1]);
    const int m = static_cast<int>(in.rows), n = static_cast<int>(in.columns), least = std::min(m, n),
              columns = static_cast<int>(q.columns);
    const int size = 64 * std::max({m, n, 1}), leading = std::max(m, 1);
    return each_matrix(k, in, [&](int64_t i) -> Status* {
      std::vector<T> tau(static_cast<size_t>(std::max(least, 1))), work(static_cast<size_t>(size));
      std::vector<T> a = in.load(i);
      int info = 0;
      f.geqrf(&m, &n, a.data(), &leading, tau.data(), work.data(), &size, &info);
      std::vector<T> triangle(static_cast<size_t>(r.rows * r.columns));
      for (int64_t c = 0; c < n; c++)
        std::copy_n(a.begin() + c * m, std::min<int64_t>(c + 1, std::min<int64_t>(m, r.rows)),
                    triangle.begin() + c * r.rows);
      r.store(i, triangle);
      a.resize(static_cast<size_t>(m) * static_cast<size_t>(std::max(columns, 1)));
      if (m) f.orgqr(&m, &columns, &least, a.data(), &leading, tau.data(), work.data(), &size, &info);
      q.store(i, a);
      return nullptr;
    });
  });
}
// The gradient for the first columns, which form a square or tall matrix; the others are Q times the rest of R.
Var tall_qr_gradient(Var q, Var r, Var dq, Var dr) {
  Var m = matmul(r, swap_last_two(dr)) - matmul(swap_last_two(dq), q);
  Var both = lower_triangle(m) + swap_last_two(lower_triangle(m, -1));
  Var y = dq + matmul(q, both);
  return swap_last_two(solve_triangle(r, swap_last_two(y), true, false));
}
void qr_vjp(Grad& g) {
  Var q = g.result(0), r = g.result(1), dq = g.cotangent(0), dr = g.cotangent(1);
  const int64_t m = hint(q.size(-2)), n = hint(r.size(-1));
  g.require(!g.flag(1) || m <= n, "the complete Q of matrices that are taller than wide has no gradient; ", g.types());
  if (m >= n) return g.add(0, tall_qr_gradient(q, r, dq, dr));
  const auto part = [&](Var x, int64_t from, int64_t to) { return g.builder.call("narrow", {x, -1, from, to - from}); };
  Var rest = part(dr, m, n), x = part(g.var(0), m, n);
  Var left = tall_qr_gradient(q, part(r, 0, m), dq + matmul(x, swap_last_two(rest)), part(dr, 0, m));
  ValueList both{left.id, matmul(q, rest).id};
  g.add(0, g.builder.call("cat", {both, -1}));
}

// ---- svd ----

void svd_meta(const Call& c, Types& out) {
  require_matrices(c);
  const TensorType& t = c.type(0);
  const Dim m = t.shape[t.rank() - 2], n = t.shape[t.rank() - 1], k = smaller_dim(m, n);
  out.push(with_matrix_size(t, m, c.flag(1) ? m : k)), out.push(with_vector_size(t, k)),
      out.push(with_matrix_size(t, c.flag(1) ? n : k, n));
}
template <class T>
void store_identity(const Matrices<T>& out, int64_t i) {
  std::vector<T> eye(static_cast<size_t>(out.rows * out.columns));
  for (int64_t d = 0; d < std::min(out.rows, out.columns); d++) eye[static_cast<size_t>(d * out.rows + d)] = 1;
  out.store(i, eye);
}
Status* svd(const KernelArgs& k) {
  return with_lapack(k, [&](auto zero, auto& f) -> Status* {
    using T = decltype(zero);
    const Matrices<T> in(k.in[0]), u(k.out[0]), s(k.out[1], 1), vh(k.out[2]);
    const int m = static_cast<int>(in.rows), n = static_cast<int>(in.columns), least = std::min(m, n),
              most = std::max(m, n);
    const int ldu = std::max(m, 1), ldv = static_cast<int>(std::max<int64_t>(vh.rows, 1));
    const int size = least * (6 + 4 * least) + most + 7 * least + 64 * most + 1;
    return each_matrix(k, in, [&](int64_t i) -> Status* {
      std::vector<T> values(static_cast<size_t>(std::max(least, 1))), work(static_cast<size_t>(size));
      std::vector<int> places(static_cast<size_t>(8 * std::max(least, 1)));
      if (!least) {
        store_identity(u, i), store_identity(vh, i);
        return nullptr;
      }
      std::vector<T> a = in.load(i), left(static_cast<size_t>(u.rows * u.columns)),
                     right(static_cast<size_t>(vh.rows * vh.columns));
      if (!std::all_of(a.begin(), a.end(), [](T x) { return std::isfinite(x); }))
        return refused(k, "the input has NaN or infinity", i, in.batch);
      int info = 0;
      f.gesdd(k.args[1].i ? "A" : "S", &m, &n, a.data(), &m, values.data(), left.data(), &ldu, right.data(), &ldv,
              work.data(), &size, places.data(), &info, 1);
      if (info) return refused(k, "the singular values do not converge", i, in.batch);
      u.store(i, left), s.store(i, values), vh.store(i, right);
      return nullptr;
    });
  });
}
void svd_vjp(Grad& g) {
  // Of the full matrices as many columns of U and rows of Vh as there are singular values: the others are any that
  // complete them, so that nothing that is asked of them has a gradient.
  Var s = g.result(1);
  const auto first = [&](Var x, int64_t dim) {
    return hint(x.size(dim)) == hint(s.size(-1)) ? x : g.builder.call("slice", {x, dim, 0, hint(s.size(-1)), 1});
  };
  Var u = first(g.result(0), -1), vh = first(g.result(2), -2), du, dvh;
  if (g.reached(0)) du = first(g.cotangent(0), -1);
  if (g.reached(2)) dvh = first(g.cotangent(2), -2);
  Var inner = diagonal_matrix(g.cotangent(1)), out;
  const auto gaps = [&] { return inverse_gaps(s * s); };
  if (du) {
    Var skew = matmul(swap_last_two(u), du);
    inner = inner + gaps() * (skew - swap_last_two(skew)) * as_row(s);
  }
  if (dvh) {
    Var skew = matmul(vh, swap_last_two(dvh));
    inner = inner + as_column(s) * (gaps() * (skew - swap_last_two(skew)));
  }
  out = matmul(matmul(u, inner), vh);
  if (du && hint(u.size(-2)) > hint(u.size(-1))) {
    Var scaled = du / as_row(s);
    out = out + matmul(scaled - matmul(u, matmul(swap_last_two(u), scaled)), vh);
  }
  if (dvh && hint(vh.size(-1)) > hint(vh.size(-2))) {
    Var scaled = dvh / as_column(s);
    out = out + matmul(u, scaled - matmul(matmul(scaled, swap_last_two(vh)), vh));
  }
  g.add(0, out);
}

// ---- eigh ----

void eigh_meta(const Call& c, Types& out) {
  require_square(c);
  const TensorType& t = c.type(0);
  out.push(with_vector_size(t, t.shape[t.rank() - 1])), out.push(t);
}
Status* eigh(const KernelArgs& k) {
  return with_lapack(k, [&](auto zero, auto& f) -> Status* {
    using T = decltype(zero);
    const Matrices<T> in(k.in[0]), w(k.out[0], 1), v(k.out[1]);
    const int n = static_cast<int>(in.rows), size = 1 + 6 * n + 2 * n * n, n_places = 3 + 5 * n;
    if (!n) return nullptr;
    return each_matrix(k, in, [&](int64_t i) -> Status* {
      std::vector<T> values(static_cast<size_t>(n)), work(static_cast<size_t>(size));
      std::vector<int> places(static_cast<size_t>(n_places));
      std::vector<T> a = in.load(i);
      int info = 0;
      f.syevd("V", k.args[1].i ? "U" : "L", &n, a.data(), &n, values.data(), work.data(), &size, places.data(),
              &n_places, &info, 1, 1);
      if (info) return refused(k, "the eigenvalues do not converge", i, in.batch);
      w.store(i, values), v.store(i, a);
      return nullptr;
    });
  });
}
void eigh_vjp(Grad& g) {
  Var w = g.result(0), v = g.result(1);
  Var inner = diagonal_matrix(g.cotangent(0));
  // For symmetric matrices the eigenvectors' gradient enters by its skew part only.
  if (g.reached(1)) {
    Var turn = matmul(swap_last_two(v), g.cotangent(1));
    inner = inner + inverse_gaps(w) * (turn - swap_last_two(turn)) * 0.5;
  }
  g.add(0, matmul(matmul(v, inner), swap_last_two(v)));
}

constexpr OpRow kRows[] = {
    matrix_prim(
        "prims.cholesky(tensor input) -> tensor",
        "The lower triangle L of input = L L^T; the upper half of the input is not read.",
        [](const Call& c, Types& out) { require_square(c), out.push(c.type(0)); }, cholesky, cholesky_vjp),
    matrix_prim("prims.qr(tensor input, bool complete) -> (tensor, tensor)",
                "Orthonormal columns Q and an upper triangle R of input = Q R.", qr_meta, qr, qr_vjp),
    matrix_prim("prims.svd(tensor input, bool full_matrices) -> (tensor, tensor, tensor)",
                "Orthonormal U and Vh with the singular values S, descending, of input = U diag(S) Vh.", svd_meta, svd,
                svd_vjp),
    matrix_prim(
        "prims.eigh(tensor input, bool upper) -> (tensor, tensor)",
        "Eigenvalues, ascending, and eigenvectors, as columns, of symmetric matrices of which one half is read.",
        eigh_meta, eigh, eigh_vjp),
};

}  // namespace

extern const OpRows factor_prims_ops = kRows;

}  // namespace thunder
