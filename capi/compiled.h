// The handle of a compiled function.
#pragma once

#include "capi/function.h"
#include "jit/call.h"

namespace thunder::capi {

// The handle is the compiled function: a call must not pay for a second pointer, and keeps itself alive.
struct CompiledHandle : Compiled {
  CompiledHandle(Ref<Context> c, Ref<Function> f, const CompileOptions* options)
      : Compiled(std::move(c), std::move(f), options) {}
  std::string last_miss_text, memory_text, fusion_text, loops_text, guards_text, breaks_text,
      breaks_json, explained_text, repro_text, signature_text;  // as last asked for
};
THUNDER_COUNTED_HANDLE(thunder_compiled, CompiledHandle)

}  // namespace thunder::capi
