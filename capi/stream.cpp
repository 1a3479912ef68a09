// thunder_stream_*: orders of work on a device. Work on the CPU is done when the call that asked for it returns.
#include "capi/trace.h"

using namespace thunder;
using namespace thunder::capi;

namespace thunder::capi {

struct StreamHandle : Counted<StreamHandle> {
  explicit StreamHandle(Ref<Context> c) : context(std::move(c)) {}
  Ref<Context> context;
  void* native = nullptr;
};
THUNDER_COUNTED_HANDLE(thunder_stream, StreamHandle)

void* native_stream(const thunder_stream* stream) { return stream ? core(stream)->native : nullptr; }

}  // namespace thunder::capi

extern "C" {

thunder_status* thunder_stream_create(thunder_context* context, thunder_device device, void* native,
                                      thunder_stream** out) noexcept {
  return handle(guarded(__func__, [&] {
    need(context, "context"), need(out, "out");
    device_of(device);
    check(!native, "the CPU has no streams of its own; native must be NULL");
    *out = given(make<StreamHandle>(Ref<Context>(core(context))));
  }));
}

thunder_status* thunder_stream_wait(thunder_stream* stream) noexcept {
  return handle(guarded(__func__, [&] { need(stream, "stream"); }));
}

void thunder_stream_release(thunder_stream* stream) noexcept { released(stream); }

}  // extern "C"
