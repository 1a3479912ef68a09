#include "ops/place_view.h"

#include <algorithm>

namespace thunder {
namespace {

Sizes dense(std::span<const int64_t> sizes) { return dense_strides(sizes); }
Shape dense(std::span<const Dim> sizes) { return dense_stride_formulas(sizes); }

template <class Size>
bool place(ViewFn<Size> rule, std::span<const Size> sizes, std::span<const Arg> args, std::span<const Size> to,
           ViewAt<Size>& view) {
  if (std::none_of(to.begin(), to.end(), [](Size size) { return is_equal(size, 0); }))
    return rule(sizes, args, to, view);
  view.strides = dense(to);
  return true;
}

}  // namespace

bool place_view(const OpDef& op, std::span<const int64_t> sizes, std::span<const Arg> args, std::span<const int64_t> to,
                ViewOf& view) {
  return place(op.view.numbers, sizes, args, to, view);
}

bool place_view(const OpDef& op, std::span<const Dim> sizes, std::span<const Arg> args, std::span<const Dim> to,
                ViewAt<Dim>& view) {
  return place(op.view.symbols, sizes, args, to, view);
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
