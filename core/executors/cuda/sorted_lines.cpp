#include "executors/cuda/sorted_lines.h"

namespace thunder::cuda_kernels {

int64_t size_of_line(const NodeView& view) {
  const Shape& shape = view.store.type(view.node.args[0].v).shape;
  return shape.empty() ? 1 : shape[normalize_axis(view.node.args[1].i, shape.size())].value();
}

std::vector<Digit> digits_of_key(DType d) {
  const int64_t bits = 8 * static_cast<int64_t>(line_key_bytes(d));
  constexpr int64_t kBitsOfByte = 8, kEmptyInBf16 = 16, kEmptyInF16 = 8;
  std::vector<Digit> digits;
  int64_t first = d == DType::bf16 ? kEmptyInBf16 : d == DType::f16 ? kEmptyInF16 : 0;
  const int64_t end = d == DType::boolean || d == DType::u8 ? kBitsOfByte : bits;
  for (; first < end; first += kBitsOfByte) digits.push_back({first, 0});
  return digits;
}

size_t line_key_bytes(DType d) { return size_of(d) == sizeof(uint64_t) ? sizeof(uint64_t) : sizeof(uint32_t); }

Status* sort_lines(const CompiledNode& kernel, RadixSort& sort, const Buffer& in, DimSizes lines, int64_t descending,
                   size_t first_step) {
  int64_t count = in.elements();
  void *keys = sort.keys(), *input = in.data;
  void* naming[] = {&keys, &input, &count, &lines.size, &lines.inner, &descending};
  if (Status* failed = kernel.launch(count, false, naming, first_step)) return failed;
  std::vector<Digit> digits = digits_of_key(in.dtype);
  const std::vector<Digit> of_rows =
      digits_of_numbers_below(static_cast<uint64_t>(lines.outer * lines.inner), lines.size);
  digits.insert(digits.end(), of_rows.begin(), of_rows.end());
  return sort.run(kernel, first_step + 1, digits);
}

}  // namespace thunder::cuda_kernels
