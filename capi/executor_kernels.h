// The kernels that an executor of the caller's runs ops with.
#pragma once

#include <string>
#include <unordered_map>

#include "capi/context.h"
#include "capi/kernel.h"

namespace thunder::capi {

class ExecutorKernels {
 public:
  // Owns what the kernels' descriptors own from here on, also when it throws.
  ExecutorKernels(const thunder_executor_desc& executor, Context& context);
  ~ExecutorKernels();
  ExecutorKernels(const ExecutorKernels&) = delete;

  // The kernel for a node on a device of that kind; null: there is none.
  const kernels::DeviceKernel* find(const NodeView& view) const;
  std::vector<std::string> ops() const;
  bool has_device_kernels() const { return on_devices_; }  // some are for others than the CPU

 private:
  std::vector<thunder_kernel_desc> descs_;  // kept in place: kernels refer to them
  std::unordered_map<std::string, std::unique_ptr<kernels::DeviceKernel>> by_op_;
  bool on_devices_ = false;
};

}  // namespace thunder::capi
