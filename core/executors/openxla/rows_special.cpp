// Prims of the functions that CHLO has, and those that neither dialect has an op for, each with the reason.
#include "executors/openxla/rows.h"

namespace thunder::openxla {
namespace {

constexpr Row none(std::string_view prim, std::string_view why) {
  return {prim, "", nullptr, why};
}
#define THUNDER_FUNCTION(prim, op)                                   \
  Row {                                                              \
    "prims." prim, op, [](Line& l) { l.give(l.unary(op, l.in(0))); } \
  }

void polygamma(Line& l) {
  const Val x = l.in(1);
  l.give(l.binary("chlo.polygamma", l.like(l.arg(0).plain().i, x), x));
}
void zeta(Line& l) {
  l.give(l.binary("chlo.zeta", l.in(0), l.in(1)));
}
void nextafter(Line& l) {
  l.give(l.binary("chlo.next_after", l.in(0), l.in(1)));
}

constexpr std::string_view kFunction = "StableHLO and CHLO have no such function",
                           kFactors = "StableHLO has no op that factors matrices so",
                           kSolve = "StableHLO has no op that solves systems",
                           kRefuses = "it refuses matrices that have none, where XLA gives NaN",
                           kSteps = "it is computed step by step, as many as its numbers ask for";

constexpr Row kRows[] = {
    none("prims.cholesky", kRefuses),
    none("prims.cofactors", kFactors),
    none("prims.ctc_loss", kSteps),
    none("prims.ctc_loss_backward", kSteps),
    none("prims.ctc_loss_curvature", kSteps),
    none("prims.det", kFactors),
    THUNDER_FUNCTION("digamma", "chlo.digamma"),
    none("prims.eigh", kFactors),
    THUNDER_FUNCTION("erfc", "chlo.erfc"),
    none("prims.erfcx", kFunction),
    THUNDER_FUNCTION("erfinv", "chlo.erf_inv"),
    none("prims.gcd", kSteps),
    none("prims.gamma", kSteps),
    none("prims.gamma_slope", kSteps),
    none("prims.i0", kFunction),
    none("prims.i0e", kFunction),
    none("prims.i1", kFunction),
    THUNDER_FUNCTION("i1e", "chlo.bessel_i1e"),
    THUNDER_FUNCTION("lgamma", "chlo.lgamma"),
    none("prims.log_ndtr", kFunction),
    none("prims.matrix_exp", kSteps),
    none("prims.mode", "StableHLO counts no equal elements along a dim"),
    none("prims.ndtri", kFunction),
    {"prims.nextafter", "chlo.next_after", nextafter},
    none("prims.poisson", kSteps),
    {"prims.polygamma", "chlo.polygamma", polygamma},
    none("prims.qr", kFactors),
    none("prims.slogdet", kFactors),
    none("prims.solve", kSolve),
    none("prims.sort_rows", "it sorts rows, whose length is no dim that StableHLO's sort compares by"),
    none("prims.svd", kFactors),
    none("prims.triangular_solve", kRefuses),
    none("prims.view_dtype", "StableHLO's bitcast_convert adds or takes a dim where sizes of dtypes differ"),
    {"prims.zeta", "chlo.zeta", zeta},
};

}  // namespace

std::span<const Row> special_rows() {
  return kRows;
}

}  // namespace thunder::openxla
