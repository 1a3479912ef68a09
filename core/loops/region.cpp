#include "loops/region.h"

#include "base/text.h"

namespace thunder::loops {

Status* out_of_range(const std::vector<BoundsCheck>& checks, const Refusal& refusal) {
  const BoundsCheck& check = checks[static_cast<size_t>(refusal.expr)];
  return make<Status>(Code::invalid_argument, cat(check.op, ": index ", refusal.index, " is out of range for dim ",
                                                  check.dim, " of size ", check.size)).detach();
}

}  // namespace thunder::loops
