#include "executors/cuda/block_sort.h"

namespace thunder::cuda_kernels {
namespace {

// Mirrored in the text: of the shorter kind of lines; the longer ones have twice as many elements.
int64_t max_short_line(DType d) {
  constexpr int64_t kThreads = 256, kItems = 8;
  return kThreads * kItems * (size_of(d) <= sizeof(uint16_t) ? 2 : 1);
}

}  // namespace

bool fits_into_block(DType d, int64_t size) {
  return size_of(d) <= sizeof(uint32_t) && size <= 2 * max_short_line(d);
}

Status* sort_in_blocks(const CompiledNode& kernel, const Launch& l, DimSizes a, int64_t descending,
                       size_t first_step) {
  void *values = l.outputs[0].data, *indices = l.outputs[1].data, *in = l.inputs[0].data;
  int64_t rows = a.outer * a.inner;
  void* parameters[] = {&values, &indices, &in, &rows, &a.size, &a.inner, &descending};
  return kernel.launch(rows, true, parameters, first_step + (a.size > max_short_line(l.inputs[0].dtype)));
}

}  // namespace thunder::cuda_kernels
