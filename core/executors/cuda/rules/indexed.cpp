// Reads at positions that index tensors give.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "executors/cuda/indices.h"
#include "ir/prim.h"

namespace thunder::cuda_kernels {
namespace {

constexpr char kIndex[] = THUNDER_CUDA_INDICES R"(
extern "C" __global__ void kernel(
    T* out, const T* in, const Indices x, i64 inner, i64 count, DeviceAssertion* assertion) {
  for (i64 at = blockIdx.x * (i64)blockDim.x + threadIdx.x; at < count * inner; at += (i64)gridDim.x * blockDim.x) {
    const i64 m = at / inner;
    out[at] = in[place_of(x, m, assertion).number * inner + (at - m * inner)];
  }
}
)";

// index(input, indices)
DimSizes sizes_of(const Buffer& whole, size_t indexed) {
  DimSizes a;
  for (size_t i = 0; i < static_cast<size_t>(whole.rank); i++) (i < indexed ? a.size : a.inner) *= whole.shape[i];
  return a;
}
Status* run_index(const CompiledNode& kernel, const Launch& l) {
  const std::span<const Buffer> tensors(l.inputs + 1, l.n_inputs - 1);
  Indices x = make_indices(tensors, l.inputs[0], 0, true);
  DimSizes a = sizes_of(l.inputs[0], tensors.size());
  int64_t count = tensors[0].elements();
  std::array<int64_t, kMostIndices + 1> dense;
  dense.fill(1);
  x.positions.add(count, dense);
  void *to = l.outputs[0].data, *from = l.inputs[0].data;
  nvidia::DeviceAssertion* assertion = kernel.assertion;
  void* parameters[] = {&to, &from, &x, &a.inner, &count, &assertion};
  return kernel.launch(count * a.inner, false, parameters);
}
constexpr Rule kRules[] = {
    {name(Prim::index), takes_index, kIndex, first_input_dtype, describe_indexed_dims, run_index},
};

}  // namespace

extern const Rules indexed_rules = kRules;

}  // namespace thunder::cuda_kernels
