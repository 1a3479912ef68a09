// Numbers along y and along x, given as two or as one for both.
#pragma once

#include <array>

#include "base/text.h"
#include "ops/builder.h"

namespace thunder {

inline std::array<int64_t, 2> pair_of(const Arg& arg) {
  const std::span<const Dim> given = arg.dim_list();
  return {hint(given[0]), hint(given[given.size() - 1])};
}

inline void require_pair(const Call& c, size_t param, int64_t least) {
  const std::span<const Dim> given = c.dims(param);
  const std::string& what = c.op.schema.params[param].name;
  c.require(given.size() == 1 || given.size() == 2, what, " must have one or two values, got ", name(given));
  for (Dim v : given)
    c.require(hint(v) >= least && hint(v) <= INT32_MAX, what, " must be between ", least, " and 2147483647, got ",
              name(given));
}

}  // namespace thunder
