// Events of the device that a world drives, which are made once and used again: each collective needs two.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "device/exchange.h"

namespace thunder::scale {

class Events : public std::enable_shared_from_this<Events> {
 public:
  // One that comes back when it is let go of. Throws. Any thread.
  std::shared_ptr<DeviceEvent> take(Accelerator& device) {
    std::unique_ptr<DeviceEvent> event;
    {
      const std::lock_guard lock(mutex_);
      if (&device == device_ && !free_.empty()) event = std::move(free_.back()), free_.pop_back();
    }
    if (!event) event = exchange_of(device).event(false);
    return {event.release(), [to = weak_from_this(), &device](DeviceEvent* given) {
              std::unique_ptr<DeviceEvent> owned(given);
              if (const auto events = to.lock()) events->give_back(device, std::move(owned));
            }};
  }

 private:
  void give_back(Accelerator& device, std::unique_ptr<DeviceEvent> event) {
    const std::lock_guard lock(mutex_);
    if (&device != device_) free_.clear(), device_ = &device;
    if (free_.size() < kMost) free_.push_back(std::move(event));
  }

  static constexpr size_t kMost = 256;
  std::mutex mutex_;
  const Accelerator* device_ = nullptr;  // of those that are free
  std::vector<std::unique_ptr<DeviceEvent>> free_;
};

}  // namespace thunder::scale
