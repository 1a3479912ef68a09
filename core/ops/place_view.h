// Strides and offset of a view prim's result, for tensors, traces and memory plans.
#pragma once

#include "ops/op.h"
#include "tensor/tensor.h"

namespace thunder {

// As op.view. What has no elements is dense, wherever its base lies: no step is made in it, and steps computed from its
// strides may not fit in 64 bits.
bool place_view(const OpDef& op, std::span<const int64_t> sizes, std::span<const Arg> args, std::span<const int64_t> to,
                ViewOf& view);
bool place_view(const OpDef& op, std::span<const Dim> sizes, std::span<const Arg> args, std::span<const Dim> to,
                ViewAt<Dim>& view);

// The result of a view prim on a concrete tensor, in its memory. Null: its strides require a copy.
Ref<Tensor> view_tensor(const OpDef& op, const Tensor& in, std::span<const Arg> args, const TensorType& type);

}  // namespace thunder
