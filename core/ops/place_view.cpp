#include "ops/place_view.h"

#include <algorithm>

namespace thunder {

bool place_view(const OpDef& op, std::span<const int64_t> sizes, std::span<const Arg> args, std::span<const int64_t> to,
                ViewOf& view) {
  if (std::find(to.begin(), to.end(), 0) == to.end()) return op.view(sizes, args, to, view);
  view.strides = dense_strides(to);
  return true;
}

Ref<Tensor> view_tensor(const OpDef& op, const Tensor& in, std::span<const Arg> args, const TensorType& type) {
  ViewOf v{in.strides()};
  if (!place_view(op, {in.sizes(), in.type().rank()}, args, concrete(type.shape), v)) return {};
  const auto shift = v.offset * static_cast<int64_t>(size_of(type.dtype));
  Ref<Tensor> out = Tensor::view(in.storage(), type, v.strides, in.offset() + static_cast<size_t>(shift));
  if (in.read_only()) out->set_read_only();
  return out;
}

}  // namespace thunder
