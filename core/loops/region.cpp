#include "loops/region.h"

#include "base/text.h"

namespace thunder::loops {

Status* index_error_status(const std::vector<BoundsCheck>& checks, const IndexError& index_error) {
  const BoundsCheck& check = checks[static_cast<size_t>(index_error.expr)];
  if (check.op.empty()) return make<Status>(Code::invalid_argument, "div: an integer is divided by zero").detach();
  return make<Status>(Code::out_of_range, cat(check.op, ": index ", index_error.index, " is out of range for dim ",
                                              check.dim, " of size ", check.size)).detach();
}

}  // namespace thunder::loops
