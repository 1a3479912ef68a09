#include "executors/kernels/device_kernel.h"

#include "base/thrown.h"

namespace thunder::kernels {
namespace {

DeviceStep& step(void* state) {
  return *static_cast<DeviceStep*>(state);
}

}  // namespace

Status* Steps::lay_out(const NodeView& view, void* state, size_t* scratch_bytes, void*) {
  return caught([&]() -> Status* { return step(state).lay_out(view, scratch_bytes), nullptr; });
}
Status* Steps::finish(void* state) {
  return caught([&]() -> Status* { return step(state).finish(), nullptr; });
}
Status* Steps::run(const Launch* launch, void* state) {
  return step(state).run(*launch);
}
void Steps::drop(void* state) {
  delete static_cast<DeviceStep*>(state);
}

}  // namespace thunder::kernels
