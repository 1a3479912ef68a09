// In which memory the results of an op lie: what PyTorch promises, and scopes see to.
#pragma once

#include "ops/op.h"

namespace thunder {

// Tags of rows. View prims say it by `view`; the results of all other ops are new, and where a decomposition gives what
// it was given, scopes copy it.
constexpr uint32_t kView = 16384;     // in the memory of what it is given
constexpr uint32_t kMayView = 32768;  // there, if strides and arguments let it

inline bool may_view(const OpDef& op) { return op.view || (op.tags & (kView | kMayView)); }

}  // namespace thunder
