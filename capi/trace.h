// The handles of traces and streams, which compiled functions give out and take.
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
THUNDER_COUNTED_HANDLE(thunder_trace, TraceHandle)

// The native stream that executors get; null if there is none, and for a stream of the CPU.
void* native_stream(const thunder_stream* stream);

}  // namespace thunder::capi
