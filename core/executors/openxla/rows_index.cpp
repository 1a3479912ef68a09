// Prims that pick elements by indices, and those that put them back.
#include "executors/openxla/rows.h"

namespace thunder::openxla {
namespace {

// Lines that may refuse their data are not claimed: see `may_reject_data`.
constexpr std::string_view kChecked =
    "its indices are checked when it runs, and XLA clamps or drops those out of range";

}  // namespace

const Row gather_row = {.why_not = kChecked};
const Row index_row = {.why_not = kChecked};
const Row index_put_row = {.why_not = kChecked};
const Row max_pool2d_backward_row = {.why_not = kChecked};
const Row nonzero_row = {.why_not = "how many rows are filled depends on values"};
const Row scatter_add_row = {.why_not = kChecked};
const Row scatter_reduce_row = {.why_not = kChecked};
const Row take_row = {.why_not = kChecked};
const Row take_add_row = {.why_not = kChecked};

}  // namespace thunder::openxla
