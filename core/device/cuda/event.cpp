#include "device/cuda/event.h"

#include "base/text.h"

namespace thunder::nvidia {

CudaEvent::CudaEvent(CudaDevice& device, bool timed) : device_(&device), timed_(timed) {
  Status* failed = device.enter();
  if (!failed)
    failed = device.status(device.driver().event_create(&event_, timed ? kEventWithTime : kEventWithoutTime),
                           "cuEventCreate");
  if (failed) throw Error(Ref<Status>::adopt(failed));
}

CudaEvent::~CudaEvent() {
  if (Status* failed = device_->enter()) failed->release();
  device_->driver().event_destroy(event_);
}

Status* CudaEvent::record(void* stream) {
  if (Status* failed = device_->enter()) return failed;
  return device_->status(device_->driver().event_record(event_, static_cast<Stream>(stream)), "cuEventRecord");
}

Status* CudaEvent::wait() {
  if (Status* failed = device_->enter()) return failed;
  return device_->status(device_->driver().event_wait(event_), "cuEventSynchronize");
}

Status* CudaEvent::query(bool& reached) {
  if (Status* failed = device_->enter()) return failed;
  const int result = device_->driver().event_query(event_);
  reached = result == kSuccess;
  return result == kNotReady ? nullptr : device_->status(result, "cuEventQuery");
}

Status* CudaEvent::make_stream_wait(void* stream) {
  if (Status* failed = device_->enter()) return failed;
  return device_->status(device_->driver().stream_wait_event(static_cast<Stream>(stream), event_, 0),
                         "cuStreamWaitEvent");
}

Status* CudaEvent::elapsed(const DeviceEvent& until, double& ms) const {
  const auto* last = dynamic_cast<const CudaEvent*>(&until);
  if (!last || !timed_ || !last->timed_)
    return make<Status>(Code::failed_precondition, cat(name(device_->id()),
                                                       ": the time between two events needs both "
                                                       "to be made for timing, of one device"))
        .detach();
  if (Status* failed = device_->enter()) return failed;
  float found = 0;
  const int result = device_->driver().event_elapsed(&found, event_, last->event_);
  ms = static_cast<double>(found);
  if (result != kNotReady) return device_->status(result, "cuEventElapsedTime");
  return make<Status>(Code::failed_precondition,
                      cat(name(device_->id()), ": an event was not reached yet; wait for it first"))
      .detach();
}

}  // namespace thunder::nvidia
