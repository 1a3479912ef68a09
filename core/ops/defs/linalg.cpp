// torch.linalg's systems, determinants, inverses and exponentials, over the prims that LAPACK computes.
#include "ops/linalg.h"

#include <algorithm>

#include "ops/grad.h"

namespace thunder {
namespace {

Var append_dim(Var x) {
  return x.builder->call("unsqueeze", {x, -1});
}
Var drop_last_dim(Var x) {
  return x.builder->call("squeeze", {x, Shape{-1}});
}
// X of X A = B, from a solution of A^T X^T = B^T.
template <class F>
Var from_right(Var a, Var b, F&& solve) {
  return swap_last_two(solve(swap_last_two(a), swap_last_two(b)));
}

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
  if (vector) b = append_dim(b);
  c.require(left || !vector, "with left=False B must be matrices; ", c.types());
  c.require(b.size(left ? -2 : -1) == a.size(-1), "A and B do not fit; ", c.types());
  const auto solved = [&](Var x, Var y) { return c.builder.call(Prim::solve, {batch_of(x, y), batch_of(y, x)}); };
  Var x = left ? solved(a, b) : from_right(a, b, solved);
  return vector ? drop_last_dim(x) : x;
}
Results inv(Call& c) {
  require_matrix(c);
  const TensorType& t = c.type(0);
  c.require(t.shape[t.rank() - 1] == t.shape[t.rank() - 2], "A must be square matrices, got ", name(t));
  Var eye = c.builder.call("eye", {hint(t.shape[t.rank() - 1]), nullptr, t.dtype, t.device});
  return c.builder.call(Prim::solve, {c.var(0), expand_to(eye, t.shape)});
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
  Var a = c.builder.call(Prim::clone, {c.var(1)});
  return Results{triangular(c.var(1), c.var(0), c.flag(2), c.flag(3), c.flag(4)).id, a.id};
}
// For matrices of full rank: by the factors of A, or for the shortest solution those of its transpose.
// The drivers differ in what else they give: gels no rank, gelsd and gelss the singular values.
Results lstsq(Call& c) {
  require_matrix(c);
  const std::string_view driver = c.has(3) ? c.text(3) : "gelsy";
  c.require(driver == "gels" || driver == "gelsy" || driver == "gelsd" || driver == "gelss",
            "driver must be 'gels', 'gelsy', 'gelsd' or 'gelss', got '", driver, "'");
  Var a = c.var(0), b = c.var(1);
  const bool vector = is_vector(a.type(), b.type());
  if (vector) b = append_dim(b);
  c.require(b.size(-2) == a.size(-2), "A and B must have one number of rows; ", c.types());
  const bool tall = hint(a.size(-2)) >= hint(a.size(-1));
  const Results f = c.builder.results(Prim::qr, {tall ? a : swap_last_two(a), false});
  Var q = c.builder.var(f[0]), r = c.builder.var(f[1]);
  Var x = tall ? triangular(r, matmul(swap_last_two(q), b), true, false, false)
               : matmul(q, triangular(r, b, true, true, false));
  Var rest = matmul(a, x) - b, none = full(c.builder, Shape{0}, 0, a.dtype(), a.type().device);
  Var residuals =
      driver != "gelsy" && hint(a.size(-2)) > hint(a.size(-1)) ? c.builder.call("sum", {rest * rest, Shape{-2}}) : none;
  Var rank = convert(none, DType::i64), s = none;
  if (driver != "gels") rank = c.builder.call("linalg_matrix_rank", {a, nullptr, c.args[2]});
  if (driver == "gelsd" || driver == "gelss") s = c.builder.call("linalg_svdvals", {a});
  return Results{(vector ? drop_last_dim(x) : x).id, residuals.id, rank.id, s.id};
}

// ---- determinants ----

Results det(Call& c) {
  return c.builder.call(Prim::det, {c.var(0)});
}
Results slogdet(Call& c) {
  return c.builder.results(Prim::slogdet, {c.var(0)});
}
// NaN of a negative determinant.
Results logdet(Call& c) {
  const Results r = c.builder.results(Prim::slogdet, {c.var(0)});
  Var sign = c.builder.var(r[0]), log = c.builder.var(r[1]);
  return where(lt(sign, 0.0), full_like(log, std::numeric_limits<double>::quiet_NaN()), log);
}

// ---- pinv ----

// A, atol, rtol, hermitian: singular values that the tolerances cut count as 0.
Results pinv(Call& c) {
  require_matrix(c);
  Var a = c.var(0), u, s, vh;
  const bool hermitian = c.flag(3);
  const Results f = hermitian ? c.builder.results("linalg_eigh", {a}) : c.builder.results(Prim::svd, {a, false});
  if (hermitian)
    s = c.builder.var(f[0]), u = c.builder.var(f[1]), vh = swap_last_two(u);
  else
    u = c.builder.var(f[0]), s = c.builder.var(f[1]), vh = c.builder.var(f[2]);
  if (hint(s.size(-1)) == 0) return swap_last_two(a);
  const int64_t most = std::max(hint(a.size(-2)), hint(a.size(-1)));
  Var sizes = hermitian ? abs(s) : s;
  Var kept = gt(sizes, singular_cut(c, c.builder.call("amax", {sizes, Shape{-1}, true}), most, 1, 2));
  Var inverse = where(kept, 1.0 / where(kept, s, full_like(s, 1)), full_like(s, 0));
  return matmul(swap_last_two(vh) * c.builder.call("unsqueeze", {inverse, -2}), swap_last_two(u));
}
Results pinverse(Call& c) {
  return c.builder.call("linalg_pinv", {c.var(0), nullptr, c.real(1)});
}
// Golub's and Pereyra's derivative, which needs no gaps between singular values.
void pinv_vjp(Grad& g) {
  Var a = g.var(0), p = g.result(), pt = swap_last_two(p), dt = swap_last_two(g.cotangent());
  if (hint(a.size(-2)) <= hint(a.size(-1))) {
    Var k = matmul(dt, p), kpt = matmul(k, pt);
    g.add(0, kpt - swap_last_two(matmul(p, k)) - matmul(matmul(a, p), kpt) +
                 matmul(matmul(pt, p), dt - matmul(k, a)));
  } else {
    Var k = matmul(p, dt), ptk = matmul(pt, k);
    g.add(0, ptk - swap_last_two(matmul(k, p)) + matmul(matmul(dt - matmul(a, k), p), pt) -
                 matmul(matmul(ptk, p), a));
  }
}

// ---- exponentials ----

Results matrix_exp(Call& c) {
  return c.builder.call(Prim::matrix_exp, {c.var(0)});
}

// ---- samples ----

void sample_square(Samples& s) {
  s.add({kSquare}), s.add({kBatch}), s.add({TensorSpec{{0, 0}}});
  s.refuse({TensorSpec{{2, 3}}}, "square");
}
void sample_systems(Samples& s) {
  s.add({kSquare, TensorSpec{{3}}}), s.add({kBatch, TensorSpec{{3, 2}, DType::f64}}),
      s.add({kBatch, TensorSpec{{2, 3}, DType::f64}});
  s.add({kSquare, TensorSpec{{2, 3}}, false});
  s.refuse({kSquare, TensorSpec{{2, 2}}}, "do not fit");
}
void sample_triangles(Samples& s) {
  s.add({kTriangle, TensorSpec{{3, 2}, DType::f64}, true}),
      s.add({kTriangle, TensorSpec{{2, 3, 2}, DType::f64}, false});
  s.add({kTriangle, TensorSpec{{2, 2, 3}, DType::f64}, true, false, true});
}
void sample_old_triangles(Samples& s) {
  s.add({TensorSpec{{3, 2}, DType::f64}, kTriangle}),
      s.add({TensorSpec{{3, 2}, DType::f64}, kTriangle, false, true, true});
}
void sample_least_squares(Samples& s) {
  s.add({kTall, TensorSpec{{4, 3}}}), s.add({kWide, TensorSpec{{2}, DType::f64}}), s.add({kSquare, TensorSpec{{3, 1}}});
  s.add({kTall, TensorSpec{{4, 3}}, SampleArg(), "gels"}), s.add({kSquare, TensorSpec{{3, 1}}, 1e-3, "gelsd"});
  s.refuse({kTall, TensorSpec{{2, 3}}}, "rows"), s.refuse({kTall, TensorSpec{{4, 3}}, SampleArg(), "qr"}, "'qr'");
}
void sample_inverses(Samples& s) {
  matrix_samples(s);
  s.add({kBatch, TensorSpec{{2}, DType::f64, 1e-9, 1e-9}}), s.add({kBatch, 0.0, 1e-9});
  s.add({TensorSpec{{2, 1, 1}}, SampleArg(), SampleArg(), true});
}
void sample_logarithms(Samples& s) {
  s.add({kPositive}), s.add({TensorSpec{{1, 1}, DType::f64, 0.5, 2}});
}
void sample_powers(Samples& s) {
  for (int n : {0, 1, 2, 3, 5, -2}) s.add({kSquare, n});
  s.refuse({TensorSpec{{2, 3}}, 2}, "square");
}

consteval OpRow row(SchemaText schema, std::string_view doc, DecomposeFn decompose, SamplesFn samples,
                    VjpFn vjp = nullptr) {
  return composite(schema, CastPolicy::none, doc, decompose, samples, 0, {.vjp = vjp});
}
constexpr OpRow kRows[] = {
    row("linalg_solve(tensor A, tensor B, bool left=True) -> tensor",
        "X of A X = B, or of X A = B; B may hold vectors.", solve, sample_systems),
    row("linalg_inv(tensor A) -> tensor", "The inverse of square matrices.", inv, sample_square),
    another_name("inverse(tensor A) -> tensor", CastPolicy::none, "linalg_inv", sample_square),
    row("linalg_solve_triangular(tensor A, tensor B, bool upper, bool left=True, bool unitriangular=False) -> tensor",
        "X of A X = B, or of X A = B, where A is a triangle.", solve_triangular, sample_triangles),
    row("triangular_solve(tensor b, tensor A, bool upper=True, bool transpose=False, bool unitriangular=False) -> "
        "(tensor solution, tensor cloned_coefficient)",
        "X of A X = b, and a copy of A.", triangular_solve, sample_old_triangles),
    row("linalg_lstsq(tensor A, tensor B, float? rcond=None, str? driver=None) -> (tensor solution, tensor residuals, "
        "tensor rank, tensor singular_values)",
        "The X that makes A X - B least, of all such the shortest, for A of full rank; the squares of what is left "
        "where there are more rows than columns and the driver, 'gelsy' unless given, is another one; the rank of A "
        "unless the driver is 'gels'; its singular values if it "
        "is 'gelsd' or 'gelss'.",
        lstsq, sample_least_squares),
    row("linalg_det(tensor A) -> tensor", "The determinant; its second derivative needs a matrix that is not singular.",
        det, sample_square),
    another_name("det(tensor A) -> tensor", CastPolicy::none, "linalg_det", sample_square),
    row("linalg_slogdet(tensor A) -> (tensor sign, tensor logabsdet)",
        "The sign of the determinant, and the logarithm of its absolute value.", slogdet, sample_square),
    another_name("slogdet(tensor A) -> (tensor sign, tensor logabsdet)", CastPolicy::none, "linalg_slogdet",
                 sample_square),
    row("logdet(tensor input) -> tensor", "The logarithm of the determinant; NaN if that is negative.", logdet,
        sample_logarithms),
    row("linalg_pinv(tensor A, tensor|number? atol=None, tensor|number? rtol=None, bool hermitian=False) -> tensor",
        "The pseudoinverse; singular values up to the tolerances count as 0.", pinv, sample_inverses, pinv_vjp),
    row("pinverse(tensor input, float rcond=1e-15) -> tensor", "linalg_pinv, by its relative tolerance alone.",
        pinverse, matrix_samples),
    row("linalg_matrix_exp(tensor A) -> tensor", "The sum of A^k / k!.", matrix_exp, sample_square),
    another_name("matrix_exp(tensor A) -> tensor", CastPolicy::none, "linalg_matrix_exp", sample_square),
    another_name("linalg_matrix_power(tensor A, int n) -> tensor", CastPolicy::none, "matrix_power", sample_powers),
};

}  // namespace

extern const OpRows linalg_ops = kRows;

}  // namespace thunder
