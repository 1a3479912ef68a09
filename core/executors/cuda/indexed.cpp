// Sums and updates at positions that index tensors give: take_add, index, index_put, scatter_add. What is added to one
// element is added in the order of the indices, as on the CPU, so results have the same bits in every run.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "executors/cuda/kernel.h"
#include "tensor/transfer.h"

namespace thunder::cuda_kernels {
namespace {

constexpr size_t kMostIndices = 8, kMostDims = 8;
// Each block compares its index with all others: from so many on the CPU, which goes over them once, is as fast.
constexpr int64_t kMostPositions = 1 << 17;

// Dims that N arrays are walked along together, outermost first; neighbours that all step through as one are one.
// Mirrored in the texts.
template <size_t N>
struct OffsetCalculator {
  int64_t rank = 0, sizes[kMostDims] = {}, steps[N][kMostDims] = {};

  // False: there are too many.
  bool add(int64_t size, const std::array<int64_t, N>& by) {
    if (size == 1) return true;
    const auto last = static_cast<size_t>(rank) - 1;
    bool one = rank > 0;
    for (size_t n = 0; n < N && one; n++) one = steps[n][last] == by[n] * size;
    const size_t at = one ? last : last + 1;
    if (at == kMostDims) return false;
    sizes[at] = one ? sizes[at] * size : size;
    for (size_t n = 0; n < N; n++) steps[n][at] = by[n];
    rank = static_cast<int64_t>(at) + 1;
    return true;
  }
};

// Where index tensors point in dims of an array: each of `n` has its dim's size and step there. Mirrored in the texts.
struct Indices {
  const void* at[kMostIndices];
  int64_t sizes[kMostIndices], steps[kMostIndices];
  int64_t n, wide, from_end;  // wide: i64, else i32; from_end: negative ones count from there
  OffsetCalculator<kMostIndices + 1> positions;  // of the index tensors, and at last of the source
};

#define THUNDER_CUDA_INDICES                                                                                  \
  "struct Positions { i64 rank, sizes[8], steps[9][8]; };\n"                                                  \
  "struct Slice { i64 rank, sizes[8], steps[2][8]; };\n"                                                      \
  "struct Indices { const void* at[8]; i64 sizes[8], steps[8], n, wide, from_end; Positions positions; };\n"  \
  "template <class Offsets> __device__ inline i64 offset(const Offsets& w, int array, i64 position) {\n"      \
  "  i64 out = 0;\n"                                                                                          \
  "  for (int d = (int)w.rank - 1; d > 0; d--) {\n"                                                           \
  "    const i64 rest = position / w.sizes[d];\n"                                                             \
  "    out += (position - rest * w.sizes[d]) * w.steps[array][d], position = rest;\n"                         \
  "  }\n"                                                                                                     \
  "  return w.rank ? out + position * w.steps[array][0] : 0;\n"                                               \
  "}\n"                                                                                                       \
  "struct Place { i64 number, offset; };\n"                                                                   \
  "__device__ inline Place place_of(const Indices& x, i64 m, DeviceAssertion* assertion) {\n"                 \
  "  Place place = {0, 0};\n"                                                                                 \
  "  for (int k = 0; k < (int)x.n; k++) {\n"                                                                  \
  "    const i64 at = offset(x.positions, k, m);\n"                                                           \
  "    const i64 given = x.wide ? ((const i64*)x.at[k])[at] : ((const int*)x.at[k])[at];\n"                   \
  "    i64 i = x.from_end && given < 0 && given >= -x.sizes[k] ? given + x.sizes[k] : given;\n"               \
  "    i = checked(i, x.sizes[k], k, assertion);\n"                                                           \
  "    place.number = place.number * x.sizes[k] + i, place.offset += i * x.steps[k];\n"                       \
  "  }\n"                                                                                                     \
  "  return place;\n"                                                                                         \
  "}\n"

// A block for each index. Among indices of the same element, the first one's block adds the values of all of them;
// without `add`, the last one's block stores its value.
constexpr char kUpdate[] = THUNDER_CUDA_INDICES R"(
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
)";

constexpr char kIndex[] = THUNDER_CUDA_INDICES R"(
extern "C" __global__ void kernel(
    T* out, const T* in, const Indices x, i64 inner, i64 count, DeviceAssertion* assertion) {
  for (i64 at = blockIdx.x * (i64)blockDim.x + threadIdx.x; at < count * inner; at += (i64)gridDim.x * blockDim.x) {
    const i64 m = at / inner;
    out[at] = in[place_of(x, m, assertion).number * inner + (at - m * inner)];
  }
}
)";

