// Random permutations of the words that the CPU draws (ops/defs/permutation_prims.cpp): numbers are sorted into bins at
// random, and a block shuffles each.
#include "executors/cuda/radix.h"
#include "ir/prim.h"

namespace thunder::cuda_kernels {
namespace {

constexpr int64_t kBin = 4096;
constexpr size_t kKeysStep = 1, kSortSteps = 2;

constexpr char kPermutation[] = R"(
typedef u32 Key;
// The first word of a row, and as many for its bins as for the order in them.
__device__ inline i64 words_of(i64 n) { return (n + 3) / 4 * 4; }
__device__ inline u32 below(u32 bits, i64 n) { return (u32)((u64)bits * (u64)n >> 32); }
__device__ inline i64 first_of(const Key* keys, i64 count, Key key) {
  i64 low = 0;
  for (i64 left = count; left > 0;) {
    const i64 half = left / 2;
    if (keys[low + half] < key) low += half + 1, left -= half + 1;
    else left = half;
  }
  return low;
}
// Without `numbers` each row is one bin, in order.
extern "C" __global__ void kernel(T* out, const i64* state, i64 step, i64 ordinal, const Key* keys, const u32* numbers,
                                  i64 rows, i64 n, i64 bins) {
  const int most = 8192;
  __shared__ unsigned short order[most], targets[most];
  const i64 seed = state[0], call = state[step];
  for (i64 work = blockIdx.x; work < rows * bins; work += gridDim.x) {
    const i64 row = work / bins, line = row * n;
    const i64 begin = numbers ? first_of(keys, rows * n, (Key)work) : line;
    const i64 end = numbers ? first_of(keys, rows * n, (Key)(work + 1)) : line + n, size = end - begin;
    const i64 word = (2 * row + 1) * words_of(n) + begin - line;
    const bool fits = size <= most;
    for (i64 i = threadIdx.x; i < size; i += blockDim.x)
      if (fits) order[i] = i, targets[i] = below(bits32(word + i, seed, call, ordinal), i + 1);
      else out[begin + i] = (numbers ? numbers[begin + i] : begin + i) - line;
    __syncthreads();
    if (threadIdx.x == 0 && fits)
      for (int i = 0; i < size; i++) {
        const unsigned short other = order[targets[i]];
        order[targets[i]] = order[i], order[i] = other;
      }
    if (threadIdx.x == 0 && !fits)
      for (i64 i = 0; i < size; i++) {
        const i64 target = begin + below(bits32(word + i, seed, call, ordinal), i + 1);
        const T other = out[target];
        out[target] = out[begin + i], out[begin + i] = other;
      }
    __syncthreads();
    for (i64 i = threadIdx.x; i < size && fits; i += blockDim.x)
      out[begin + i] = (numbers ? numbers[begin + order[i]] : begin + order[i]) - line;
    __syncthreads();
  }
}
extern "C" __global__ void keys_of_bins(Key* keys, const i64* state, i64 step, i64 ordinal, i64 count, i64 n,
                                        i64 bins) {
  const i64 seed = state[0], call = state[step];
  for (i64 at = blockIdx.x * (i64)blockDim.x + threadIdx.x; at < count; at += (i64)gridDim.x * blockDim.x) {
    const i64 row = at / n;
    keys[at] = (Key)(row * bins + below(bits32(2 * row * words_of(n) + at - row * n, seed, call, ordinal), bins));
  }
}
)" THUNDER_CUDA_RADIX;

// [rows, n] of the result; one bin where the numbers of a row fit into a block's memory.
struct Sizes {
  int64_t rows = 0, n = 0, bins = 1;
};
Sizes sizes_of(int64_t count, int64_t n) {
  return {n ? count / n : 0, n, n <= 2 * kBin ? 1 : (n + kBin - 1) / kBin};
}
Sizes sizes_of(const NodeView& view) {
  const Shape& shape = view.store.type(view.node.results[0]).shape;
  return sizes_of(elements(shape).value(), shape.back().value());
}

bool takes(const NodeView& view) {
  const Sizes s = sizes_of(view);
  return s.rows * s.n < RadixSort::kMost && s.rows * s.bins < RadixSort::kMost;
}
size_t scratch(const NodeView& view) {
  const Sizes s = sizes_of(view);
  return s.bins > 1 ? RadixSort::scratch(s.rows * s.n, sizeof(uint32_t)) : 0;
}

// philox_permutation(state, ordinal, shape)
Status* run(const CompiledNode& kernel, const Launch& l) {
  const Buffer &given = l.inputs[0], &out = l.outputs[0];
  int64_t count = out.elements();
  if (!count) return nullptr;
  Sizes s = sizes_of(count, out.shape[out.rank - 1]);
  void *to = out.data, *state = given.data, *keys = nullptr;
  const void* sorted_keys = nullptr;
  const uint32_t* sorted = nullptr;
  int64_t step = given.strides[0], ordinal = kernel.node.args[1].i;
  RadixSort sort(l.scratch, count, sizeof(uint32_t));
  if (s.bins > 1) {
    keys = sort.keys();
    void* naming[] = {&keys, &state, &step, &ordinal, &count, &s.n, &s.bins};
    if (Status* failed = kernel.launch(count, false, naming, kKeysStep)) return failed;
    const std::vector<Digit> digits = digits_of_numbers_below(static_cast<uint64_t>(s.rows * s.bins), 0);
    if (Status* failed = sort.run(kernel, kSortSteps, digits)) return failed;
    sorted_keys = sort.sorted_keys(), sorted = sort.sorted();
  }
  void* parameters[] = {&to, &state, &step, &ordinal, &sorted_keys, &sorted, &s.rows, &s.n, &s.bins};
  return kernel.launch(s.rows * s.bins, true, parameters);
}

constexpr Rule kRules[] = {
    {.op = name(Prim::philox_permutation), .takes = takes, .text = kPermutation, .element = first_result_dtype,
     .run = run, .scratch = scratch, .others = {"keys_of_bins", kRadixSteps[0], kRadixSteps[1]}},
};

}  // namespace

extern const Rules permutations_rules = kRules;

}  // namespace thunder::cuda_kernels
