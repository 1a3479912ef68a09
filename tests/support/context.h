// A context that draws the same random numbers at each run, and takes composites apart outside of programs.
#pragma once

#include <algorithm>

#include "jit/context/context.h"

namespace thunder::test {

// The numbers of seed 0. A context draws its seed from the operating system otherwise.
inline Ref<Context> seeded_context(const ContextHooks& hooks = {}) {
  auto context = make<Context>(hooks);
  std::fill_n(reinterpret_cast<int64_t*>(context->random()->data()), 2, 0);
  return context;
}

}  // namespace thunder::test
