// Compiled nests, each kept once for the whole process: equal text is equal code.
#pragma once

#include <string>

#include "executors/fusion/emitter.h"

namespace thunder::fusion {

// Whether the module that emits code is there; opens it at the first call. If not, `why` says what was tried.
bool can_compile(std::string* why = nullptr);

// The code of a nest. Throws when the emitter fails. Any thread.
KernelFn kernel(const Nest& nest);

}  // namespace thunder::fusion
