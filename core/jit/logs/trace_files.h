// The files of the option `trace_dir`, which show what a compile did.
#pragma once

#include "jit/context/context.h"

namespace thunder {

struct Entry;
struct CompileSettings;

// Writes those of `trace_files`; nothing without `trace_dir`. Throws where a file cannot be written.
void write_trace_files(const Context& context, const CompileSettings& settings, const Entry& entry);

}  // namespace thunder
