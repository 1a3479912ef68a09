#include "executors/kernels/kernels.h"

#include "base/thrown.h"
#include "executors/kernels/device_kernel.h"

namespace thunder {
namespace {

using kernels::DeviceKernel;

const DeviceKernel* kernel_of(const NodeView& view) {
  const DeviceKernel* const found = def(view.node).device_kernel(kCudaKind);
  return found && kernels::is_on_one_device(view, kCudaKind) ? found : nullptr;
}

template <bool strided, bool function>
bool claim(const NodeView& view, void*) {
  const DeviceKernel* const found = kernel_of(view);
  return found && found->strided() == strided && found->is_function() == function;
}

Status* prepare(const NodeView& view, void** state, size_t* scratch_bytes, void* user) {
  return caught([&]() -> Status* {
    *state = kernel_of(view)->prepare(view, *static_cast<Devices*>(user)).release();
    *scratch_bytes = 0;
    return nullptr;
  });
}

template <bool strided, bool function>
ExecutorDesc executor(const char* name, Devices& devices) {
  ExecutorDesc d;
  d.name = name;
  d.flags = kAnyDevice | (strided ? kStrided : 0u) | (function ? kMayFail : 0u);
  d.user = &devices;
  d.claim = claim<strided, function>;
  d.prepare = prepare;
  d.lay_out = kernels::Steps::lay_out;
  d.finish = kernels::Steps::finish;
  d.run = kernels::Steps::run;
  d.drop = kernels::Steps::drop;
  return d;
}

}  // namespace

std::array<ExecutorDesc, 4> kernels_executors(Devices& devices) {
  return {executor<false, false>("kernels", devices), executor<true, false>("strided_kernels", devices),
          executor<false, true>("kernel_functions", devices),
          executor<true, true>("strided_kernel_functions", devices)};
}

}  // namespace thunder
