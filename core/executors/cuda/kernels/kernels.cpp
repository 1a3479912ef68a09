#include "executors/cuda/kernels/kernels.h"

#include "executors/cuda/kernels/device_kernel.h"

namespace thunder {
namespace {

using kernels::DeviceKernel;

const DeviceKernel* kernel_of(const NodeView& view) {
  const DeviceKernel* const found = def(view.node).device_kernel(kCudaKind);
  return found && is_on_one_device(view, kCudaKind) ? found : nullptr;
}

bool claim(const NodeView& view, void*) { return kernel_of(view) != nullptr; }

KernelPtr prepare(const NodeView& view, void* user) {
  return kernel_of(view)->prepare(view, *static_cast<Devices*>(user));
}

}  // namespace

ExecutorDesc kernels_executor(Devices& devices) {
  return {.name = "kernels",
          .any_device = true,
          .claims_any_size = true,
          .user = &devices,
          .claim = claim,
          .prepare = prepare};
}

}  // namespace thunder
