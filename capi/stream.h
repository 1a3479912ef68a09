// The handles of streams and of events.
#pragma once

#include "capi/context.h"
#include "device/exchange.h"

namespace thunder::capi {

struct StreamHandle : Counted<StreamHandle> {
  explicit StreamHandle(Ref<Context> c) : context(std::move(c)) {}
  Ref<Context> context;
  Ref<Accelerator> device;  // null: the CPU
  void* native = nullptr;
};
THUNDER_COUNTED_HANDLE(stream, StreamHandle)

struct EventHandle : Counted<EventHandle> {
  Ref<Accelerator> device;
  std::unique_ptr<DeviceEvent> event;  // ends before its device
};
THUNDER_COUNTED_HANDLE(event, EventHandle)

// The native stream that executors get; null if there is none, and for a stream of the CPU. Throws for a misused
// handle.
void* native_stream(const thunder_stream* stream);

}  // namespace thunder::capi
