// What the device tells whoever waits for it next: indices out of range that kernels met, and work that has no result.
#include <atomic>
#include <thread>

#include "device/cuda/device.h"

namespace thunder::nvidia {
namespace {

constexpr size_t kPlaces = 256;  // DeviceAssertions in a page of host memory

}  // namespace

// Where nothing that may stall is queued it leaves the waiting to the driver.
Status* CudaDevice::look_until_idle() {
  for (bool idle = false; stalls_ > 0 && !idle; std::this_thread::yield())
    if (Status* failed = query(stream_, idle)) return failed;
  return nullptr;
}

DeviceAssertion* CudaDevice::watch(Explain explain) {
  std::lock_guard lock(watched_mutex_);
  for (Watched& w : watched_)
    if (!w.explain) return *w.place = DeviceAssertion(), w.explain = std::move(explain), w.place;
  watched_.reserve(watched_.size() + kPlaces);
  pages_.reserve(pages_.size() + 1);
  if (Status* failed = enter()) throw Error(Ref<Status>::adopt(failed));
  void* page = nullptr;
  const int result = driver_.allocate_host(&page, kPlaces * sizeof(DeviceAssertion),
                                           kPortableHostMemory | kMappedHostMemory);
  if (Status* failed = status(result, "cuMemHostAlloc")) throw Error(Ref<Status>::adopt(failed));
  pages_.push_back(static_cast<DeviceAssertion*>(page));
  for (size_t i = 0; i < kPlaces; i++) watched_.push_back({new (pages_.back() + i) DeviceAssertion, nullptr});
  watched_[watched_.size() - kPlaces].explain = std::move(explain);
  return pages_.back();
}

void CudaDevice::unwatch(DeviceAssertion* place) {
  std::lock_guard lock(watched_mutex_);
  for (Watched& w : watched_)
    if (w.place == place) w.ended = true;
}

void CudaDevice::fail_next_wait(Ref<Status> why) {
  DeviceAssertion* const place = watch([why = std::move(why)](const DeviceAssertion&) { return why; });
  std::atomic_ref(place->expr).store(0);
  unwatch(place);
}

// Requires: the device is idle.
Status* CudaDevice::take_failed_assertion() {
  std::lock_guard lock(watched_mutex_);
  for (Watched& w : watched_) {
    const int64_t expr = std::atomic_ref(w.place->expr).load(std::memory_order_relaxed);
    if (!w.explain) continue;
    const Explain explain = w.ended ? std::exchange(w.explain, nullptr) : w.explain;
    w.ended = false;
    if (expr >= 0) return explain(std::exchange(*w.place, DeviceAssertion())).detach();
  }
  return nullptr;
}

}  // namespace thunder::nvidia
