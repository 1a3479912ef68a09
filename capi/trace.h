// The handle of a trace.
#pragma once

#include "capi/context.h"
#include "ir/print.h"

namespace thunder::capi {

struct TraceHandle : Counted<TraceHandle> {
  TraceHandle(Ref<Context> c, Trace t, std::vector<Ref<Tensor>> captured = {})
      : context(std::move(c)), trace(std::move(t)), text(print(trace)), captured(std::move(captured)) {}
  Ref<Context> context;  // owns the ops that the lines name
  Trace trace;
  std::string text;
  std::vector<Ref<Tensor>> captured;  // by input, null for arguments; empty for a trace that was read from a text
};
THUNDER_COUNTED_HANDLE(trace, TraceHandle)

}  // namespace thunder::capi
