// Reads and sums at positions that index tensors give: index, scatter_add.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "executors/cuda/indices.h"
#include "tensor/transfer.h"

namespace thunder::cuda_kernels {
namespace {

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

// ---- index(input, indices) ----

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
// ---- scatter_add(input, dim, index, src) ----

bool takes_scatter_add(const NodeView& view) {
  const size_t rank = view.store.type(view.node.args[0].v).shape.size();
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
    {"prims.index", takes_index, kIndex, first_input, indexed_dims, run_index},
    {"prims.scatter_add", takes_scatter_add, kScatterAdd, first_input, along_dim, run_scatter_add},
};

}  // namespace

std::span<const Rule> indexed_rules() { return kRules; }

}  // namespace thunder::cuda_kernels
