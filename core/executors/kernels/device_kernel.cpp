#include "executors/kernels/device_kernel.h"

#include <algorithm>

#include "base/thrown.h"

namespace thunder::kernels {
namespace {

DeviceStep& step(void* state) {
  return *static_cast<DeviceStep*>(state);
}

}  // namespace

bool is_on_one_device(const NodeView& view, int32_t device_kind) {
  bool all = true;
  Device device = Device::none;
  const auto look = [&](ValueId v) {
    const TensorType& t = view.store.type(v);
    if (device == Device::none) device = t.device;
    all = all && t.device == device && kind(device) == device_kind &&
          std::all_of(t.shape.begin(), t.shape.end(), [](Dim d) { return d.constant(); });
  };
  for_each_value(view.node.args, look);
  for (ValueId r : view.node.results) look(r);
  return all && device != Device::none;
}

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
