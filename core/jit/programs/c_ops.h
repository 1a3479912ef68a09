// The statements of the ops that are no part of a fused kernel.
#pragma once

#include "jit/programs/c_places.h"

namespace thunder {

// A C statement, and the helper functions that it needs beyond those of every source (null: none).
struct CStatement {
  std::string text;
  const char* calls = nullptr;
};

// `number`: of the step, which the function gives where an index is out of range. Nothing: there is none for this op or
// its dtypes.
std::optional<CStatement> c_statement(const CPlaces& places, const Step& step, size_t number);

// The C that statements call: convolutions, pools, random numbers.
extern const char *const kCConvolutions, *const kCPools, *const kCRandom;

}  // namespace thunder
