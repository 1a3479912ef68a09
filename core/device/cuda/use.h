// Whoever asks a device for work, while the stream stays what it is.
#pragma once

#include "device/cuda/device.h"

namespace thunder::nvidia {

class CudaDevice::Use {
 public:
  explicit Use(CudaDevice& device) : device_(device) {
    std::lock_guard lock(device_.users_mutex_);
    device_.users_++;
  }
  ~Use() {
    std::lock_guard lock(device_.users_mutex_);
    device_.users_--;
  }
  Use(const Use&) = delete;

 private:
  CudaDevice& device_;
};

}  // namespace thunder::nvidia