// A thread for each row along the dim, since any two indices of a row may name the same element.
constexpr char kScatterAdd[] = R"(
struct Rows { i64 rank, dim, wide, sizes[8], out[8], src[8]; };
extern "C" __global__ void kernel(
    T* out, const void* index, const T* src, const Rows x, i64 rows, i64 size, DeviceAssertion* assertion) {
  for (i64 row = blockIdx.x * (i64)blockDim.x + threadIdx.x; row < rows; row += (i64)gridDim.x * blockDim.x) {
    i64 rest = row, to = 0, from = 0, at = 0, step = 1, along = 1;
    for (int d = (int)x.rank - 1; d >= 0; d--) {
      if (d == (int)x.dim) along = step;
      else {
        const i64 i = rest % x.sizes[d];
        rest /= x.sizes[d], to += i * x.out[d], from += i * x.src[d], at += i * step;
      }
      step *= x.sizes[d];
    }
    for (i64 i = 0; i < x.sizes[x.dim]; i++) {
      const i64 n = at + i * along;
      const i64 place = checked(x.wide ? ((const i64*)index)[n] : ((const int*)index)[n], size, 0, assertion);
      T& into = out[to + place * x.out[x.dim]];
      into = put((C)((A)get(into) + (A)get(src[from + i * x.src[x.dim]])));
    }
  }
}
)";
struct Rows {
  int64_t rank, dim, wide, sizes[kMostIndices], out[kMostIndices], src[kMostIndices];
};

const TensorType& type(const NodeView& view, ValueId v) { return view.store.type(v); }
bool few(const NodeView& view, ValueId index) {
  return elements(type(view, index).shape).value() <= kMostPositions;
}
bool adds_up(const NodeView& view) { return first_input(view) != DType::boolean; }

Status* too_many_dims(const Kernel& kernel) {
  return make<Status>(Code::unimplemented, cat(kernel.node.op->name(), ": operands of such strides in more than ",
                                               kMostDims, " dims"))
      .detach();
}

// Of dims of `whole` from `dim` on; the caller says how they are walked. Requires: at most kMostIndices tensors, of one
// shape.
Indices indices(std::span<const Buffer> tensors, const Buffer& whole, size_t dim, bool from_end) {
  Indices x{};
  x.n = static_cast<int64_t>(tensors.size()), x.wide = tensors[0].dtype == DType::i64, x.from_end = from_end;
  for (size_t k = 0; k < tensors.size(); k++)
    x.at[k] = tensors[k].data, x.sizes[k] = whole.shape[dim + k], x.steps[k] = whole.strides[dim + k];
  return x;
}

// Updates the slices of `out` that the indices, over its dims from `dim` on, point to. `out` is what `in` was, in other
// memory or in its own.
Status* update(const Kernel& kernel, const Launch& l, std::span<const Buffer> tensors, size_t dim, bool from_end,
               bool add) {
  const Buffer &in = l.inputs[0], &src = l.inputs[l.n_inputs - 1], &out = l.outputs[0];
  if (in.data != out.data)
    if (Status* failed = copy_on_device(kernel.device, in, out)) return failed;
  if (!out.elements()) return nullptr;
  Indices x = indices(tensors, out, dim, from_end);
  OffsetCalculator<2> slice;
  const auto indexed = static_cast<size_t>(tensors[0].rank);
  bool fits = true;
  int64_t elements = 1, count = tensors[0].elements(), adds = add;
  for (size_t d = 0; d < indexed && fits; d++) {
    std::array<int64_t, kMostIndices + 1> by{};
    for (size_t k = 0; k < tensors.size(); k++) by[k] = tensors[k].strides[d];
    by[kMostIndices] = src.strides[dim + d];
    fits = x.positions.add(tensors[0].shape[d], by);
  }
  for (size_t d = 0, behind = dim + tensors.size(); d < static_cast<size_t>(out.rank) && fits; d++) {
    if (d >= dim && d < behind) continue;
    fits = slice.add(out.shape[d], {out.strides[d], src.strides[d < dim ? d : d - tensors.size() + indexed]});
    elements *= out.shape[d];
  }
  if (!fits) return too_many_dims(kernel);
  void *to = out.data, *from = src.data;
  nvidia::DeviceAssertion* assertion = kernel.assertion;
  void* parameters[] = {&to, &from, &x, &slice, &elements, &count, &adds, &assertion};
  return kernel.launch(count, true, parameters);
}

