// What the recording of a function and its compiling share.
#pragma once

#include "jit/compile.h"
#include "tracer/tracing.h"

namespace thunder {

double now_ms();

// What a key compares of a call's inputs.
EntryInputs inputs_of(const Values& in);

}  // namespace thunder
