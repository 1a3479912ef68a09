#include "executors/convolution/convolution.h"

#include <algorithm>
#include <array>

#include "executors/convolution/sites.h"

namespace thunder {
namespace {

struct Row {
  std::string_view op;
  MakeConvolution make;
};
constexpr std::array kRows = {
    Row{"prims.conv2d", convolution_forward},
    Row{"prims.conv2d_input_grad", convolution_input_grad},
    Row{"prims.conv2d_weight_grad", convolution_weight_grad},
};

bool claim(const NodeView& view, void*) {
  bool takes = true;
  const auto check = [&](ValueId v) {
    const TensorType& t = view.store.type(v);
    takes = takes && t.dtype == DType::f32 && t.device == Device::cpu;
  };
  for_each_value(view.node.args, check);
  for (ValueId r : view.node.results) check(r);
  return takes;
}

Status* prepare(const NodeView& view, void** state, size_t* scratch, void* user) {
  const auto row = std::find_if(kRows.begin(), kRows.end(), [&](const Row& r) { return r.op == view.node.op->name(); });
  std::unique_ptr<Site> site = row->make(*static_cast<const Kernels*>(user), view, scratch);
  if (!site) return make<Status>(Code::declined, "an image with its padding has more elements than offsets count").detach();
  *state = site.release();
  return nullptr;
}

}  // namespace

std::optional<ExecutorDesc> convolution_executor(Instructions with) {
  const Kernels* kernels = kernels_for(with);
  if (!kernels) return std::nullopt;
  ExecutorDesc d;
  d.name = "convolution";
  for (const Row& r : kRows) d.ops.emplace_back(r.op);
  d.flags = kStrided;
  d.user = const_cast<Kernels*>(kernels);
  d.claim = claim;
  d.prepare = prepare;
  d.run = run_site;
  d.drop = drop_site;
  return d;
}

}  // namespace thunder
