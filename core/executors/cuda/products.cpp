// matmul of integers, which cuBLASLt has not: tiles of 32 x 32 in shared memory.
#include "executors/cuda/kernel.h"

namespace thunder::cuda_kernels {
namespace {

constexpr int64_t kTile = 32;  // mirrored in the text

// A thread adds up four elements, of rows 8 apart.
constexpr char kMatmul[] = R"(
struct Matrices { i64 rows, columns, inner, x[2], y[2], tiles[2]; };
extern "C" __global__ void kernel(T* out, const T* x, const T* y, const Matrices m) {
  __shared__ T left[32][33], right[32][33];
  const int column = threadIdx.x % 32, row = threadIdx.x / 32;
  for (i64 tile = blockIdx.x; tile < m.tiles[0] * m.tiles[1]; tile += gridDim.x) {
    const i64 r = tile / m.tiles[1] * 32, c = tile % m.tiles[1] * 32;
    u64 sum[4] = {0, 0, 0, 0};
    for (i64 first = 0; first < m.inner; first += 32) {
      for (int k = 0; k < 4; k++) {
        const int at = row + 8 * k;
        const bool in_left = r + at < m.rows && first + column < m.inner;
        const bool in_right = first + at < m.inner && c + column < m.columns;
        left[at][column] = in_left ? x[(r + at) * m.x[0] + (first + column) * m.x[1]] : (T)0;
        right[at][column] = in_right ? y[(first + at) * m.y[0] + (c + column) * m.y[1]] : (T)0;
      }
      __syncthreads();
      for (int i = 0; i < 32; i++)
        for (int k = 0; k < 4; k++) sum[k] += (u64)(i64)get(left[row + 8 * k][i]) * (u64)(i64)get(right[i][column]);
      __syncthreads();
    }
    for (int k = 0; k < 4; k++)
      if (r + row + 8 * k < m.rows && c + column < m.columns)
        out[(r + row + 8 * k) * m.columns + c + column] = put((C)sum[k]);
  }
}
)";
struct Matrices {
  int64_t rows, columns, inner, x[2], y[2], tiles[2];
};

bool integer_matrices(const NodeView& view) {
  return is_integer(first_input(view)) && view.store.type(view.node.args[0].v).rank() == 2 &&
         view.store.type(view.node.args[1].v).rank() == 2;
}

// matmul(input, other)
Status* run_matmul(const CompiledNode& kernel, const Launch& l) {
  const Buffer &x = l.inputs[0], &y = l.inputs[1], &out = l.outputs[0];
  if (!out.elements()) return nullptr;
  Matrices m{out.shape[0], out.shape[1], x.shape[1], {x.strides[0], x.strides[1]}, {y.strides[0], y.strides[1]}, {}};
  m.tiles[0] = (m.rows + kTile - 1) / kTile, m.tiles[1] = (m.columns + kTile - 1) / kTile;
  void *to = out.data, *left = x.data, *right = y.data;
  void* parameters[] = {&to, &left, &right, &m};
  return kernel.launch(m.tiles[0] * m.tiles[1], true, parameters);
}

constexpr Rule kRules[] = {
    {.op = "prims.matmul", .takes = integer_matrices, .text = kMatmul, .element = first_input, .run = run_matmul,
     .flags = kStrided}};

}  // namespace

std::span<const Rule> product_rules() { return kRules; }

}  // namespace thunder::cuda_kernels
