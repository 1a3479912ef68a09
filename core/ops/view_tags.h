// Whether an op's results share memory with its inputs, as PyTorch promises and scopes ensure.
#pragma once

#include "ops/op.h"

namespace thunder {

// Tags of rows. View prims say it by `view`; the results of all other ops are new, and where a decomposition gives what
// it was given, scopes copy it. They are bits that OpTag leaves.
constexpr uint32_t kMayView = 65536;  // in the memory of what it is given, if strides and arguments let it
constexpr uint32_t kView = 131072;    // there in any case
// Beside one of them: where it has nothing to do it gives the input itself, where other views are new tensors.
constexpr uint32_t kReturnsSelf = 262144;
static_assert(kMayView > kSameMemory);  // the last of OpTag

inline bool may_view(const OpDef& op) { return op.view || (op.tags & (kView | kMayView)); }

}  // namespace thunder
