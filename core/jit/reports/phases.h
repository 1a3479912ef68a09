// Which part of a step of training each line of its program belongs to.
#pragma once

#include <vector>

#include "ir/trace.h"

namespace thunder {

enum class Phase : uint8_t { none, forward, backward, update };
const char* name(Phase phase);

// For each line of `last`, which was compiled of `written`. Forward is what the values take whose gradients were asked
// for and what else reads no gradient, update what the writes take beside it and what reads gradients. Where `written`
// asks for no gradient, every line is of none.
std::vector<Phase> phases(const Trace& written, const Trace& last);

}  // namespace thunder
