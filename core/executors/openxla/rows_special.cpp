// Prims of the functions that CHLO has, and those that neither dialect has an op for but ONNX, each with the reason.
#include "executors/openxla/rows.h"

namespace thunder::openxla {
namespace {

constexpr Row unsupported_row(std::string_view prim, std::string_view why) {
  return {prim, "", nullptr, why};
}
#define THUNDER_FUNCTION(prim, op)                                   \
  Row {                                                              \
    "prims." prim, op, [](Line& l) { l.add_result(l.unary(op, l.input(0))); } \
  }

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

constexpr Row kRows[] = {
    unsupported_row("prims.cholesky", kRefuses),
    unsupported_row("prims.det", kFactors),
    THUNDER_FUNCTION("digamma", "chlo.digamma"),
    THUNDER_FUNCTION("erfc", "chlo.erfc"),
    unsupported_row("prims.erfcx", kFunction),
    THUNDER_FUNCTION("erfinv", "chlo.erf_inv"),
    THUNDER_FUNCTION("i1e", "chlo.bessel_i1e"),
    THUNDER_FUNCTION("lgamma", "chlo.lgamma"),
    {"prims.nextafter", "chlo.next_after", nextafter},
    {"prims.polygamma", "chlo.polygamma", polygamma},
    unsupported_row("prims.slogdet", kFactors),
    unsupported_row("prims.triangular_solve", kRefuses),
    unsupported_row("prims.view_dtype", "StableHLO's bitcast_convert adds or takes a dim where sizes of dtypes differ"),
    {"prims.zeta", "chlo.zeta", zeta},
};

}  // namespace

std::span<const Row> special_rows() {
  return kRows;
}

}  // namespace thunder::openxla
