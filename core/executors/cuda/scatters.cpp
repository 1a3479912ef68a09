// scatter_add and scatter_reduce: the elements of the source are sorted by where they go, and what goes to one place is
// joined in their order, as on the CPU.
#include <algorithm>

#include "executors/cuda/indices.h"
#include "executors/cuda/radix.h"

namespace thunder::cuda_kernels {
namespace {

using Key = uint32_t;
constexpr size_t kSortSteps = 1, kJoinStep = 4;
enum How : int64_t { kAdd, kMultiply, kGreatest, kLeast };  // mirrored in the text

constexpr char kScatter[] = R"(
typedef u32 Key;
struct Walk { i64 rank, dim, wide, sizes[8], out[8], src[8]; };
struct Place { i64 to, from, index; };
__device__ inline Place place_of(const Walk& w, i64 n) {
  Place p = {0, 0, 0};
  for (int d = (int)w.rank - 1; d >= 0; d--) {
    const i64 rest = n / w.sizes[d], i = n - rest * w.sizes[d];
    p.from += i * w.src[d];
    if (d != (int)w.dim) p.to += i * w.out[d];
    n = rest;
  }
  return p;
}
extern "C" __global__ void kernel(Key* keys, const void* index, const Walk w, i64 size, i64 count,
                                  DeviceAssertion* assertion) {
  for (i64 n = blockIdx.x * (i64)blockDim.x + threadIdx.x; n < count; n += (i64)gridDim.x * blockDim.x) {
    const i64 at = checked(w.wide ? ((const i64*)index)[n] : ((const int*)index)[n], size, 0, assertion);
    keys[n] = (Key)(place_of(w, n).to + at * w.out[w.dim]);
  }
}
)" THUNDER_CUDA_RADIX R"(
__device__ inline C joined(C a, C b, i64 how) {
  if (how == 0) return (C)((A)a + (A)b);
  if (how == 1) return (C)((A)a * (A)b);
  return how == 2 ? (a > b || a != a ? a : b) : (a < b || a != a ? a : b);
}
extern "C" __global__ void join_elements(T* out, const T* src, const Key* keys, const u32* sorted, const Walk w,
                                         i64 count, i64 how) {
  for (i64 first = blockIdx.x * (i64)blockDim.x + threadIdx.x; first < count; first += (i64)gridDim.x * blockDim.x) {
    const Key key = keys[first];
    if (first && keys[first - 1] == key) continue;
    C all = get(out[key]);
    for (i64 begin = first; begin < count && keys[begin] == key; begin += 8) {
      C more[8];
      int n = 0;
#pragma unroll
      for (int k = 0; k < 8; k++) {
        const bool own = begin + k < count && keys[begin + k] == key;
        if (own) more[k] = get(src[place_of(w, sorted[begin + k]).from]);
        n += own;
      }
#pragma unroll
      for (int k = 0; k < 8; k++)
        if (k < n) all = get(put(joined(all, more[k], how)));
    }
    out[key] = put(all);
  }
}
)";
struct Walk {
  int64_t rank, dim, wide, sizes[kMostDims], out[kMostDims], src[kMostDims];
};

// ---- scatter_add(input, dim, index, src), scatter_reduce(input, dim, index, src, reduce) ----

bool takes(const NodeView& view) {
  const size_t rank = view.store.type(view.node.args[0].v).rank();
  return rank > 0 && rank <= kMostDims && adds_up(view) && elements_of_input(view, 0) <= int64_t{1} << 32 &&
         elements_of_input(view, 2) < RadixSort::kMost;
}
size_t scratch(const NodeView& view) {
  return RadixSort::scratch(std::max<int64_t>(1, elements_of_input(view, 2)), sizeof(Key));
}

Status* scatter(const CompiledNode& kernel, const Launch& l, int64_t how) {
  const Buffer &in = l.inputs[0], &index = l.inputs[1], &src = l.inputs[2], &out = l.outputs[0];
  if (Status* failed = kernel.copy(in, out)) return failed;
  int64_t count = index.elements();
  if (!count) return nullptr;
  const auto rank = static_cast<size_t>(out.rank), dim = normalize_axis(kernel.node.args[1].i, rank);
  Walk w{};
  w.rank = out.rank, w.dim = static_cast<int64_t>(dim), w.wide = index.dtype == DType::i64;
  for (size_t d = 0; d < rank; d++) w.sizes[d] = index.shape[d], w.out[d] = out.strides[d], w.src[d] = src.strides[d];
  RadixSort sort(l.scratch, count, sizeof(Key));
  void *keys = sort.keys(), *at = index.data, *to = out.data, *from = src.data;
  int64_t size = out.shape[dim];
  nvidia::DeviceAssertion* assertion = kernel.assertion;
  void* naming[] = {&keys, &at, &w, &size, &count, &assertion};
  if (Status* failed = kernel.launch(count, false, naming)) return failed;
  const auto places = static_cast<uint64_t>(std::max<int64_t>(2, out.elements()));
  if (Status* failed = sort.run(kernel, kSortSteps, digits_below(places, 0))) return failed;
  const void* sorted_keys = sort.sorted_keys();
  const uint32_t* sorted = sort.sorted();
  void* joining[] = {&to, &from, &sorted_keys, &sorted, &w, &count, &how};
  return kernel.launch(count, false, joining, kJoinStep);
}
Status* run_add(const CompiledNode& kernel, const Launch& l) { return scatter(kernel, l, kAdd); }
Status* run_reduce(const CompiledNode& kernel, const Launch& l) {
  const std::string_view how = kernel.node.args[4].text();
  return scatter(kernel, l, how == "prod" ? kMultiply : how == "amax" ? kGreatest : kLeast);
}

#define THUNDER_SCATTER_STEPS { kRadixSteps[0], kRadixSteps[1], kRadixSteps[2], "join_elements" }
constexpr Rule kRules[] = {
    {"prims.scatter_add", takes, kScatter, first_input, along_dim, run_add, 0, scratch, THUNDER_SCATTER_STEPS},
    {"prims.scatter_reduce", takes, kScatter, first_input, along_dim, run_reduce, 0, scratch, THUNDER_SCATTER_STEPS},
};

}  // namespace

std::span<const Rule> scatter_rules() { return kRules; }

}  // namespace thunder::cuda_kernels