// ---- take_add(input, dim, index, src) ----

bool takes_take_add(const NodeView& view) { return few(view, view.node.args[2].v) && adds_up(view); }
std::vector<std::string> along_dim(const NodeView& view) {
  const Shape& shape = type(view, view.node.args[0].v).shape;
  const size_t dim = normalize_axis(view.node.args[1].i, shape.size());
  return {dim_of_size(dim, shape[dim])};
}
Status* run_take_add(const Kernel& kernel, const Launch& l) {
  const size_t dim = normalize_axis(kernel.node.args[1].i, static_cast<size_t>(l.outputs[0].rank));
  return update(kernel, l, {l.inputs + 1, 1}, dim, false, true);
}

// ---- index(input, indices), index_put(input, indices, values, accumulate) ----

bool takes_index(const NodeView& view) { return view.node.args[1].value_list().size() <= kMostIndices; }
bool takes_index_put(const NodeView& view) {
  return takes_index(view) && few(view, view.node.args[1].value_list()[0]) && (!view.node.args[3].i || adds_up(view));
}
std::vector<std::string> indexed_dims(const NodeView& view) {
  const Shape& shape = type(view, view.node.args[0].v).shape;
  std::vector<std::string> dims;
  for (size_t k = 0; k < view.node.args[1].value_list().size(); k++) dims.push_back(dim_of_size(k, shape[k]));
  return dims;
}
DimSizes sizes_of(const Buffer& whole, size_t indexed) {
  DimSizes a;
  for (size_t i = 0; i < static_cast<size_t>(whole.rank); i++) (i < indexed ? a.size : a.inner) *= whole.shape[i];
  return a;
}
Status* run_index(const Kernel& kernel, const Launch& l) {
  const std::span<const Buffer> tensors(l.inputs + 1, l.n_inputs - 1);
  Indices x = indices(tensors, l.inputs[0], 0, true);
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
Status* run_index_put(const Kernel& kernel, const Launch& l) {
  return update(kernel, l, {l.inputs + 1, l.n_inputs - 2}, 0, true, kernel.node.args[3].i != 0);
}

// ---- scatter_add(input, dim, index, src) ----

bool takes_scatter_add(const NodeView& view) {
  const size_t rank = type(view, view.node.args[0].v).shape.size();
  return rank > 0 && rank <= kMostIndices && adds_up(view);
}
Status* run_scatter_add(const Kernel& kernel, const Launch& l) {
  const Buffer &in = l.inputs[0], &index = l.inputs[1], &src = l.inputs[2], &out = l.outputs[0];
  if (Status* failed = kernel.copy(in, out)) return failed;
  const auto rank = static_cast<size_t>(out.rank), dim = normalize_axis(kernel.node.args[1].i, rank);
  Rows x{};
  x.rank = out.rank, x.dim = static_cast<int64_t>(dim), x.wide = index.dtype == DType::i64;
  int64_t out_step = 1, src_step = 1, rows = 1, size = out.shape[dim];
  for (size_t d = rank; d-- > 0;) {
    x.sizes[d] = index.shape[d], x.out[d] = out_step, x.src[d] = src_step;
    out_step *= out.shape[d], src_step *= src.shape[d];
    if (d != dim) rows *= index.shape[d];
  }
  void *to = out.data, *at = index.data, *from = src.data;
  nvidia::DeviceAssertion* assertion = kernel.assertion;
  void* parameters[] = {&to, &at, &from, &x, &rows, &size, &assertion};
  return index.elements() ? kernel.launch(rows, false, parameters) : nullptr;
}

constexpr Rule kRules[] = {
    {"prims.take_add", takes_take_add, kUpdate, first_input, along_dim, run_take_add, kStrided},
    {"prims.index", takes_index, kIndex, first_input, indexed_dims, run_index},
    {"prims.index_put", takes_index_put, kUpdate, first_input, indexed_dims, run_index_put, kStrided},
    {"prims.scatter_add", takes_scatter_add, kScatterAdd, first_input, along_dim, run_scatter_add},
};

}  // namespace

std::span<const Rule> indexed_rules() { return kRules; }

}  // namespace thunder::cuda_kernels
