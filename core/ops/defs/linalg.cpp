// torch.linalg's factors, systems and determinants, over the prims that LAPACK computes.
#include <algorithm>

#include "ops/grad.h"
#include "ops/tables.h"

namespace thunder {
namespace {

Var product(Var a, Var b) { return a.builder->call("matmul", {a, b}); }
Var unsqueezed(Var x) { return x.builder->call("unsqueeze", {x, -1}); }
Var squeezed(Var x) { return x.builder->call("squeeze", {x, Shape{-1}}); }
void require_matrix(const Call& c, size_t i = 0) {
  c.require(c.type(i).rank() >= 2, c.op.schema.params[i].name, " must have at least 2 dims, got ", name(c.type(i)));
}
// The last two dims of `like`, those in front of both broadcast.
Var batch_of(Var x, Var other) {
  const auto front = [](const Shape& s) { return Shape(std::span<const Dim>(s.data(), s.size() - 2)); };
  Shape shape = broadcast(front(x.shape()), front(other.shape()));
  shape.push_back(x.size(-2)), shape.push_back(x.size(-1));
  return expand_to(x, shape);
}
Var triangular(Var a, Var b, bool upper, bool transposed, bool unit) {
  return a.builder->call("prims.triangular_solve", {batch_of(a, b), batch_of(b, a), upper, transposed, unit});
}
// X of X A = B, from a solution of A^T X^T = B^T.
template <class F>
Var from_right(Var a, Var b, F&& solve) {
  return swap_last_two(solve(swap_last_two(a), swap_last_two(b)));
}

// ---- cholesky ----

Var factor_of(const Call& c, size_t i, bool upper) {
  require_matrix(c, i);
  return c.builder.call("prims.cholesky", {upper ? swap_last_two(c.var(i)) : c.var(i)});
}
Results cholesky(Call& c) {
  Var l = factor_of(c, 0, c.flag(1));
  return c.flag(1) ? swap_last_two(l) : l;
}
// input: right sides, L, upper
Results cholesky_solve(Call& c) {
  require_matrix(c, 0), require_matrix(c, 1);
  const bool upper = c.flag(2);
  return triangular(c.var(1), triangular(c.var(1), c.var(0), upper, upper, false), upper, !upper, false);
}
Results cholesky_inverse(Call& c) {
  require_matrix(c);
  Var eye = expand_to(
      c.builder.call("eye", {hint(c.type(0).shape[c.type(0).rank() - 1]), nullptr, c.type(0).dtype, c.type(0).device}),
      c.type(0).shape);
  return c.builder.call("cholesky_solve", {eye, c.var(0), c.flag(1)});
}

// ---- qr, svd, eigh ----

Results linalg_qr(Call& c) {
  require_matrix(c);
  const std::string_view mode = c.text(1);
  c.require(mode == "reduced" || mode == "complete", "mode must be 'reduced' or 'complete', got '", mode, "'");
  return c.builder.results("prims.qr", {c.var(0), mode == "complete"});
}
Results qr(Call& c) {
  require_matrix(c);
  return c.builder.results("prims.qr", {c.var(0), !c.flag(1)});
}
Results linalg_svd(Call& c) {
  require_matrix(c);
  return c.builder.results("prims.svd", {c.var(0), c.flag(1)});
}
Results svd(Call& c) {
  require_matrix(c);
  Results r = c.builder.results("prims.svd", {c.var(0), !c.flag(1)});
  r[2] = swap_last_two(c.builder.var(r[2])).id;
  return r;
}
Results svdvals(Call& c) {
  require_matrix(c);
  return Results{c.builder.results("prims.svd", {c.var(0), false})[1]};
}
bool upper_half(const Call& c) {
  require_matrix(c);
  c.require(c.text(1) == "L" || c.text(1) == "U", "UPLO must be 'L' or 'U', got '", c.text(1), "'");
  return c.text(1) == "U";
}
Results eigh(Call& c) { return c.builder.results("prims.eigh", {c.var(0), upper_half(c)}); }
Results eigvalsh(Call& c) { return Results{c.builder.results("prims.eigh", {c.var(0), upper_half(c)})[0]}; }

// ---- systems ----

// Whether B holds vectors: PyTorch's rule.
bool is_vector(const TensorType& a, const TensorType& b) {
  if (b.rank() == 1) return true;
  return b.rank() + 1 == a.rank() && std::equal(b.shape.begin(), b.shape.end(), a.shape.begin());
}
Results solve(Call& c) {
  require_matrix(c);
  Var a = c.var(0), b = c.var(1);
  const bool vector = is_vector(a.type(), b.type()), left = c.flag(2);
  c.require(vector || b.rank() >= 2, "B must be matrices, or a vector for each A; ", c.types());
  if (vector) b = unsqueezed(b);
  c.require(left || !vector, "with left=False B must be matrices; ", c.types());
  c.require(b.size(left ? -2 : -1) == a.size(-1), "A and B do not fit; ", c.types());
  const auto solved = [&](Var x, Var y) { return c.builder.call("prims.solve", {batch_of(x, y), batch_of(y, x)}); };
  Var x = left ? solved(a, b) : from_right(a, b, solved);
  return vector ? squeezed(x) : x;
}
Results inv(Call& c) {
  require_matrix(c);
  const TensorType& t = c.type(0);
  c.require(t.shape[t.rank() - 1] == t.shape[t.rank() - 2], "A must be square matrices, got ", name(t));
  Var eye = c.builder.call("eye", {hint(t.shape[t.rank() - 1]), nullptr, t.dtype, t.device});
  return c.builder.call("prims.solve", {c.var(0), expand_to(eye, t.shape)});
}
// A, B, upper, left, unitriangular
Results solve_triangular(Call& c) {
  require_matrix(c, 0), require_matrix(c, 1);
  const bool upper = c.flag(2), unit = c.flag(4);
  if (c.flag(3)) return triangular(c.var(0), c.var(1), upper, false, unit);
  return swap_last_two(triangular(c.var(0), swap_last_two(c.var(1)), upper, true, unit));
}
// b, A, upper, transpose, unitriangular
Results triangular_solve(Call& c) {
  require_matrix(c, 0), require_matrix(c, 1);
  Var a = c.builder.call("prims.clone", {c.var(1)});
  return Results{triangular(c.var(1), c.var(0), c.flag(2), c.flag(3), c.flag(4)).id, a.id};
}
// For matrices of full rank: by the factors of A, or for the shortest solution those of its transpose.
Results lstsq(Call& c) {
  require_matrix(c);
  Var a = c.var(0), b = c.var(1);
  const bool vector = is_vector(a.type(), b.type());
  if (vector) b = unsqueezed(b);
  c.require(b.size(-2) == a.size(-2), "A and B must have one number of rows; ", c.types());
  const bool tall = hint(a.size(-2)) >= hint(a.size(-1));
  const Results f = c.builder.results("prims.qr", {tall ? a : swap_last_two(a), false});
  Var q = c.builder.var(f[0]), r = c.builder.var(f[1]);
  Var x = tall ? triangular(r, product(swap_last_two(q), b), true, false, false)
               : product(q, triangular(r, b, true, true, false));
  Var rest = product(a, x) - b, residuals = c.builder.call("sum", {rest * rest, Shape{-2}});
  if (hint(a.size(-2)) <= hint(a.size(-1))) residuals = full_like(residuals, 0);  // nothing is left
  return Results{(vector ? squeezed(x) : x).id, residuals.id};
}

// ---- determinants ----

Results det(Call& c) { return c.builder.call("prims.det", {c.var(0)}); }
Results slogdet(Call& c) { return c.builder.results("prims.slogdet", {c.var(0)}); }
// NaN of a negative determinant.
Results logdet(Call& c) {
  const Results r = c.builder.results("prims.slogdet", {c.var(0)});
  Var sign = c.builder.var(r[0]), log = c.builder.var(r[1]);
  return where(lt(sign, 0.0), full_like(log, std::numeric_limits<double>::quiet_NaN()), log);
}

// ---- pinv ----

// A, atol, rtol, hermitian: what the largest singular value times rtol, or atol, exceeds counts as 0.
Results pinv(Call& c) {
  require_matrix(c);
  Var a = c.var(0);
  const Results f = c.builder.results("prims.svd", {a, false});
  Var u = c.builder.var(f[0]), s = c.builder.var(f[1]), vh = c.builder.var(f[2]);
  const int64_t most = std::max(hint(a.size(-2)), hint(a.size(-1)));
  const double epsilon =
      a.dtype() == DType::f64 ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
  const double rtol = c.has(2) ? c.real(2) : c.has(1) && c.real(1) > 0 ? 0 : epsilon * static_cast<double>(most);
  if (hint(s.size(-1)) == 0) return swap_last_two(a);
  Var largest = c.builder.call("amax", {s, Shape{-1}, true});
  Var cut = maximum(largest * rtol, c.has(1) ? c.real(1) : 0.0);
  Var kept = gt(s, cut);
  Var inverse = where(kept, 1.0 / where(kept, s, full_like(s, 1)), full_like(s, 0));
  return product(swap_last_two(vh) * c.builder.call("unsqueeze", {inverse, -2}), swap_last_two(u));
}
Results pinverse(Call& c) { return c.builder.call("linalg_pinv", {c.var(0), nullptr, c.real(1)}); }
// Golub's and Pereyra's derivative, which needs no gaps between singular values.
void pinv_vjp(Grad& g) {
  Var a = g.var(0), p = g.result(), pt = swap_last_two(p), dt = swap_last_two(g.cotangent());
  if (hint(a.size(-2)) <= hint(a.size(-1))) {
    Var k = product(dt, p), kpt = product(k, pt);
    g.add(0, kpt - swap_last_two(product(p, k)) - product(product(a, p), kpt) +
                 product(product(pt, p), dt - product(k, a)));
  } else {
    Var k = product(p, dt), ptk = product(pt, k);
    g.add(0, ptk - swap_last_two(product(k, p)) + product(product(dt - product(a, k), p), pt) -
                 product(product(ptk, p), a));
  }
}

// ---- exponentials ----

Results matrix_exp(Call& c) { return c.builder.call("prims.matrix_exp", {c.var(0)}); }

// ---- samples ----

const TensorSpec kSquare{{3, 3}}, kBatch{{2, 3, 3}, DType::f64}, kTall{{4, 2}}, kWide{{2, 4}, DType::f64},
    kPositive{{2, 1, 1}, DType::f32, 0.5, 2};
const TensorSpec kTriangle{{2, 3, 3}, DType::f64, 0.5, 2};

void positive(Samples& s) {
  s.add({kPositive}), s.add({kPositive, true});
  s.refuse({TensorSpec{{2, 3}}}, "square"), s.refuse({TensorSpec{{3}}}, "2 dims"),
      s.refuse({TensorSpec{{2, 2}, DType::i64, -9, 9}}, "float32 or float64");
}
void positive_solves(Samples& s) {
  s.add({TensorSpec{{2, 3, 2}, DType::f64}, kTriangle}), s.add({TensorSpec{{3, 1}, DType::f64}, kTriangle, true});
}
void positive_inverses(Samples& s) { s.add({kTriangle}), s.add({TensorSpec{{2, 2}, DType::f32, 1, 2}, true}); }
void square(Samples& s) {
  s.add({kSquare}), s.add({kBatch}), s.add({TensorSpec{{0, 0}}});
  s.refuse({TensorSpec{{2, 3}}}, "square");
}
void matrices(Samples& s) {
  s.add({kSquare}), s.add({kTall}), s.add({kWide}), s.add({TensorSpec{{2, 3, 2}, DType::f64}});
  s.refuse({TensorSpec{{3}}}, "2 dims");
}
void qr_modes(Samples& s) {
  s.add({kTall}), s.add({kWide}), s.add({kBatch, "complete"}), s.add_without_gradient({kTall, "complete"});
  s.refuse({kSquare, "r"}, "'reduced' or 'complete'");
}
void some(Samples& s) { s.add({kTall}), s.add({kWide}), s.add({kBatch}); }
void svds(Samples& s) {
  s.add({kTall, false}), s.add({kWide, false}), s.add({kSquare}), s.add_without_gradient({kTall});
}
// One half is read, so that differences of single elements are not the gradient of a symmetric matrix.
void symmetric(Samples& s) {
  s.add_without_gradient({kSquare}), s.add_without_gradient({kBatch, "U"});
  s.refuse({kSquare, "X"}, "'L' or 'U'"), s.refuse({TensorSpec{{2, 3}}}, "square");
}
void systems(Samples& s) {
  s.add({kSquare, TensorSpec{{3}}}), s.add({kBatch, TensorSpec{{3, 2}, DType::f64}}),
      s.add({kBatch, TensorSpec{{2, 3}, DType::f64}});
  s.add({kSquare, TensorSpec{{2, 3}}, false});
  s.refuse({kSquare, TensorSpec{{2, 2}}}, "do not fit");
}
void triangles(Samples& s) {
  s.add({kTriangle, TensorSpec{{3, 2}, DType::f64}, true}),
      s.add({kTriangle, TensorSpec{{2, 3, 2}, DType::f64}, false});
  s.add({kTriangle, TensorSpec{{2, 2, 3}, DType::f64}, true, false, true});
}
void old_triangles(Samples& s) {
  s.add({TensorSpec{{3, 2}, DType::f64}, kTriangle}),
      s.add({TensorSpec{{3, 2}, DType::f64}, kTriangle, false, true, true});
}
void least_squares(Samples& s) {
  s.add({kTall, TensorSpec{{4, 3}}}), s.add({kWide, TensorSpec{{2}, DType::f64}}), s.add({kSquare, TensorSpec{{3, 1}}});
  s.refuse({kTall, TensorSpec{{2, 3}}}, "rows");
}
void logarithms(Samples& s) { s.add({kPositive}), s.add({TensorSpec{{1, 1}, DType::f64, 0.5, 2}}); }
void powers(Samples& s) {
  for (int n : {0, 1, 2, 3, 5, -2}) s.add({kSquare, n});
  s.refuse({TensorSpec{{2, 3}}, 2}, "square");
}

consteval OpRow row(SchemaText schema, std::string_view doc, DecomposeFn decompose, SamplesFn samples,
                    VjpFn vjp = nullptr) {
  return checked({.schema = schema, .doc = doc, .decompose = decompose, .vjp = vjp, .samples = samples});
}
// Another name with the same arguments.
Results forwarded(Call& c) { return c.builder.invoke(c.builder.registry().get(c.op.alias_of), c.args); }
consteval OpRow same(SchemaText schema, std::string_view target, SamplesFn samples) {
  return checked(
      {.schema = schema, .doc = "Another name.", .decompose = forwarded, .samples = samples, .alias_of = target});
}

constexpr OpRow kRows[] = {
    row("linalg_cholesky(tensor input, bool upper=False) -> tensor",
        "The triangle L of input = L L^T, or its transpose; one half of the input is read.", cholesky, positive),
    same("cholesky(tensor input, bool upper=False) -> tensor", "linalg_cholesky", positive),
    row("cholesky_solve(tensor input, tensor L, bool upper=False) -> tensor", "X of L L^T X = input.", cholesky_solve,
        positive_solves),
    row("cholesky_inverse(tensor L, bool upper=False) -> tensor", "The inverse of L L^T.", cholesky_inverse,
        positive_inverses),
    row("linalg_qr(tensor A, str mode='reduced') -> (tensor Q, tensor R)",
        "Orthonormal columns Q and an upper triangle R of A = Q R.", linalg_qr, qr_modes),
    row("qr(tensor input, bool some=True) -> (tensor Q, tensor R)", "linalg_qr: reduced if some, else complete.", qr,
        some),
    row("linalg_svd(tensor A, bool full_matrices=True) -> (tensor U, tensor S, tensor Vh)",
        "U, S and Vh of A = U diag(S) Vh, S descending.", linalg_svd, svds),
    row("svd(tensor input, bool some=True) -> (tensor U, tensor S, tensor V)",
        "U, S and V, not its transpose, of input = U diag(S) V^T.", svd, some),
    row("linalg_svdvals(tensor A) -> tensor", "The singular values, descending.", svdvals, matrices),
    row("linalg_eigh(tensor A, str UPLO='L') -> (tensor eigenvalues, tensor eigenvectors)",
        "Eigenvalues, ascending, and eigenvectors of symmetric matrices, of which one half is read.", eigh, symmetric),
    row("linalg_eigvalsh(tensor A, str UPLO='L') -> tensor", "The eigenvalues of symmetric matrices, ascending.",
        eigvalsh, symmetric),
    row("linalg_solve(tensor A, tensor B, bool left=True) -> tensor",
        "X of A X = B, or of X A = B; B may hold vectors.", solve, systems),
    row("linalg_inv(tensor A) -> tensor", "The inverse of square matrices.", inv, square),
    same("inverse(tensor A) -> tensor", "linalg_inv", square),
    row("linalg_solve_triangular(tensor A, tensor B, bool upper, bool left=True, bool unitriangular=False) -> tensor",
        "X of A X = B, or of X A = B, where A is a triangle.", solve_triangular, triangles),
    row("triangular_solve(tensor b, tensor A, bool upper=True, bool transpose=False, bool unitriangular=False) -> "
        "(tensor solution, tensor cloned_coefficient)",
        "X of A X = b, and a copy of A.", triangular_solve, old_triangles),
    row("linalg_lstsq(tensor A, tensor B) -> (tensor solution, tensor residuals)",
        "The X that makes A X - B least, of all such the shortest, for A of full rank; and the squares of what is "
        "left.",
        lstsq, least_squares),
    row("linalg_det(tensor A) -> tensor", "The determinant; its gradient needs a matrix that is not singular.", det,
        square),
    same("det(tensor A) -> tensor", "linalg_det", square),
    row("linalg_slogdet(tensor A) -> (tensor sign, tensor logabsdet)",
        "The sign of the determinant, and the logarithm of its absolute value.", slogdet, square),
    same("slogdet(tensor A) -> (tensor sign, tensor logabsdet)", "linalg_slogdet", square),
    row("logdet(tensor input) -> tensor", "The logarithm of the determinant; NaN if that is negative.", logdet,
        logarithms),
    row("linalg_pinv(tensor A, float? atol=None, float? rtol=None) -> tensor",
        "The pseudoinverse; singular values up to the tolerances count as 0.", pinv, matrices, pinv_vjp),
    row("pinverse(tensor input, float rcond=1e-15) -> tensor", "linalg_pinv, by its relative tolerance alone.",
        pinverse, matrices),
    row("linalg_matrix_exp(tensor A) -> tensor", "The sum of A^k / k!.", matrix_exp, square),
    same("matrix_exp(tensor A) -> tensor", "linalg_matrix_exp", square),
    same("linalg_matrix_power(tensor A, int n) -> tensor", "matrix_power", powers),
};

}  // namespace

void register_linalg(Registry& r) {
  for (auto& row : kRows) r.add(row);
}

}  // namespace thunder
