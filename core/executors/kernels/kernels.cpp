#include "executors/kernels/kernels.h"

#include "base/thrown.h"
#include "executors/kernels/device_kernel.h"

namespace thunder {
namespace {

using kernels::DeviceKernel;

const DeviceKernel* kernel_of(const NodeView& view) {
  const DeviceKernel* const found = def(view.node).device_kernel(kCudaKind);
  return found && is_on_one_device(view, kCudaKind) ? found : nullptr;
}

bool claim(const NodeView& view, void*) { return kernel_of(view) != nullptr; }

uint32_t flags_of(const NodeView& view, void*) { return kernel_of(view)->flags(); }

Status* prepare(const NodeView& view, void** state, size_t* scratch_bytes, void* user) {
  return caught([&]() -> Status* {
    *state = kernel_of(view)->prepare(view, *static_cast<Devices*>(user)).release();
    *scratch_bytes = 0;
    return nullptr;
  });
}

}  // namespace

ExecutorDesc kernels_executor(Devices& devices) {
  ExecutorDesc d;
  d.name = "kernels";
  d.flags = kAnyDevice;
  d.flags_of = flags_of;
  d.user = &devices;
  d.claim = claim;
  d.prepare = prepare;
  use_prepared_ops(d);
  return d;
}

}  // namespace thunder
