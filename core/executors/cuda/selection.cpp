#include "executors/cuda/selection.h"

namespace thunder::cuda_kernels {
namespace {

// Mirrored in the text.
constexpr int64_t kBlock = 16384, kDigits = 256;
struct Selected {
  uint64_t key, key_bits;
  uint32_t number, number_bits, left, is_found, blocks, taken;
};
struct Narrowing {
  uint64_t key_bits = 0, number_bits = 0;
  int64_t shift = 0, by_number = 0;
};

size_t zeroed_bytes(int64_t rows) {
  return static_cast<size_t>(rows) * (sizeof(Selected) + static_cast<size_t>(kDigits) * sizeof(uint32_t));
}

// From the most significant digit of the key to the least of the place.
std::vector<Narrowing> plan_narrowings(DType dtype, int64_t size) {
  constexpr uint64_t kDigit = kDigits - 1;
  const std::vector<Digit> of_key = digits_of_key(dtype),
                           of_number = digits_of_numbers_below(static_cast<uint64_t>(size), 0);
  std::vector<Narrowing> out;
  Narrowing next;
  for (size_t i = of_key.size(); i-- > 0;) {
    next.shift = of_key[i].shift, out.push_back(next);
    next.key_bits |= kDigit << next.shift;
  }
  next.by_number = 1;
  for (size_t i = of_number.size(); i-- > 0;) {
    next.shift = of_number[i].shift, out.push_back(next);
    next.number_bits |= kDigit << next.shift;
  }
  return out;
}

}  // namespace

size_t selection_scratch(int64_t rows, int64_t wanted, size_t key_bytes) {
  return zeroed_bytes(rows) + static_cast<size_t>(rows * wanted) * (key_bytes + sizeof(uint32_t));
}

Status* select(const CompiledNode& kernel, const Launch& l, DimSizes a, int64_t descending, int64_t wanted,
               size_t first_step) {
  int64_t rows = a.outer * a.inner, blocks = (a.size + kBlock - 1) / kBlock;
  auto* const scratch = static_cast<std::byte*>(l.scratch);
  const size_t key_bytes = line_key_bytes(l.inputs[0].dtype);
  void *of_rows = scratch, *counts = scratch + static_cast<size_t>(rows) * sizeof(Selected),
       *keys = scratch + zeroed_bytes(rows),
       *numbers = scratch + zeroed_bytes(rows) + static_cast<size_t>(rows * wanted) * key_bytes;
  void *values = l.outputs[0].data, *indices = l.outputs[1].data, *in = l.inputs[0].data;
  if (Status* failed = kernel.device.fill_with_zeros(scratch, zeroed_bytes(rows))) return failed;
  for (Narrowing n : plan_narrowings(l.inputs[0].dtype, a.size)) {
    void* narrowing[] = {&of_rows, &counts, &in, &rows, &a.size, &a.inner, &blocks, &descending, &wanted, &n};
    if (Status* failed = kernel.launch(rows * blocks, true, narrowing, first_step)) return failed;
  }
  void* taking[] = {&values, &indices, &of_rows, &keys,   &numbers,    &in,
                    &rows,   &a.size,  &a.inner, &blocks, &descending, &wanted};
  return kernel.launch(rows * blocks, true, taking, first_step + 1);
}

}  // namespace thunder::cuda_kernels
