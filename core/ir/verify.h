// Checks what must hold after every stage of a compile, also after passes of callers.
#pragma once

#include "ir/trace.h"

namespace thunder {

// Throws Error(internal) that names the pass, the line and what is wrong: a value used before its definition or
// defined twice, an argument that is not of the schema's kind, a decomposition that does not define the line's
// results, an untyped value, an output or a write of something undefined or of another type.
void verify(const Trace& trace);

// The beginning of verify's messages: "after cse, line 3, t[3] = add(t[1], t[2])".
std::string describe_line(const Trace& trace, size_t line);

}  // namespace thunder
