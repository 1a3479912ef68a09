// thunder_trace_*: one stage of a program as text, and back.
#include "capi/trace.h"

#include "tracer/reader.h"

using namespace thunder;
using namespace thunder::capi;

extern "C" {

const char* thunder_trace_name(const thunder_trace* trace) noexcept {
  return trace ? core(trace)->trace.pass.c_str() : "";
}
double thunder_trace_milliseconds(const thunder_trace* trace) noexcept {
  return trace ? core(trace)->trace.milliseconds : 0;
}
const char* thunder_trace_text(const thunder_trace* trace) noexcept { return trace ? core(trace)->text.c_str() : ""; }

thunder_status* thunder_trace_parse(thunder_context* context, const char* text, size_t bytes,
                                    thunder_trace** out) noexcept {
  return handle(guarded(__func__, [&] {
    need(context, "context"), need(text, "text"), need(out, "out");
    Ref<Context> owner(core(context));
    auto trace = read_trace({text, bytes}, owner->registry());
    *out = given(make<TraceHandle>(std::move(owner), std::move(trace)));
  }));
}

void thunder_trace_release(thunder_trace* trace) noexcept { released(trace); }

}  // extern "C"
