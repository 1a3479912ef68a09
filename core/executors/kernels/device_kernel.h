// How a kind of device runs an op: what a caller registers, and what is made of it for a line.
#pragma once

#include <memory>

#include "device/devices.h"
#include "executors/executor.h"

namespace thunder::kernels {

// A line's kernel, ready to run.
class DeviceStep {
 public:
  virtual ~DeviceStep() = default;
  // When memory is planned and view.inputs and view.outputs say how it lies; may change the scratch size. Throws.
  virtual void lay_out(const NodeView&, size_t* scratch_bytes) { (void)scratch_bytes; }
  // Waits for what was left to other threads. Throws.
  virtual void finish() {}
  // As ExecutorDesc::run.
  virtual Status* run(const Launch&) const = 0;
};

class DeviceKernel {
 public:
  virtual ~DeviceKernel() = default;
  virtual int32_t device_kind() const = 0;
  // Of lines that it runs: kStrided if it takes inputs of any strides, else they are dense; kMayFail of a function of
  // the caller's, which no CUDA graph records.
  virtual uint32_t flags() const = 0;
  // For one line, whose tensors are on one device of that kind, with sizes that are known. `node` lives as long as the
  // step. Throws.
  virtual std::unique_ptr<DeviceStep> prepare(const NodeView& view, Devices& devices) const = 0;
};

// The callbacks of an executor whose states are steps.
struct Steps {
  static Status* lay_out(const NodeView& view, void* state, size_t* scratch_bytes, void* user);
  static Status* finish(void* state);
  static Status* run(const Launch* launch, void* state);
  static void drop(void* state);
};

}  // namespace thunder::kernels
