// searchsorted: a binary search for each element, in one sequence or in one for each line.
#include "executors/cuda/kernel_rules.h"
#include "ir/prim.h"

namespace thunder::cuda_kernels {
namespace {

// NaN is ordered last.
constexpr char kSearch[] = R"(
__device__ inline bool precedes(C a, C b) { return a < b || (b != b && a == a); }
extern "C" __global__ void kernel(i64* out, const T* sorted, const T* in, i64 size, i64 line, i64 count, i64 right) {
  for (i64 at = blockIdx.x * (i64)blockDim.x + threadIdx.x; at < count; at += (i64)gridDim.x * blockDim.x) {
    const T* const from = sorted + (line ? at / line * size : 0);
    const C wanted = get(in[at]);
    i64 low = 0;
    for (i64 left = size; left > 0;) {
      const i64 half = left / 2;
      const C found = get(from[low + half]);
      const bool beyond = right ? !precedes(wanted, found) : precedes(found, wanted);
      low = beyond ? low + half + 1 : low, left = beyond ? left - half - 1 : half;
    }
    out[at] = low;
  }
}
)";

// searchsorted(sorted_sequence, input, right)
Status* run_search(const CompiledNode& kernel, const Launch& l) {
  const Buffer &sequence = l.inputs[0], &in = l.inputs[1];
  void *to = l.outputs[0].data, *sorted = sequence.data, *from = in.data;
  int64_t size = sequence.shape[sequence.rank - 1], count = in.elements(), right = kernel.node.args[2].i;
  int64_t line = sequence.rank > 1 ? in.shape[in.rank - 1] : 0;
  void* parameters[] = {&to, &sorted, &from, &size, &line, &count, &right};
  return kernel.launch(count, false, parameters);
}

constexpr Rule kRules[] = {
    {.op = name(Prim::searchsorted), .text = kSearch, .element = first_input_dtype, .run = run_search}};

}  // namespace

extern const Rules searches_rules = kRules;

}  // namespace thunder::cuda_kernels
