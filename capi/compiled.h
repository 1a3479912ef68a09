// The handle of a compiled function.
#pragma once

#include "capi/function.h"
#include "jit/call.h"
#include "jit/reports/explain.h"

namespace thunder::capi {

// The handle is the compiled function: a call must not pay for a second pointer, and keeps itself alive.
struct CompiledHandle : Compiled {
  CompiledHandle(Ref<Context> c, Ref<Function> f, const CompileOptions* options)
      : Compiled(std::move(c), std::move(f), options) {}
  std::string last_miss_text, memory_text, fusion_text, loops_text, guards_text, breaks_text, breaks_json,
      explained_text, repro_text, signature_text;  // as last asked for
};
THUNDER_COUNTED_HANDLE(compiled, CompiledHandle)

// The text that `make` makes of the function, kept by its handle; "" where it cannot be made.
template <class F>
const char* text_of(thunder_compiled* compiled, std::string CompiledHandle::*kept, const F& make) noexcept {
  CompiledHandle* const found = core(compiled);
  if (!found) return "";
  CompiledHandle& h = *found;
  return value_or("", [&] { return (h.*kept = make(h)).c_str(); });
}
// A report by its name in explain().
inline const char* report_of(thunder_compiled* compiled, std::string CompiledHandle::*kept, const char* name) noexcept {
  return text_of(compiled, kept, [&](const Compiled& f) { return explain(f, name); });
}

}  // namespace thunder::capi
