// thunder_stream_*, thunder_event_*: orders of work on a device and points in them. Work on the CPU is done when the
// call that asked for it returns; a device's is done on one stream of the context's, before and after which a caller's
// own stream is made to wait.
#include "capi/stream.h"

using namespace thunder;
using namespace thunder::capi;

namespace thunder::capi {

void* native_stream(const thunder_stream* stream) {
  need_if_given(stream, "stream");
  return stream ? core(stream)->native : nullptr;
}

}  // namespace thunder::capi

namespace {

void throw_if_failed(Status* failed) {
  if (failed) throw Error(Ref<Status>::adopt(failed));
}

// Of a stream of the event's device.
void* native_stream_for(const thunder_stream& stream, const thunder_event& event) {
  const StreamHandle& s = *core(&stream);
  check(s.device.get() == core(&event)->device.get(), "the stream is of another device than the event, which is of ",
        name(core(&event)->device->id()));
  return s.native;
}

}  // namespace

extern "C" {

thunder_status* thunder_stream_create(thunder_context* context, thunder_device device, void* native,
                                      thunder_stream** out) noexcept {
  return given(guarded(__func__, [&] {
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
  return given(guarded(__func__, [&] {
    need(stream, "stream");
    const StreamHandle& s = *core(stream);
    if (!s.device) return;
    throw_if_failed(s.native == s.device->native_stream() ? s.device->wait() : s.device->synchronize_stream(s.native));
  }));
}

void thunder_stream_release(thunder_stream* stream) noexcept {
  released(stream);
}

void* thunder_stream_native(const thunder_stream* stream) noexcept {
  const StreamHandle* const s = core(stream);
  return s ? s->native : nullptr;
}

thunder_status* thunder_stream_query(thunder_stream* stream, int32_t* done) noexcept {
  return given(guarded(__func__, [&] {
    need(stream, "stream"), need(done, "done");
    bool is_done = true;
    if (const StreamHandle& s = *core(stream); s.device)
      throw_if_failed(exchange_of(*s.device).query(s.native, is_done));
    *done = is_done;
  }));
}

thunder_status* thunder_stream_wait_event(thunder_stream* stream, thunder_event* event) noexcept {
  return given(guarded(__func__, [&] {
    need(stream, "stream"), need(event, "event");
    throw_if_failed(core(event)->event->make_stream_wait(native_stream_for(*stream, *event)));
  }));
}

thunder_status* thunder_event_create(thunder_context* context, thunder_device device, int32_t timed,
                                     thunder_event** out) noexcept {
  return given(guarded(__func__, [&] {
    need(context, "context"), need(out, "out");
    const Device on = device_of(*core(context), device);
    check(on != Device::cpu, "the CPU has no events: what it is asked for is done when the call returns");
    auto made = make<EventHandle>();
    made->device = Ref<Accelerator>(&core(context)->devices().accelerator(on));
    made->event = exchange_of(*made->device).event(timed != 0);
    *out = given(std::move(made));
  }));
}

thunder_status* thunder_event_record(thunder_event* event, thunder_stream* stream) noexcept {
  return given(guarded(__func__, [&] {
    need(event, "event"), need(stream, "stream");
    throw_if_failed(core(event)->event->record(native_stream_for(*stream, *event)));
  }));
}

thunder_status* thunder_event_wait(thunder_event* event) noexcept {
  return given(guarded(__func__, [&] {
    need(event, "event");
    throw_if_failed(core(event)->event->wait());
  }));
}

thunder_status* thunder_event_query(thunder_event* event, int32_t* reached) noexcept {
  return given(guarded(__func__, [&] {
    need(event, "event"), need(reached, "reached");
    bool is_reached = false;
    throw_if_failed(core(event)->event->query(is_reached));
    *reached = is_reached;
  }));
}

thunder_status* thunder_event_elapsed(thunder_event* first, thunder_event* last, double* ms) noexcept {
  return given(guarded(__func__, [&] {
    need(first, "first"), need(last, "last"), need(ms, "ms");
    throw_if_failed(core(first)->event->elapsed(*core(last)->event, *ms));
  }));
}

void thunder_event_release(thunder_event* event) noexcept {
  released(event);
}

}  // extern "C"
