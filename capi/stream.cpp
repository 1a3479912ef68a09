// thunder_stream_*: orders of work on a device. Work on the CPU is done when the call that asked for it returns; a
// device's is done on one stream of the context's, before and after which a caller's own stream is made to wait.
#include "capi/trace.h"

using namespace thunder;
using namespace thunder::capi;

namespace thunder::capi {

struct StreamHandle : Counted<StreamHandle> {
  explicit StreamHandle(Ref<Context> c) : context(std::move(c)) {}
  Ref<Context> context;
  Ref<Accelerator> device;  // null: the CPU
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
    const Device on = device_of(*core(context), device);
    auto made = make<StreamHandle>(Ref<Context>(core(context)));
    check(on != Device::cpu || !native, "the CPU has no streams of its own; native must be NULL");
    if (on != Device::cpu) {
      made->device = Ref<Accelerator>(&core(context)->devices().accelerator(on));
      made->native = native ? native : made->device->native_stream();
    }
    *out = given(std::move(made));
  }));
}

thunder_status* thunder_stream_wait(thunder_stream* stream) noexcept {
  return handle(guarded(__func__, [&] {
    need(stream, "stream");
    const StreamHandle& s = *core(stream);
    if (!s.device) return;
    if (Status* failed = s.native == s.device->native_stream() ? s.device->wait() : s.device->wait_on(s.native))
      throw Error(Ref<Status>::adopt(failed));
  }));
}

void thunder_stream_release(thunder_stream* stream) noexcept { released(stream); }

}  // extern "C"
