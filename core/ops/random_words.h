// The words of Philox many at a time.
#pragma once

#include "ops/philox.h"

namespace thunder {

// words[i] = bits32 of element first + i, for i < n. Requires: first is a multiple of 4.
void fill_words(const Philox& random, int64_t first, int64_t n, uint32_t* words);

}  // namespace thunder
