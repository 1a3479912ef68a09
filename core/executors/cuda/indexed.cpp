// Sums and updates at positions that index tensors give: take_add, index, index_put, scatter_add. What is added to one
// element is added in the order of the indices, as on the CPU, so results have the same bits in every run.
#include <algorithm>

#include "executors/cuda/kernel.h"

namespace thunder::cuda_kernels {
namespace {

constexpr size_t kMostIndices = 8;
// Each block compares its index with all others: from so many on the CPU, which goes over them once, is as fast.
constexpr int64_t kMostPositions = 1 << 17;

// Mirrored in the texts.
struct Indices {
  const void* at[kMostIndices];
  int64_t sizes[kMostIndices];  // of the dims that they index
  int64_t n, wide, from_end;    // wide: i64, else i32; from_end: negative ones count from there
};

#define THUNDER_CUDA_INDICES                                                                                  \
  "struct Indices { const void* at[8]; i64 sizes[8]; i64 n, wide, from_end; };\n"                             \
  "__device__ inline i64 place_of(const Indices& x, i64 m, Refusal* refusal) {\n"                             \
  "  i64 place = 0;\n"                                                                                        \
  "  for (int k = 0; k < (int)x.n; k++) {\n"                                                                  \
  "    const i64 given = x.wide ? ((const i64*)x.at[k])[m] : ((const int*)x.at[k])[m];\n"                     \
  "    const i64 i = x.from_end && given < 0 && given >= -x.sizes[k] ? given + x.sizes[k] : given;\n"         \
  "    place = place * x.sizes[k] + checked(i, x.sizes[k], k, refusal);\n"                                    \
  "  }\n"                                                                                                     \
  "  return place;\n"                                                                                         \
  "}\n"

// A block for each index. Among indices of the same element, the first one's block adds the values of all of them;
// without `add`, the last one's block stores its value.
constexpr char kUpdate[] = THUNDER_CUDA_INDICES R"(
extern "C" __global__ void kernel(
    T* out, const T* src, const Indices x, i64 outer, i64 size, i64 inner, i64 count, i64 add,
    Refusal* refusal) {
  __shared__ int hits[256];
  const i64 slice = outer * inner;
  for (i64 m = blockIdx.x; m < count; m += gridDim.x) {
    const i64 place = place_of(x, m, refusal);
    int other = 0;
    if (add) for (i64 j = threadIdx.x; j < m; j += blockDim.x) other |= place_of(x, j, refusal) == place;
    else for (i64 j = m + 1 + threadIdx.x; j < count; j += blockDim.x) other |= place_of(x, j, refusal) == place;
    if (__syncthreads_or(other)) continue;
    if (!add) {
      for (i64 c = threadIdx.x; c < slice; c += blockDim.x) {
        const i64 a = c / inner, b = c - a * inner;
        out[(a * size + place) * inner + b] = src[(a * count + m) * inner + b];
      }
      continue;
    }
    for (i64 first = m; first < count; first += blockDim.x) {
      const i64 mine = first + threadIdx.x;
      const int hit = mine < count && place_of(x, mine, refusal) == place;
      hits[threadIdx.x] = hit;
      if (!__syncthreads_or(hit)) continue;
      for (int h = 0; h < (int)blockDim.x; h++) {
        if (!hits[h]) continue;
        for (i64 c = threadIdx.x; c < slice; c += blockDim.x) {
          const i64 a = c / inner, b = c - a * inner;
          T& to = out[(a * size + place) * inner + b];
          to = put((C)((A)get(to) + (A)get(src[(a * count + first + h) * inner + b])));
        }
      }
      __syncthreads();
    }
  }
}
)";

constexpr char kIndex[] = THUNDER_CUDA_INDICES R"(
extern "C" __global__ void kernel(T* out, const T* in, const Indices x, i64 inner, i64 count, Refusal* refusal) {
  for (i64 at = blockIdx.x * (i64)blockDim.x + threadIdx.x; at < count * inner; at += (i64)gridDim.x * blockDim.x) {
    const i64 m = at / inner;
    out[at] = in[place_of(x, m, refusal) * inner + (at - m * inner)];
  }
}
)";

