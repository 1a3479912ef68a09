// Kernels of the caller's for devices other than the CPU, as executors run them.
#pragma once

#include "capi/handle.h"
#include "executors/cuda/kernels/device_kernel.h"

namespace thunder::capi {

// The kind of device that a kernel is for: its index says nothing.
int32_t kind_of(const thunder_kernel_desc& desc);

// Finds `symbol` of `library` where the descriptor has no `run` and no source or image. Throws.
void find_run(thunder_kernel_desc& desc);

// What the descriptor says of a kernel for a device of another kind than the CPU's; its `destroy` stays the caller's of
// this. `schema` lives as long as the result. Throws.
std::unique_ptr<kernels::DeviceKernel> device_kernel(const thunder_kernel_desc& desc, const Schema& schema);

}  // namespace thunder::capi
