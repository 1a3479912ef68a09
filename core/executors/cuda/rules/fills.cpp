// Tensors that are filled with one number.
#include "executors/cuda/kernel_rules.h"
#include "ir/prim.h"

namespace thunder::cuda_kernels {
namespace {

// Integers that have no exact double are passed as integers.
constexpr char kFull[] = R"(
extern "C" __global__ void kernel(T* out, double value, i64 integer, int whole, i64 count) {
  for (i64 at = blockIdx.x * (i64)blockDim.x + threadIdx.x; at < count; at += (i64)gridDim.x * blockDim.x)
    out[at] = put(whole ? (C)integer : from_real(value));
}
)";

// full(shape, value, dtype, device)
Status* run_full(const CompiledNode& kernel, const Launch& l) {
  void* out = l.outputs[0].data;
  const Arg& number = kernel.node.args[1];
  double value = number_of(number);
  int64_t integer = number.i, count = l.outputs[0].elements();
  int whole = number.kind == ArgKind::integer;
  void* parameters[] = {&out, &value, &integer, &whole, &count};
  return kernel.launch(count, false, parameters);
}

constexpr Rule kRules[] = {{name(Prim::full), nullptr, kFull, first_result_dtype, nullptr, run_full}};

}  // namespace

extern const Rules fills_rules = kRules;

}  // namespace thunder::cuda_kernels