// A thread for each row along the dim, since any two indices of a row may name the same element.
constexpr char kScatterAdd[] = R"(
struct Rows { i64 rank, dim, wide, sizes[8], out[8], src[8]; };
extern "C" __global__ void kernel(
    T* out, const void* index, const T* src, const Rows x, i64 rows, i64 size, Refusal* refusal) {
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
      const i64 place = checked(x.wide ? ((const i64*)index)[n] : ((const int*)index)[n], size, 0, refusal);
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

Indices indices(std::span<const Buffer> tensors, const Buffer& whole, size_t dim, bool from_end) {
  Indices x{};
  x.n = static_cast<int64_t>(tensors.size()), x.wide = tensors[0].dtype == DType::i64, x.from_end = from_end;
  for (size_t k = 0; k < tensors.size(); k++) x.at[k] = tensors[k].data, x.sizes[k] = whole.shape[dim + k];
  return x;
}

Status* update(const Kernel& kernel, const Buffer& out, const Buffer& src, Indices x, DimSizes a, int64_t count,
               int64_t add) {
  void *to = out.data, *from = src.data;
  nvidia::Refusal* refusal = kernel.refusal;
  void* parameters[] = {&to, &from, &x, &a.outer, &a.size, &a.inner, &count, &add, &refusal};
  return out.elements() ? kernel.launch(count, true, parameters) : nullptr;
}

// ---- take_add(input, dim, index, src) ----

bool takes_take_add(const NodeView& view) { return few(view, view.node.args[2].v) && adds_up(view); }
std::vector<std::string> along_dim(const NodeView& view) {
  const Shape& shape = type(view, view.node.args[0].v).shape;
  const size_t dim = normalize_axis(view.node.args[1].i, shape.size());
  return {dim_of_size(dim, shape[dim])};
}
Status* run_take_add(const Kernel& kernel, const Launch& l) {
  const Buffer &in = l.inputs[0], &index = l.inputs[1], &src = l.inputs[2], &out = l.outputs[0];
  if (Status* failed = kernel.copy(in, out)) return failed;
  const int64_t axis = kernel.node.args[1].i;
  return update(kernel, out, src, indices({&index, 1}, out, normalize_axis(axis, static_cast<size_t>(out.rank)), false),
                sizes_around(out, axis), index.elements(), 1);
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
  void *to = l.outputs[0].data, *from = l.inputs[0].data;
  nvidia::Refusal* refusal = kernel.refusal;
  void* parameters[] = {&to, &from, &x, &a.inner, &count, &refusal};
  return kernel.launch(count * a.inner, false, parameters);
}
Status* run_index_put(const Kernel& kernel, const Launch& l) {
  const Buffer &in = l.inputs[0], &values = l.inputs[l.n_inputs - 1], &out = l.outputs[0];
  if (Status* failed = kernel.copy(in, out)) return failed;
  const std::span<const Buffer> tensors(l.inputs + 1, l.n_inputs - 2);
  return update(kernel, out, values, indices(tensors, out, 0, true), sizes_of(out, tensors.size()),
                tensors[0].elements(), kernel.node.args[3].i);
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
  nvidia::Refusal* refusal = kernel.refusal;
  void* parameters[] = {&to, &at, &from, &x, &rows, &size, &refusal};
  return index.elements() ? kernel.launch(rows, false, parameters) : nullptr;
}

constexpr Rule kRules[] = {
    {"prims.take_add", takes_take_add, kUpdate, first_input, along_dim, run_take_add},
    {"prims.index", takes_index, kIndex, first_input, indexed_dims, run_index},
    {"prims.index_put", takes_index_put, kUpdate, first_input, indexed_dims, run_index_put},
    {"prims.scatter_add", takes_scatter_add, kScatterAdd, first_input, along_dim, run_scatter_add},
};

}  // namespace

std::span<const Rule> indexed_rules() { return kRules; }

}  // namespace thunder::cuda_kernels
