// The devices of a context: each is opened when it is first asked for.
#pragma once

#include <map>
#include <mutex>

#include "device/accelerator.h"

namespace thunder {

class Devices {
 public:
  // The allocator of the host's memory; `threads`: as many compile kernels for a device at a time.
  Devices(const Allocator& host, size_t threads) : host_(host), threads_(threads) {}
  Devices(const Devices&) = delete;

  // An allocator of a device's memory. Throws like accelerator(). Any thread.
  Allocator allocator(Device device) {
    if (device == Device::cpu) [[likely]] return host_;
    return accelerator(device).allocator();
  }
  // Requires: the host's allocator, once, before anything else.
  void set_host(const Allocator& host) { host_ = host; }
  // Throws unimplemented for a device that is not here, naming what was tried; backend for one that cannot be used.
  Accelerator& accelerator(Device device);
  // Why a device cannot be used; empty: it is there.
  std::string absence(Device device);

 private:
  Allocator host_;
  const size_t threads_;
  std::mutex mutex_;
  std::map<Device, Ref<Accelerator>> opened_;
};

}  // namespace thunder
