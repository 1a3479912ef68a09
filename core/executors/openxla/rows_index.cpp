// Prims that pick elements by indices, and those that put them back.
#include "executors/openxla/rows.h"

namespace thunder::openxla {
namespace {

// Lines that may refuse their data are not claimed: see `may_reject_data`.
constexpr std::string_view kChecked =
    "its indices are checked when it runs, and XLA clamps or drops those out of range";

constexpr Row checked_row(std::string_view prim) {
  return {prim, "", nullptr, kChecked};
}
constexpr Row kRows[] = {
    checked_row("prims.gather"),
    checked_row("prims.index"),
    checked_row("prims.index_put"),
    checked_row("prims.max_pool2d_backward"),
    {"prims.nonzero", "", nullptr, "how many rows are filled depends on values"},
    checked_row("prims.scatter_add"),
    checked_row("prims.scatter_reduce"),
    checked_row("prims.take"),
    checked_row("prims.take_add"),
};

}  // namespace

std::span<const Row> index_rows() {
  return kRows;
}

}  // namespace thunder::openxla
