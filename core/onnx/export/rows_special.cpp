// Prims without an ONNX op: those composed of other ops, and those not supported, each with the reason.
#include "onnx/export/rows.h"

namespace thunder::onnx_export {
namespace {

// exp(x^2) erfc(x) for x >= 0, to 1.2e-7 of itself: the Chebyshev fit of Press, Teukolsky, Vetterling, Flannery:
// "Numerical Recipes".
Val emit_erfcx_approximation(const Line& l, Val x, DType dtype) {
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
  const Val tail = l.make("Mul", {square, emit_erfcx_approximation(l, size, dtype)});
  const Val negative = l.make("Less", {x, l.graph.scalar(0.0, dtype)});
  l.give(l.make("Where", {negative, l.make("Sub", {l.graph.scalar(2.0, dtype), tail}), tail}));
  return true;
}
bool erfcx(Line& l) {
  refuse_f64(l);
  const DType dtype = l.type(0).dtype;
  const Val x = l.in(0), tail = emit_erfcx_approximation(l, l.make("Abs", {x}), dtype);
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

constexpr Row unsupported(std::string_view op, std::string_view why) {
  return {op, "", nullptr, false, why};
}
constexpr std::string_view kFunction = "ONNX has no such function", kScan = "ONNX has no such scan";
// Those that say nothing of ONNX are so for OpenXLA, which has no rows of its own for them (openxla/rows.cpp).
constexpr std::string_view kNoFunction = "no engine has such a function", kFactors = "no engine factors matrices so",
                           kSolve = "no engine solves systems",
                           kRanks = "no engine passes values between processes",
                           kSeveral = "it is one pass that carries several sums along",
                           kSteps = "it is computed step by step, as many as its numbers ask for";

constexpr Row kRows[] = {
    unsupported("prims.all_gather", kRanks),
    unsupported("prims.all_reduce", kRanks),
    unsupported("prims.all_to_all", kRanks),
    unsupported("prims.axis_index", kRanks),
    unsupported("prims.barrier", kRanks),
    unsupported("prims.broadcast", kRanks),
    unsupported("prims.cholesky", kFactors),
    unsupported("prims.cofactors", kFactors),
    unsupported("prims.ctc_loss", kSteps),
    unsupported("prims.ctc_loss_backward", kSteps),
    unsupported("prims.ctc_loss_curvature", kSteps),
    unsupported("prims.cummax", kScan),
    unsupported("prims.cummin", kScan),
    unsupported("prims.cumprod", kScan),
    unsupported("prims.cumprod_backward", kSeveral),
    {"prims.det", "Det"},
    unsupported("prims.digamma", kFunction),
    unsupported("prims.eigh", kFactors),
    {"prims.erfc", "Exp, Reciprocal, Where", erfc, true},
    {"prims.erfcx", "Exp, Reciprocal, Where", erfcx, true},
    unsupported("prims.erfinv", kFunction),
    unsupported("prims.gcd", kSteps),
    unsupported("prims.gamma", kSteps),
    unsupported("prims.gamma_slope", kSteps),
    unsupported("prims.grouped_matmul", "which rows a matrix multiplies depends on values"),
    unsupported("prims.i0", kNoFunction),
    unsupported("prims.i0e", kNoFunction),
    unsupported("prims.i1", kNoFunction),
    unsupported("prims.i1e", kFunction),
    unsupported("prims.lgamma", kFunction),
    unsupported("prims.log_ndtr", kNoFunction),
    unsupported("prims.logcumsumexp", kScan),
    unsupported("prims.logcumsumexp_backward", kSeveral),
    unsupported("prims.matrix_exp", kSteps),
    unsupported("prims.mode", "no engine counts equal elements along a dim"),
    unsupported("prims.ndtri", kNoFunction),
    unsupported("prims.nextafter", "ONNX has no op on the bits of reals"),
    unsupported("prims.poisson", kSteps),
    unsupported("prims.polygamma", kFunction),
    unsupported("prims.ppermute", kRanks),
    unsupported("prims.pvary", kRanks),
    unsupported("prims.qr", kFactors),
    unsupported("prims.reduce_scatter", kRanks),
    unsupported("prims.shard", kRanks),
    {"prims.slogdet", "Det, Log", slogdet},
    unsupported("prims.solve", kSolve),
    unsupported("prims.sort_rows", "engines sort numbers, not rows"),
    unsupported("prims.svd", kFactors),
    unsupported("prims.triangular_solve", kSolve),
    unsupported("prims.view_dtype", "ONNX reads no bits as numbers of another dtype"),
    unsupported("prims.wait", kRanks),
    unsupported("prims.zeta", kFunction),
};

}  // namespace

std::span<const Row> special_rows() {
  return kRows;
}

}  // namespace thunder::onnx_export
