// kthvalue and median: a block finds the element of a line that has a rank in its order, one digit of its key after the
// other, and its place among those of equal keys. Very long lines are sorted.
#include "executors/cuda/sorted_lines.h"
#include "ir/prim.h"

namespace thunder::cuda_kernels {
namespace {

constexpr size_t kKeysStep = 1, kTakeStep = 4;
// Longer lines are sorted.
constexpr int64_t kLongLine = 1 << 16;

constexpr char kRank[] = THUNDER_CUDA_LINES THUNDER_CUDA_RADIX R"(
// `middle`: the rank is the lower middle, 1, of all elements, and behind them if one is NaN; 2, of those that are not.
extern "C" __global__ void kernel(T* values, i64* indices, const T* in, i64 rows, i64 size, i64 inner, i64 rank,
                                  i64 middle) {
  __shared__ u32 counts[256];
  __shared__ u32 shared[8];
  __shared__ Key found;
  __shared__ i64 wanted;
  const int own = threadIdx.x;
  for (i64 row = blockIdx.x; row < rows; row += gridDim.x) {
    const i64 outer = row / inner, column = row - outer * inner;
    const T* const line = in + outer * size * inner + column;
    if (middle) {
      i64 numbers = 0;
      for (i64 first = 0; first < size; first += blockDim.x) {
        const i64 i = first + own;
        const C v = i < size ? get(line[i * inner]) : (C)0;
        numbers += __syncthreads_count(i < size && v == v);
      }
      rank = middle == 2 || numbers == size ? (numbers ? (numbers - 1) / 2 : 0) : numbers;
    }
    __syncthreads();
    if (own == 0) found = 0, wanted = rank;
    for (int shift = 8 * sizeof(Key) - 8; shift >= 0; shift -= 8) {
      counts[own] = 0;
      __syncthreads();
      const Key above = shift + 8 == 8 * sizeof(Key) ? (Key)0 : (Key)(~(Key)0 << shift << 8), prefix = found;
      for (i64 i = own; i < size; i += blockDim.x) {
        const Key key = ordered(get(line[i * inner]));
        if ((key & above) == prefix) atomicAdd(&counts[key >> shift & 255], 1u);
      }
      __syncthreads();
      u32 all;
      const u32 mine = counts[own], before = sum_before(mine, shared, all);
      const i64 left = wanted - before;
      __syncthreads();
      if (left >= 0 && left < mine) found |= (Key)own << shift, wanted = left;
      __syncthreads();
    }
    i64 before = 0;
    for (i64 first = 0; first < size && before <= wanted; first += blockDim.x) {
      const i64 i = first + own;
      const u32 equal = i < size && ordered(get(line[i * inner])) == found;
      u32 all;
      const i64 place = before + sum_before(equal, shared, all);
      if (equal && place == wanted) values[row] = line[i * inner], indices[row] = i;
      before += all;
    }
    __syncthreads();
  }
}
// Of sorted lines.
extern "C" __global__ void take_rank(T* values, i64* indices, const T* in, const u32* sorted, i64 rows, i64 size,
                                     i64 inner, i64 rank, i64 middle) {
  for (i64 row = blockIdx.x * (i64)blockDim.x + threadIdx.x; row < rows; row += (i64)gridDim.x * blockDim.x) {
    const i64 outer = row / inner, column = row - outer * inner;
    const T* const line = in + outer * size * inner + column;
    const u32* const order = sorted + row * size;
    if (middle) {
      i64 numbers = 0;
      for (i64 left = size; left > 0;) {
        const i64 half = left / 2;
        const C v = get(line[(order[numbers + half] - row * size) * inner]);
        if (v == v) numbers += half + 1, left -= half + 1;
        else left = half;
      }
      rank = middle == 2 || numbers == size ? (numbers ? (numbers - 1) / 2 : 0) : numbers;
    }
    const i64 own = order[rank] - row * size;
    values[row] = line[own * inner], indices[row] = own;
  }
}
)";

size_t scratch(const NodeView& view) {
  return size_of_line(view) > kLongLine
             ? RadixSort::scratch(elements_of_input(view, 0), line_key_bytes(first_input_dtype(view)))
             : 0;
}
bool takes(const NodeView& view) {
  return elements_of_input(view, 0) < RadixSort::kMost && first_input_dtype(view) != DType::boolean;
}

Status* run_rank(const CompiledNode& kernel, const Launch& l, int64_t rank, int64_t middle) {
  DimSizes a = split_sizes_at(l.inputs[0], kernel.node.args[1].i);
  void *values = l.outputs[0].data, *indices = l.outputs[1].data, *in = l.inputs[0].data;
  int64_t rows = a.outer * a.inner;
  if (a.size > kLongLine) {
    RadixSort sort(l.scratch, l.inputs[0].elements(), line_key_bytes(l.inputs[0].dtype));
    if (Status* failed = sort_lines(kernel, sort, l.inputs[0], a, 0, kKeysStep)) return failed;
    const uint32_t* sorted = sort.sorted();
    void* taking[] = {&values, &indices, &in, &sorted, &rows, &a.size, &a.inner, &rank, &middle};
    return kernel.launch(rows, false, taking, kTakeStep);
  }
  void* parameters[] = {&values, &indices, &in, &rows, &a.size, &a.inner, &rank, &middle};
  return a.size ? kernel.launch(rows, true, parameters) : nullptr;
}
// kthvalue(input, dim, k)
Status* run_kthvalue(const CompiledNode& kernel, const Launch& l) {
  return run_rank(kernel, l, kernel.node.args[2].i - 1, 0);
}
// median(input, dim, without_nan)
Status* run_median(const CompiledNode& kernel, const Launch& l) {
  return run_rank(kernel, l, 0, kernel.node.args[2].i ? 2 : 1);
}

#define THUNDER_RANK_STEPS \
  { "keys_of_lines", kRadixSteps[0], kRadixSteps[1], "take_rank" }
constexpr Rule kRules[] = {
    {name(Prim::kthvalue), takes, kRank, first_input_dtype, nullptr, run_kthvalue, 0, scratch, THUNDER_RANK_STEPS},
    {name(Prim::median), takes, kRank, first_input_dtype, nullptr, run_median, 0, scratch, THUNDER_RANK_STEPS},
};

}  // namespace

extern const Rules ranks_rules = kRules;

}  // namespace thunder::cuda_kernels
