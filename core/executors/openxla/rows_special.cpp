// Prims of the functions that CHLO has, and those that neither dialect has an op for but ONNX, each with the reason.
#include "executors/openxla/rows.h"

namespace thunder::openxla {
namespace {

void polygamma(Line& l) {
  const Val x = l.input(1);
  l.add_result(l.binary("chlo.polygamma", l.constant_like(l.arg(0).plain().i, x), x));
}
void zeta(Line& l) {
  l.add_result(l.binary("chlo.zeta", l.input(0), l.input(1)));
}
void nextafter(Line& l) {
  l.add_result(l.binary("chlo.next_after", l.input(0), l.input(1)));
}

constexpr std::string_view kFunction = "StableHLO and CHLO have no such function",
                           kFactors = "StableHLO has no op that factors matrices so",
                           kRefuses = "it refuses matrices that have none, where XLA gives NaN";

}  // namespace

#define THUNDER_FUNCTION(prim, op) const Row prim##_row = {op, [](Line& l) { l.add_result(l.unary(op, l.input(0))); }}

const Row cholesky_row = {.why_not = kRefuses};
const Row det_row = {.why_not = kFactors};
THUNDER_FUNCTION(digamma, "chlo.digamma");
THUNDER_FUNCTION(erfc, "chlo.erfc");
const Row erfcx_row = {.why_not = kFunction};
THUNDER_FUNCTION(erfinv, "chlo.erf_inv");
THUNDER_FUNCTION(i1e, "chlo.bessel_i1e");
THUNDER_FUNCTION(lgamma, "chlo.lgamma");
const Row nextafter_row = {"chlo.next_after", nextafter};
const Row polygamma_row = {"chlo.polygamma", polygamma};
const Row slogdet_row = {.why_not = kFactors};
const Row triangular_solve_row = {.why_not = kRefuses};
const Row view_dtype_row = {.why_not = "StableHLO's bitcast_convert adds or takes a dim where sizes of dtypes differ"};
const Row zeta_row = {"chlo.zeta", zeta};

}  // namespace thunder::openxla
