// Prims without an op of ONNX's: those that others make up, and those that nothing does, each with the reason.
#include "onnx/export/rows.h"

namespace thunder::onnx_export {
namespace {

// exp(x^2) erfc(x) for x >= 0, to 1.2e-7 of itself: the Chebyshev fit of Press, Teukolsky, Vetterling, Flannery:
// "Numerical Recipes".
Val scaled_tail(const Line& l, Val x, DType dtype) {
  const auto number = [&](double v) { return l.graph.scalar(v, dtype); };
  const Val half = l.make("Add", {l.make("Mul", {x, number(0.5)}), number(1)}), t = l.make("Reciprocal", {half});
  Val sum = number(0.17087277);
  for (const double c :
       {-0.82215223, 1.48851587, -1.13520398, 0.27886807, -0.18628806, 0.09678418, 0.37409196, 1.00002368, -1.26551223})
    sum = l.make("Add", {l.make("Mul", {sum, t}), number(c)});
  return l.make("Mul", {t, l.make("Exp", {sum})});
}
void refuse_f64(const Line& l) {
  if (l.type(0).dtype == DType::f64)
    fail(Code::unimplemented, "ONNX has no erfc, and what stands for it has not the digits of f64; convert it to f32");
}
bool erfc(Line& l) {
  refuse_f64(l);
  const DType dtype = l.type(0).dtype;
  const Val x = l.in(0), size = l.make("Abs", {x});
  const Val square = l.make("Exp", {l.make("Neg", {l.make("Mul", {x, x})})});
  const Val tail = l.make("Mul", {square, scaled_tail(l, size, dtype)});
  const Val negative = l.make("Less", {x, l.graph.scalar(0.0, dtype)});
  l.give(l.make("Where", {negative, l.make("Sub", {l.graph.scalar(2.0, dtype), tail}), tail}));
  return true;
}
bool erfcx(Line& l) {
  refuse_f64(l);
  const DType dtype = l.type(0).dtype;
  const Val x = l.in(0), tail = scaled_tail(l, l.make("Abs", {x}), dtype);
  const Val twice = l.make("Mul", {l.graph.scalar(2.0, dtype), l.make("Exp", {l.make("Mul", {x, x})})});
  const Val negative = l.make("Less", {x, l.graph.scalar(0.0, dtype)});
  l.give(l.make("Where", {negative, l.make("Sub", {twice, tail}), tail}));
  return true;
}

bool slogdet(Line& l) {
  const Val det = l.make("Det", {l.in(0)});
  l.give(l.make("Sign", {det}));
  l.give(l.make("Log", {l.make("Abs", {det})}));
  return true;
}

constexpr Row none(std::string_view op, std::string_view why) {
  return {op, "", nullptr, false, why};
}
constexpr std::string_view kFunction = "ONNX has no such function", kFactors = "ONNX has no op that factors matrices",
                           kSolve = "ONNX has no op that solves systems", kScan = "ONNX has no such scan",
                           kCtc = "ONNX has no ctc_loss", kTries = "ONNX has no loop over tries for each element";

constexpr Row kRows[] = {
    none("prims.cholesky", kFactors),
    none("prims.cofactors", kFactors),
    none("prims.ctc_loss", kCtc),
    none("prims.ctc_loss_backward", kCtc),
    none("prims.ctc_loss_curvature", kCtc),
    none("prims.cummax", kScan),
    none("prims.cummin", kScan),
    none("prims.cumprod", kScan),
    none("prims.cumprod_backward", kScan),
    {"prims.det", "Det"},
    none("prims.digamma", kFunction),
    none("prims.eigh", kFactors),
    {"prims.erfc", "Exp, Reciprocal, Where", erfc, true},
    {"prims.erfcx", "Exp, Reciprocal, Where", erfcx, true},
    none("prims.erfinv", kFunction),
    none("prims.gcd", "ONNX has no divisors, and no loop as long as the numbers ask for"),
    none("prims.gamma", kTries),
    none("prims.gamma_slope", kTries),
    none("prims.i0", kFunction),
    none("prims.i0e", kFunction),
    none("prims.i1", kFunction),
    none("prims.i1e", kFunction),
    none("prims.lgamma", kFunction),
    none("prims.log_ndtr", kFunction),
    none("prims.logcumsumexp", kScan),
    none("prims.logcumsumexp_backward", kScan),
    none("prims.matrix_exp", "ONNX has no exponential of matrices"),
    none("prims.mode", "ONNX counts no equal elements along a dim"),
    none("prims.ndtri", kFunction),
    none("prims.nextafter", "ONNX has no op on the bits of reals"),
    none("prims.poisson", kTries),
    none("prims.polygamma", kFunction),
    none("prims.qr", kFactors),
    {"prims.slogdet", "Det, Log", slogdet},
    none("prims.solve", kSolve),
    none("prims.sort_rows", "ONNX sorts numbers, not rows"),
    none("prims.svd", kFactors),
    none("prims.triangular_solve", kSolve),
    none("prims.view_dtype", "ONNX reads no bits as numbers of another dtype"),
    none("prims.zeta", kFunction),
};

}  // namespace

std::span<const Row> special_rows() {
  return kRows;
}

}  // namespace thunder::onnx_export
