// torch.linalg's factors of matrices: Cholesky, QR, singular values and eigenvalues.
#include "ops/linalg.h"

namespace thunder {
namespace {

// ---- cholesky ----

Var call_cholesky(const Call& c, size_t i, bool upper) {
  require_matrix(c, i);
  return c.builder.call(Prim::cholesky, {upper ? swap_last_two(c.var(i)) : c.var(i)});
}
Results cholesky(Call& c) {
  Var l = call_cholesky(c, 0, c.flag(1));
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
  return c.builder.results(Prim::qr, {c.var(0), mode == "complete"});
}
Results qr(Call& c) {
  require_matrix(c);
  return c.builder.results(Prim::qr, {c.var(0), !c.flag(1)});
}
Results linalg_svd(Call& c) {
  require_matrix(c);
  return c.builder.results(Prim::svd, {c.var(0), c.flag(1)});
}
Results svd(Call& c) {
  require_matrix(c);
  Results r = c.builder.results(Prim::svd, {c.var(0), !c.flag(1)});
  r[2] = swap_last_two(c.builder.var(r[2])).id;
  return r;
}
Results svdvals(Call& c) {
  require_matrix(c);
  return Results{c.builder.results(Prim::svd, {c.var(0), false})[1]};
}
bool reads_upper_half(const Call& c) {
  require_matrix(c);
  c.require(c.text(1) == "L" || c.text(1) == "U", "UPLO must be 'L' or 'U', got '", c.text(1), "'");
  return c.text(1) == "U";
}
Results eigh(Call& c) {
  return c.builder.results(Prim::eigh, {c.var(0), reads_upper_half(c)});
}
Results eigvalsh(Call& c) {
  return Results{c.builder.results(Prim::eigh, {c.var(0), reads_upper_half(c)})[0]};
}

void sample_positive(Samples& s) {
  s.add({kPositive}), s.add({kPositive, true});
  s.refuse({TensorSpec{{2, 3}}}, "square"), s.refuse({TensorSpec{{3}}}, "2 dims"),
      s.refuse({TensorSpec{{2, 2}, DType::i64, -9, 9}}, "float32 or float64");
}
void sample_positive_solves(Samples& s) {
  s.add({TensorSpec{{2, 3, 2}, DType::f64}, kTriangle}), s.add({TensorSpec{{3, 1}, DType::f64}, kTriangle, true});
}
void sample_positive_inverses(Samples& s) {
  s.add({kTriangle}), s.add({TensorSpec{{2, 2}, DType::f32, 1, 2}, true});
}
void sample_qr_modes(Samples& s) {
  s.add({kTall}), s.add({kWide}), s.add({kBatch, "complete"}), s.add_without_gradient({kTall, "complete"});
  s.refuse({kSquare, "r"}, "'reduced' or 'complete'");
}
void sample_some(Samples& s) {
  s.add({kTall}), s.add({kWide}), s.add({kBatch});
}
void sample_svds(Samples& s) {
  s.add({kTall, false}), s.add({kWide, false}), s.add({kSquare}), s.add_without_gradient({kTall});
}
// Only one triangle is read: differences of single elements are not the gradient of a symmetric matrix.
void sample_symmetric(Samples& s) {
  s.add_without_gradient({kSquare}), s.add_without_gradient({kBatch, "U"});
  s.refuse({kSquare, "X"}, "'L' or 'U'"), s.refuse({TensorSpec{{2, 3}}}, "square");
}

constexpr OpRow kRows[] = {
    composite("linalg_cholesky(tensor input, bool upper=False) -> tensor", CastPolicy::none,
              "The triangle L of input = L L^T, or its transpose; one half of the input is read.", cholesky,
              sample_positive),
    another_name("cholesky(tensor input, bool upper=False) -> tensor", CastPolicy::none, "linalg_cholesky",
                 sample_positive),
    composite("cholesky_solve(tensor input, tensor L, bool upper=False) -> tensor", CastPolicy::none,
              "X of L L^T X = input.", cholesky_solve, sample_positive_solves),
    composite("cholesky_inverse(tensor L, bool upper=False) -> tensor", CastPolicy::none, "The inverse of L L^T.",
              cholesky_inverse, sample_positive_inverses),
    composite("linalg_qr(tensor A, str mode='reduced') -> (tensor Q, tensor R)", CastPolicy::none,
              "Orthonormal columns Q and an upper triangle R of A = Q R.", linalg_qr, sample_qr_modes),
    composite("qr(tensor input, bool some=True) -> (tensor Q, tensor R)", CastPolicy::none,
              "linalg_qr: reduced if some, else complete.", qr, sample_some),
    composite("linalg_svd(tensor A, bool full_matrices=True) -> (tensor U, tensor S, tensor Vh)", CastPolicy::none,
              "U, S and Vh of A = U diag(S) Vh, S descending. Columns and rows beyond S get no gradient.", linalg_svd,
              sample_svds),
    composite("svd(tensor input, bool some=True) -> (tensor U, tensor S, tensor V)", CastPolicy::none,
              "U, S and V, not its transpose, of input = U diag(S) V^T.", svd, sample_some),
    composite("linalg_svdvals(tensor A) -> tensor", CastPolicy::none, "The singular values, descending.", svdvals,
              matrix_samples),
    composite("linalg_eigh(tensor A, str UPLO='L') -> (tensor eigenvalues, tensor eigenvectors)", CastPolicy::none,
              "Eigenvalues, ascending, and eigenvectors of symmetric matrices, of which one half is read.", eigh,
              sample_symmetric),
    composite("linalg_eigvalsh(tensor A, str UPLO='L') -> tensor", CastPolicy::none,
              "The eigenvalues of symmetric matrices, ascending.", eigvalsh, sample_symmetric),
};

}  // namespace

extern const OpRows linalg_factors_ops = kRows;

}  // namespace thunder
