// The kernel that a caller registers for an op and a kind of device.
#pragma once

#include "device/devices.h"
#include "executors/prepared_op.h"

namespace thunder::kernels {

class DeviceKernel {
 public:
  virtual ~DeviceKernel() = default;
  virtual int32_t device_kind() const = 0;
  // Of the nodes that it runs: kStrided if it takes inputs of any strides; kMayFail for a function of the caller's,
  // which no CUDA graph records.
  virtual uint32_t flags() const = 0;
  // For one node, whose tensors have known sizes and are on one device of that kind. It must live as long as the
  // result. Throws.
  virtual PreparedOpPtr prepare(const NodeView& view, Devices& devices) const = 0;
};

}  // namespace thunder::kernels
