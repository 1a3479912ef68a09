// Kernels of the caller's for devices other than the CPU, as executors run them.
#pragma once

#include "capi/handle.h"
#include "executors/cuda/kernels/device_kernel.h"

namespace thunder::capi {

// The kind of device that a kernel is for; the device's index is ignored.
int32_t kind_of(const thunder_kernel_desc& desc);

// Finds `symbol` of `library` where the descriptor has no `run` and no source or image. Throws.
void find_run(thunder_kernel_desc& desc);

// Reads the descriptor of a kernel for a device other than the CPU; the caller still calls its `destroy`. `schema` must
// live as long as the result. Throws.
std::unique_ptr<kernels::DeviceKernel> device_kernel(const thunder_kernel_desc& desc, const Schema& schema);

}  // namespace thunder::capi
