#include "device/devices.h"

#include "base/text.h"
#include "device/cuda/device.h"

namespace thunder {

Accelerator& Devices::accelerator(Device device) {
  if (kind(device) != kCudaKind) fail(Code::unimplemented, "there is no device ", name(device), " here");
  std::lock_guard lock(mutex_);
  Ref<Accelerator>& slot = opened_[device];
  if (!slot) {
    Ref<nvidia::CudaDevice> opened = nvidia::CudaDevice::open(index(device), threads_);
    slot = Ref<Accelerator>(opened.get());
  }
  return *slot;
}

Exchange& exchange_of(Accelerator& device) { return static_cast<nvidia::CudaDevice&>(device); }

std::string Devices::absence(Device device) {
  if (device == Device::cpu) return "";
  try {
    accelerator(device);
    return "";
  } catch (const Error& e) {
    return e.message();
  }
}

}  // namespace thunder
