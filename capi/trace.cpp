// thunder_trace_*: one stage of a program as text, and back.
#include "capi/trace.h"

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
void thunder_trace_release(thunder_trace* trace) noexcept { released(trace); }

}  // extern "C"
