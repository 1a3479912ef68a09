// Prims without an ONNX op: those composed of other ops, and those that other engines have, each with the reason.
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

constexpr std::string_view kFunction = "ONNX has no such function", kScan = "ONNX has no such scan";

}  // namespace

const Row cholesky_row = {.why_not = "no engine factors matrices so"};
const Row cummax_row = {.why_not = kScan};
const Row cummin_row = {.why_not = kScan};
const Row cumprod_row = {.why_not = kScan};
const Row det_row = {"Det"};
const Row digamma_row = {.why_not = kFunction};
const Row erfc_row = {"Exp, Reciprocal, Where", erfc, true};
const Row erfcx_row = {"Exp, Reciprocal, Where", erfcx, true};
const Row erfinv_row = {.why_not = kFunction};
const Row i1e_row = {.why_not = kFunction};
const Row lgamma_row = {.why_not = kFunction};
const Row logcumsumexp_row = {.why_not = kScan};
const Row nextafter_row = {.why_not = "ONNX has no op on the bits of reals"};
const Row polygamma_row = {.why_not = kFunction};
const Row slogdet_row = {"Det, Log", slogdet};
const Row triangular_solve_row = {.why_not = "no engine solves systems"};
const Row view_dtype_row = {.why_not = "ONNX reads no bits as numbers of another dtype"};
const Row zeta_row = {.why_not = kFunction};

}  // namespace thunder::onnx_export
