// cat of more operands than a kernel of fusion has: a copy of each.
#include "executors/cuda/kernel_rules.h"
#include "ir/prim.h"
#include "tensor/transfer.h"

namespace thunder::cuda_kernels {
namespace {

// cat(tensors, dim)
Status* run_cat(const CompiledNode& kernel, const Launch& l) {
  const Buffer& out = l.outputs[0];
  const size_t dim = normalize_axis(kernel.node.args[1].i, static_cast<size_t>(out.rank));
  auto* to = out.as<std::byte>();
  for (size_t i = 0; i < l.n_inputs; i++) {
    Buffer part = out;
    part.shape = l.inputs[i].shape, part.data = to;
    if (part.elements())
      if (Status* failed = copy_on_device(kernel.device, l.inputs[i], part)) return failed;
    to += l.inputs[i].shape[dim] * out.strides[dim] * static_cast<int64_t>(size_of(out.dtype));
  }
  return nullptr;
}

constexpr Rule kRules[] = {
    {.op = name(Prim::cat), .run = run_cat, .flags = kStrided}};

}  // namespace

extern const Rules concat_rules = kRules;

}  // namespace thunder::cuda_kernels
