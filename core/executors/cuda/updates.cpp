// Updates at positions that index tensors give: take_add, index_put. What is added to one element is added in the order
// of the indices, by parts where it is much, so results have the same bits in every run. Integers are added in any.
#include <algorithm>

#include "base/text.h"
#include "executors/cuda/indices.h"
#include "executors/cuda/radix.h"
#include "executors/cuda/runs.h"
#include "tensor/transfer.h"

namespace thunder::cuda_kernels {
namespace {

// Up to so many indices are compared each with all others, in one launch; more are sorted.
constexpr int64_t kFewIndices = 512;
using Key = uint32_t;
constexpr size_t kSortSteps = 2, kApplyStep = 4, kSumStep = 5, kJoinStep = 6, kIntegerStep = 7;

// For few indices: a block for each. Among those of the same element, the first one's block adds the values of all;
// without `add`, the last one's block stores its value.
constexpr char kUpdate[] = THUNDER_CUDA_INDICES THUNDER_CUDA_ADD_ATOMICALLY R"(
extern "C" __global__ void kernel(
    T* out, const T* src, const Indices x, const Slice slice, i64 elements, i64 count, i64 add,
    DeviceAssertion* assertion) {
  __shared__ int hits[256];
  for (i64 m = blockIdx.x; m < count; m += gridDim.x) {
    const Place place = place_of(x, m, assertion);
    int other = 0;
    if (add)
      for (i64 j = threadIdx.x; j < m; j += blockDim.x) other |= place_of(x, j, assertion).number == place.number;
    else
      for (i64 j = m + 1 + threadIdx.x; j < count; j += blockDim.x)
        other |= place_of(x, j, assertion).number == place.number;
    if (__syncthreads_or(other)) continue;
    if (!add) {
      const T* const from = src + offset(x.positions, 8, m);
      for (i64 c = threadIdx.x; c < elements; c += blockDim.x)
        out[place.offset + offset(slice, 0, c)] = from[offset(slice, 1, c)];
      continue;
    }
    for (i64 first = m; first < count; first += blockDim.x) {
      const i64 mine = first + threadIdx.x;
      const int hit = mine < count && place_of(x, mine, assertion).number == place.number;
      hits[threadIdx.x] = hit;
      if (!__syncthreads_or(hit)) continue;
      for (int h = 0; h < (int)blockDim.x; h++) {
        if (!hits[h]) continue;
        const T* const from = src + offset(x.positions, 8, first + h);
        for (i64 c = threadIdx.x; c < elements; c += blockDim.x) {
          T& to = out[place.offset + offset(slice, 0, c)];
          to = put((C)((A)get(to) + (A)get(from[offset(slice, 1, c)])));
        }
      }
      __syncthreads();
    }
  }
}

typedef u32 Key;
extern "C" __global__ void keys_of_updates(Key* keys, const Indices x, i64 count, DeviceAssertion* assertion) {
  for (i64 m = blockIdx.x * (i64)blockDim.x + threadIdx.x; m < count; m += (i64)gridDim.x * blockDim.x)
    keys[m] = (Key)place_of(x, m, assertion).number;
}
)" THUNDER_CUDA_RADIX THUNDER_CUDA_RUNS R"(
// A thread for each element of a slice and each index, those of the same element behind each other: the first adds all,
// but of long runs.
extern "C" __global__ void apply_updates(
    T* out, const T* src, const Key* keys, const u32* sorted, const Indices x, const Slice slice, i64 elements,
    i64 count, i64 add, DeviceAssertion* assertion) {
  for (i64 at = blockIdx.x * (i64)blockDim.x + threadIdx.x; at < count * elements; at += (i64)gridDim.x * blockDim.x) {
    const i64 first = at / elements, c = at - first * elements;
    const Key key = keys[first];
    if (first && keys[first - 1] == key) continue;
    const i64 end = end_of_run(keys, first, count);
    if (add && is_long_run(first, end)) continue;
    T& to = out[place_of(x, sorted[first], assertion).offset + offset(slice, 0, c)];
    const T* const from = src + offset(slice, 1, c);
    if (!add) {
      to = from[offset(x.positions, 8, sorted[end - 1])];
      continue;
    }
    C sum = get(to);
    i64 i = first;
    for (; i + 8 <= end; i += 8) {
      C more[8];
#pragma unroll
      for (int k = 0; k < 8; k++) more[k] = get(from[offset(x.positions, 8, sorted[i + k])]);
#pragma unroll
      for (int k = 0; k < 8; k++) sum = get(put((C)((A)sum + (A)more[k])));
    }
    for (; i < end; i++) sum = get(put((C)((A)sum + (A)get(from[offset(x.positions, 8, sorted[i])]))));
    to = put(sum);
  }
}
struct Values {
  const T* src;
  const u32* sorted;
  const Indices& x;
  const Slice& slice;
  __device__ A operator()(i64 i, i64 c) const {
    return (A)get(src[offset(x.positions, 8, sorted[i]) + offset(slice, 1, c)]);
  }
};
__device__ inline A plus(A a, A b) { return a + b; }
extern "C" __global__ void sum_parts(A* sums, const T* src, const Key* keys, const u32* sorted, const Indices x,
                                     const Slice slice, i64 elements, i64 count) {
  sum_each_part(sums, keys, Values{src, sorted, x, slice}, elements, count, plus);
}
extern "C" __global__ void join_parts(T* out, const A* sums, const Key* keys, const u32* sorted, const Indices x,
                                      const Slice slice, i64 elements, i64 count, DeviceAssertion* assertion) {
  join_long_runs(sums, keys, elements, count, plus, [&](i64 i, i64 c, A sum) {
    T& to = out[place_of(x, sorted[i], assertion).offset + offset(slice, 0, c)];
    to = put((C)((A)get(to) + sum));
  });
}
extern "C" __global__ void add_integers(T* out, const T* src, const Indices x, const Slice slice, i64 elements,
                                        i64 count, DeviceAssertion* assertion) {
  for (i64 at = blockIdx.x * (i64)blockDim.x + threadIdx.x; at < count * elements; at += (i64)gridDim.x * blockDim.x) {
    const i64 m = at / elements, c = at - m * elements;
    add_atomically(out + place_of(x, m, assertion).offset + offset(slice, 0, c),
                   src[offset(x.positions, 8, m) + offset(slice, 1, c)]);
  }
}
)";

Status* too_many_dims(const CompiledNode& kernel) {
  return make<Status>(Code::unimplemented, cat(kernel.node.op->name(), ": operands of such strides in more than ",
                                               kMostDims, " dims"))
      .detach();
}

// How slices of `out` and of `src` are walked together.
struct Walk {
  Indices x;
  OffsetCalculator<2> slice;
  int64_t elements = 1;  // of a slice
  bool fits = true;
};
Walk walk(std::span<const Buffer> tensors, const Buffer& out, const Buffer& src, size_t dim, bool from_end) {
  Walk w{indices(tensors, out, dim, from_end), {}};
  const auto indexed = static_cast<size_t>(tensors[0].rank);
  for (size_t d = 0; d < indexed && w.fits; d++) {
    std::array<int64_t, kMostIndices + 1> by{};
    for (size_t k = 0; k < tensors.size(); k++) by[k] = tensors[k].strides[d];
    by[kMostIndices] = src.strides[dim + d];
    w.fits = w.x.positions.add(tensors[0].shape[d], by);
  }
  for (size_t d = 0, behind = dim + tensors.size(); d < static_cast<size_t>(out.rank) && w.fits; d++) {
    if (d >= dim && d < behind) continue;
    w.fits = w.slice.add(out.shape[d], {out.strides[d], src.strides[d < dim ? d : d - tensors.size() + indexed]});
    w.elements *= out.shape[d];
  }
  return w;
}

// Updates the slices of `out` that the indices, over its dims from `dim` on, point to. `out` is what `in` was, in other
// memory or in its own.
Status* update(const CompiledNode& kernel, const Launch& l, std::span<const Buffer> tensors, size_t dim, bool from_end,
               bool add) {
  const Buffer &in = l.inputs[0], &src = l.inputs[l.n_inputs - 1], &out = l.outputs[0];
  if (in.data != out.data)
    if (Status* failed = copy_on_device(kernel.device, in, out)) return failed;
  int64_t count = tensors[0].elements(), adds = add;
  if (!out.elements() || !count) return nullptr;
  Walk w = walk(tensors, out, src, dim, from_end);
  if (!w.fits) return too_many_dims(kernel);
  void *to = out.data, *from = src.data;
  nvidia::DeviceAssertion* assertion = kernel.assertion;
  if (count <= kFewIndices) {
    void* parameters[] = {&to, &from, &w.x, &w.slice, &w.elements, &count, &adds, &assertion};
    return kernel.launch(count, true, parameters);
  }
  if (add && adds_in_any_order(out.dtype)) {
    void* parameters[] = {&to, &from, &w.x, &w.slice, &w.elements, &count, &assertion};
    return kernel.launch(count * w.elements, false, parameters, kIntegerStep);
  }
  RadixSort sort(l.scratch, count, sizeof(Key));
  void* keys = sort.keys();
  void* naming[] = {&keys, &w.x, &count, &assertion};
  if (Status* failed = kernel.launch(count, false, naming, 1)) return failed;
  uint64_t places = 1;
  for (size_t k = 0; k < tensors.size(); k++) places *= static_cast<uint64_t>(out.shape[dim + k]);
  if (Status* failed = sort.run(kernel, kSortSteps, digits_below(std::max<uint64_t>(2, places), 0))) return failed;
  const void* sorted_keys = sort.sorted_keys();
  const uint32_t* sorted = sort.sorted();
  void* parameters[] = {&to,         &from,  &sorted_keys, &sorted,   &w.x,
                        &w.slice, &w.elements, &count,    &adds, &assertion};
  Status* failed = kernel.launch(count * w.elements, false, parameters, kApplyStep);
  if (failed || !add || count < kPart) return failed;
  void* sums = static_cast<std::byte*>(l.scratch) + RadixSort::scratch(count, sizeof(Key));
  const int64_t work = part_sums(count, w.elements) / 2;
  void* summing[] = {&sums, &from, &sorted_keys, &sorted, &w.x, &w.slice, &w.elements, &count};
  if (Status* refused = kernel.launch(work, false, summing, kSumStep)) return refused;
  void* joining[] = {&to, &sums, &sorted_keys, &sorted, &w.x, &w.slice, &w.elements, &count, &assertion};
  return kernel.launch(work, false, joining, kJoinStep);
}

// Whether as many indices can be sorted, by places of these dims.
bool sortable(const NodeView& view, ValueId index, size_t dim, size_t n) {
  uint64_t places = 1;
  const Shape& shape = view.store.type(view.node.args[0].v).shape;
  for (size_t k = 0; k < n; k++) places *= static_cast<uint64_t>(std::max<int64_t>(1, shape[dim + k].value()));
  return places <= uint64_t{1} << 32 && elements(view.store.type(index).shape).value() < RadixSort::kMost;
}
size_t update_scratch(const NodeView& view, ValueId index, ValueId src, bool add) {
  const int64_t count = elements(view.store.type(index).shape).value();
  if (count <= kFewIndices || (add && adds_in_any_order(first_input(view)))) return 0;
  const int64_t slice = elements(view.store.type(src).shape).value() / count;
  const auto sums = add ? static_cast<size_t>(part_sums(count, slice)) : 0;
  return RadixSort::scratch(count, sizeof(Key)) + sums * sizeof(double);
}

// ---- take_add(input, dim, index, src) ----

bool takes_take_add(const NodeView& view) {
  const size_t rank = view.store.type(view.node.args[0].v).shape.size();
  return adds_up(view) && sortable(view, view.node.args[2].v, normalize_axis(view.node.args[1].i, rank), 1);
}
size_t take_add_scratch(const NodeView& view) {
  return update_scratch(view, view.node.args[2].v, view.node.args[3].v, true);
}
Status* run_take_add(const CompiledNode& kernel, const Launch& l) {
  const size_t dim = normalize_axis(kernel.node.args[1].i, static_cast<size_t>(l.outputs[0].rank));
  return update(kernel, l, {l.inputs + 1, 1}, dim, false, true);
}

// ---- index_put(input, indices, values, accumulate) ----

bool takes_index_put(const NodeView& view) {
  const auto given = view.node.args[1].value_list();
  return takes_index(view) && sortable(view, given[0], 0, given.size()) && (!view.node.args[3].i || adds_up(view));
}
size_t index_put_scratch(const NodeView& view) {
  return update_scratch(view, view.node.args[1].value_list()[0], view.node.args[2].v, view.node.args[3].i != 0);
}
Status* run_index_put(const CompiledNode& kernel, const Launch& l) {
  return update(kernel, l, {l.inputs + 1, l.n_inputs - 2}, 0, true, kernel.node.args[3].i != 0);
}

#define THUNDER_UPDATE_STEPS \
  { "keys_of_updates", kRadixSteps[0], kRadixSteps[1], "apply_updates", "sum_parts", "join_parts", \
    "add_integers" }
constexpr Rule kRules[] = {
    {"prims.take_add", takes_take_add, kUpdate, first_input, along_dim, run_take_add, kStrided, take_add_scratch,
     THUNDER_UPDATE_STEPS},
    {"prims.index_put", takes_index_put, kUpdate, first_input, indexed_dims, run_index_put, kStrided,
     index_put_scratch, THUNDER_UPDATE_STEPS},
};

}  // namespace

std::span<const Rule> update_rules() { return kRules; }

}  // namespace thunder::cuda_kernels
