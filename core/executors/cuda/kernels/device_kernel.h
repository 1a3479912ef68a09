// The kernel that a caller registers for an op and a kind of device.
#pragma once

#include "device/devices.h"
#include "program/kernel.h"

namespace thunder::kernels {

class DeviceKernel {
 public:
  virtual ~DeviceKernel() = default;
  virtual int32_t device_kind() const = 0;
  // Prepares the kernel for one node, whose tensors have known sizes and are on one device of that kind. It must live
  // as long as the result. Throws.
  virtual KernelPtr prepare(const NodeView& view, Devices& devices) const = 0;
};

}  // namespace thunder::kernels
