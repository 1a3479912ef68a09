// Work that a thread asks devices for.
#pragma once

#include <span>

#include "device/exchange.h"

namespace thunder {

// From begin() to end(), or to its own end, work is asked for: on the caller's stream, where there is one. What returns
// a Status returns null or an owned one.
class DeviceWork {
 public:
  DeviceWork(std::span<Accelerator* const> devices, void* stream) : devices_(devices), stream_(stream) {}
  ~DeviceWork() {
    if (Status* failed = end()) failed->release();
  }
  DeviceWork(const DeviceWork&) = delete;

  Status* begin() {
    for (; begun_ < devices_.size(); begun_++)
      if (Status* failed = exchange_of(*devices_[begun_]).begin(stream_)) return failed;
    return nullptr;
  }
  // What it reports first; the others end, too.
  Status* end() noexcept {
    Status* first = nullptr;
    while (begun_) {
      Status* const failed = exchange_of(*devices_[--begun_]).end(stream_);
      if (first && failed) failed->release();
      else if (failed) first = failed;
    }
    return first;
  }

 private:
  const std::span<Accelerator* const> devices_;
  void* const stream_;
  size_t begun_ = 0;
};

}  // namespace thunder
