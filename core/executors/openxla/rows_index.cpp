// Prims that pick elements by indices, and those that put them back.
#include "executors/openxla/rows.h"

namespace thunder::openxla {
namespace {

// Lines that may refuse their data are not claimed: see `refuses_data`.
constexpr std::string_view kChecked =
    "its indices are checked when it runs, and XLA clamps or drops those out of range";

constexpr Row checked(std::string_view prim) {
  return {prim, "", nullptr, kChecked};
}
constexpr Row kRows[] = {
    checked("prims.gather"),
    checked("prims.index"),
    checked("prims.index_put"),
    checked("prims.max_pool2d_backward"),
    {"prims.nonzero", "", nullptr, "how many rows are filled depends on values"},
    checked("prims.scatter_add"),
    checked("prims.scatter_reduce"),
    checked("prims.take"),
    checked("prims.take_add"),
};

}  // namespace

std::span<const Row> index_rows() {
  return kRows;
}

}  // namespace thunder::openxla
