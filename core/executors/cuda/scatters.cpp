// scatter_add and scatter_reduce: the elements of the source are sorted by where they go, and what goes to one place is
// joined in their order, by parts where it is much. Integers are added in any order, and extremes found. Elements of at
// most 4 bytes are themselves sorted, so that they need not be looked up.
#include <algorithm>

#include "executors/cuda/indices.h"
#include "executors/cuda/radix.h"
#include "executors/cuda/runs.h"

namespace thunder::cuda_kernels {
namespace {

using Key = uint32_t;
constexpr size_t kSortSteps = 1, kJoinStep = 3, kSumStep = 4, kPartsStep = 5, kIntegerStep = 6,
                 kExtremeStep = 7;
enum How : int64_t { kAdd, kMultiply, kGreatest, kLeast };  // mirrored in the text

constexpr char kScatter[] = THUNDER_CUDA_ADD_ATOMICALLY R"(
typedef u32 Key;
struct Walk { i64 rank, dim, wide, sizes[8], out[8], src[8]; };
struct Place { i64 to, from, index; };
__device__ inline Place place_of(const Walk& w, i64 n) {
  Place p = {0, 0, 0};
  for (int d = (int)w.rank - 1; d >= 0; d--) {
    const i64 rest = d ? n / w.sizes[d] : 0, i = n - rest * w.sizes[d];
    p.from += i * w.src[d];
    if (d != (int)w.dim) p.to += i * w.out[d];
    n = rest;
  }
  return p;
}
extern "C" __global__ void kernel(Key* keys, u32* values, const T* src, const void* index, const Walk w, i64 size,
                                  i64 count, DeviceAssertion* assertion) {
  for (i64 n = blockIdx.x * (i64)blockDim.x + threadIdx.x; n < count; n += (i64)gridDim.x * blockDim.x) {
    const i64 at = checked(w.wide ? ((const i64*)index)[n] : ((const int*)index)[n], size, 0, assertion);
    const Place place = place_of(w, n);
    keys[n] = (Key)(place.to + at * w.out[w.dim]);
    if (sizeof(T) <= 4) {
      u32 bits = 0;
      memcpy(&bits, src + place.from, sizeof(T) <= 4 ? sizeof(T) : 0);
      values[n] = bits;
    }
  }
}
)" THUNDER_CUDA_RADIX THUNDER_CUDA_RUNS R"(
// The i-th of the sorted elements.
__device__ inline C sorted_value(const T* src, const u32* sorted, const Walk& w, i64 i) {
  if (sizeof(T) > 4) return get(src[place_of(w, sorted[i]).from]);
  T value;
  memcpy(&value, sorted + i, sizeof(T) <= 4 ? sizeof(T) : 0);
  return get(value);
}
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
    if (is_long_run(first, end_of_run(keys, first, count))) continue;
    C all = get(out[key]);
    for (i64 begin = first; begin < count && keys[begin] == key; begin += 8) {
      C more[8];
      int n = 0;
#pragma unroll
      for (int k = 0; k < 8; k++) {
        const bool own = begin + k < count && keys[begin + k] == key;
        if (own) more[k] = sorted_value(src, sorted, w, begin + k);
        n += own;
      }
#pragma unroll
      for (int k = 0; k < 8; k++)
        if (k < n) all = get(put(joined(all, more[k], how)));
    }
    out[key] = put(all);
  }
}
struct Values {
  const T* src;
  const u32* sorted;
  const Walk& w;
  __device__ A operator()(i64 i, i64) const { return (A)sorted_value(src, sorted, w, i); }
};
struct Joined {
  i64 how;
  __device__ A operator()(A a, A b) const {
    return how == 0 ? (A)(a + b) : how == 1 ? (A)(a * b) : (A)joined((C)a, (C)b, how);
  }
};
extern "C" __global__ void sum_parts(A* sums, const T* src, const Key* keys, const u32* sorted, const Walk w,
                                     i64 count, i64 how) {
  sum_each_part(sums, keys, Values{src, sorted, w}, 1, count, Joined{how});
}
extern "C" __global__ void join_parts(T* out, const A* sums, const Key* keys, i64 count, i64 how) {
  const Joined combine = {how};
  join_long_runs(sums, keys, 1, count, combine, [&](i64 i, i64, A sum) {
    T& to = out[keys[i]];
    to = put((C)combine((A)get(to), sum));
  });
}
// Whether `v` takes the place of `old`: NaN is beyond all, and of zeros the one with the sign that says so.
__device__ inline bool is_beyond(C v, C old, i64 greatest) {
  if (old != old || v != v) return old == old;
  if (v == old) return v == 0 && (greatest ? 1 / (double)v > 1 / (double)old : 1 / (double)v < 1 / (double)old);
  return greatest ? v > old : v < old;
}
template <int bytes> struct Word { typedef u32 type; };
template <> struct Word<8> { typedef u64 type; };
extern "C" __global__ void find_extremes(T* out, const T* src, const void* index, const Walk w, i64 size, i64 count,
                                         i64 greatest, DeviceAssertion* assertion) {
  typedef Word<sizeof(T)>::type Bits;
  if (sizeof(T) != sizeof(Bits)) return;
  for (i64 n = blockIdx.x * (i64)blockDim.x + threadIdx.x; n < count; n += (i64)gridDim.x * blockDim.x) {
    const i64 at = checked(w.wide ? ((const i64*)index)[n] : ((const int*)index)[n], size, 0, assertion);
    const Place place = place_of(w, n);
    const T v = src[place.from];
    Bits* const to = (Bits*)(out + place.to + at * w.out[w.dim]);
    Bits mine = 0, old = *(volatile Bits*)to;
    memcpy(&mine, &v, sizeof(T));
    for (;;) {
      T there;
      memcpy(&there, &old, sizeof(T));
      if (!is_beyond(get(v), get(there), greatest)) break;
      const Bits found = atomicCAS(to, old, mine);
      if (found == old) break;
      old = found;
    }
  }
}
// Into few places through the block's own sums.
extern "C" __global__ void add_integers(T* out, const T* src, const void* index, const Walk w, i64 size, i64 places,
                                        i64 count, DeviceAssertion* assertion) {
  const int most = 4096;
  __shared__ T own[most];
  const bool few = places <= most;
  if (few)
    for (int i = threadIdx.x; i < places; i += blockDim.x) own[i] = 0;
  __syncthreads();
  for (i64 n = blockIdx.x * (i64)blockDim.x + threadIdx.x; n < count; n += (i64)gridDim.x * blockDim.x) {
    const i64 at = checked(w.wide ? ((const i64*)index)[n] : ((const int*)index)[n], size, 0, assertion);
    const Place place = place_of(w, n);
    add_atomically((few ? own : out) + place.to + at * w.out[w.dim], src[place.from]);
  }
  __syncthreads();
  if (few)
    for (int i = threadIdx.x; i < places; i += blockDim.x)
      if (own[i]) add_atomically(out + i, own[i]);
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
  const int64_t count = std::max<int64_t>(1, elements_of_input(view, 2));
  return RadixSort::scratch(count, sizeof(Key)) + static_cast<size_t>(part_sums(count, 1)) * sizeof(double);
}
// Extremes are the same in any order; a word is what the hardware exchanges.
bool exchanges(DType d) { return size_of(d) >= sizeof(uint32_t); }
size_t scratch_of_reduce(const NodeView& view) {
  return view.node.args[4].text() != "prod" && exchanges(first_input(view)) ? 0 : scratch(view);
}
size_t scratch_of_add(const NodeView& view) { return adds_in_any_order(first_input(view)) ? 0 : scratch(view); }

