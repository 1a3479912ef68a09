// Between the device's stream and those of others.
#include "device/cuda/device.h"
#include "device/cuda/event.h"

namespace thunder::nvidia {
namespace {

// The legacy default stream, null or CU_STREAM_LEGACY, synchronizes with blocking streams such as ours.
bool is_legacy(Stream stream) {
  return !stream || stream == reinterpret_cast<Stream>(uintptr_t{1});
}

}  // namespace

Status* CudaDevice::order(Stream first, Stream then) {
  if (Status* failed = enter()) return failed;
  if (first == then || is_legacy(first) || is_legacy(then)) return nullptr;
  std::lock_guard lock(event_mutex_);  // between recording and waiting nobody else may record
  if (Status* failed = status(driver_.event_record(event_, first), "cuEventRecord")) return failed;
  return status(driver_.stream_wait_event(then, event_, 0), "cuStreamWaitEvent");
}

Status* CudaDevice::wait_for(void* stream) {
  Status* const failed = order(static_cast<Stream>(stream), stream_);
  loans_.settle();
  return failed;
}
Status* CudaDevice::make_stream_wait(void* stream) {
  return order(stream_, static_cast<Stream>(stream));
}

Status* CudaDevice::synchronize_stream(void* stream) {
  if (Status* failed = enter()) return failed;
  return status(driver_.stream_wait(static_cast<Stream>(stream)), "cuStreamSynchronize");
}

Status* CudaDevice::query(void* stream, bool& done) {
  if (Status* failed = enter()) return failed;
  const int result = driver_.stream_query(static_cast<Stream>(stream));
  done = result == kSuccess;
  return result == kNotReady ? nullptr : status(result, "cuStreamQuery");
}

std::unique_ptr<DeviceEvent> CudaDevice::event(bool timed) {
  return std::make_unique<CudaEvent>(*this, timed);
}

// A stream that waits for one that is being captured joins that capture.
bool CudaDevice::is_captured(Stream stream) const {
  int capturing = 0;
  return driver_.stream_capturing(stream, &capturing) != kSuccess || capturing;
}

void CudaDevice::give_back(const Storage* of, void (*end)(void*), void* user) {
  if (Status* failed = enter()) failed->release();
  const Stream theirs = loans_.followed(of);
  if (!is_legacy(theirs) && !is_captured(theirs))
    if (Status* failed = order(stream_, theirs)) failed->release();
  loans_.end_behind(stream_, end, user);
}

void CudaDevice::take_back(void* stream) {
  if (Status* failed = enter()) failed->release();
  auto* const theirs = static_cast<Stream>(stream);
  if (is_legacy(theirs) || is_captured(theirs)) return;
  if (Status* failed = order(theirs, stream_)) failed->release();
}

Status* CudaDevice::free_memory(size_t& free, size_t& total) const {
  if (Status* failed = enter()) return failed;
  return status(driver_.memory_info(&free, &total), "cuMemGetInfo");
}

}  // namespace thunder::nvidia