Status* scatter(const CompiledNode& kernel, const Launch& l, int64_t how) {
  const Buffer &in = l.inputs[0], &index = l.inputs[1], &src = l.inputs[2], &out = l.outputs[0];
  if (Status* failed = kernel.copy(in, out)) return failed;
  int64_t count = index.elements();
  if (!count) return nullptr;
  const auto rank = static_cast<size_t>(out.rank), dim = normalize_axis(kernel.node.args[1].i, rank);
  Walk w{};
  w.rank = out.rank, w.dim = static_cast<int64_t>(dim), w.wide = index.dtype == DType::i64;
  for (size_t d = 0; d < rank; d++) w.sizes[d] = index.shape[d], w.out[d] = out.strides[d], w.src[d] = src.strides[d];
  void *at = index.data, *to = out.data, *from = src.data;
  int64_t size = out.shape[dim], all = out.elements();
  nvidia::DeviceAssertion* assertion = kernel.assertion;
  if (how == kAdd && adds_in_any_order(out.dtype)) {
    void* adding[] = {&to, &from, &at, &w, &size, &all, &count, &assertion};
    return kernel.launch(count, false, adding, kIntegerStep);
  }
  if ((how == kGreatest || how == kLeast) && exchanges(out.dtype)) {
    int64_t greatest = how == kGreatest;
    void* finding[] = {&to, &from, &at, &w, &size, &count, &greatest, &assertion};
    return kernel.launch(count, false, finding, kExtremeStep);
  }
  RadixSort sort(l.scratch, count, sizeof(Key));
  void *keys = sort.keys(), *values = sort.values();
  void* naming[] = {&keys, &values, &from, &at, &w, &size, &count, &assertion};
  if (Status* failed = kernel.launch(count, false, naming)) return failed;
  const auto places = static_cast<uint64_t>(std::max<int64_t>(2, out.elements()));
  const bool by_value = size_of(out.dtype) <= sizeof(uint32_t);
  if (Status* failed = sort.run(kernel, kSortSteps, digits_below(places, 0), by_value)) return failed;
  const void* sorted_keys = sort.sorted_keys();
  const uint32_t* sorted = sort.sorted();
  void* joining[] = {&to, &from, &sorted_keys, &sorted, &w, &count, &how};
  if (Status* failed = kernel.launch(count, false, joining, kJoinStep); failed || count < kPart) return failed;
  void* sums = static_cast<std::byte*>(l.scratch) + RadixSort::scratch(count, sizeof(Key));
  const int64_t parts = part_sums(count, 1) / 2;
  void* summing[] = {&sums, &from, &sorted_keys, &sorted, &w, &count, &how};
  if (Status* failed = kernel.launch(parts, false, summing, kSumStep)) return failed;
  void* putting[] = {&to, &sums, &sorted_keys, &count, &how};
  return kernel.launch(parts, false, putting, kPartsStep);
}
Status* run_add(const CompiledNode& kernel, const Launch& l) { return scatter(kernel, l, kAdd); }
Status* run_reduce(const CompiledNode& kernel, const Launch& l) {
  const std::string_view how = kernel.node.args[4].text();
  return scatter(kernel, l, how == "prod" ? kMultiply : how == "amax" ? kGreatest : kLeast);
}

#define THUNDER_SCATTER_STEPS { kRadixSteps[0], kRadixSteps[1], "join_elements", "sum_parts", \
    "join_parts", "add_integers", "find_extremes" }
constexpr Rule kRules[] = {
    {"prims.scatter_add", takes, kScatter, first_input, along_dim, run_add, 0, scratch_of_add, THUNDER_SCATTER_STEPS},
    {"prims.scatter_reduce", takes, kScatter, first_input, along_dim, run_reduce, 0, scratch_of_reduce,
     THUNDER_SCATTER_STEPS},
};

}  // namespace

std::span<const Rule> scatter_rules() { return kRules; }

}  // namespace thunder::cuda_kernels
