// matmul of integers, which cuBLASLt has not: tiles of 64 x 64, by way of shared memory.
#include "executors/cuda/kernel_rules.h"
#include "ir/prim.h"

namespace thunder::cuda_kernels {
namespace {

constexpr int64_t kTile = 64;  // mirrored in the text

// A thread adds up 16 elements, of rows and columns 16 apart, in as many bits as the result keeps.
constexpr char kMatmul[] = R"(
struct Matrices { i64 rows, columns, inner, x[2], y[2], tiles[2]; };
template <int bytes> struct SumOf { typedef u32 Type; };
template <> struct SumOf<8> { typedef u64 Type; };
typedef SumOf<sizeof(T)>::Type Sum;
extern "C" __global__ void kernel(T* out, const T* x, const T* y, const Matrices m) {
  __shared__ T left[16][65], right[16][65];
  const int own = threadIdx.x, column = own % 16, row = own / 16;
  for (i64 tile = blockIdx.x; tile < m.tiles[0] * m.tiles[1]; tile += gridDim.x) {
    const i64 r = tile / m.tiles[1] * 64, c = tile % m.tiles[1] * 64;
    Sum sum[4][4] = {};
    for (i64 first = 0; first < m.inner; first += 16) {
#pragma unroll
      for (int n = 0; n < 4; n++) {
        const i64 x_row = r + row + 16 * n, x_at = first + column;
        const i64 y_at = first + own / 64 + 4 * n, y_column = c + own % 64;
        left[column][row + 16 * n] = x_row < m.rows && x_at < m.inner ? x[x_row * m.x[0] + x_at * m.x[1]] : (T)0;
        right[own / 64 + 4 * n][own % 64] =
            y_at < m.inner && y_column < m.columns ? y[y_at * m.y[0] + y_column * m.y[1]] : (T)0;
      }
      __syncthreads();
#pragma unroll
      for (int k = 0; k < 16; k++) {
        Sum a[4], b[4];
#pragma unroll
        for (int n = 0; n < 4; n++) a[n] = (Sum)get(left[k][row + 16 * n]), b[n] = (Sum)get(right[k][column + 16 * n]);
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
          for (int j = 0; j < 4; j++) sum[i][j] += a[i] * b[j];
      }
      __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
      for (int j = 0; j < 4; j++) {
        const i64 to_row = r + row + 16 * i, to_column = c + column + 16 * j;
        if (to_row < m.rows && to_column < m.columns) out[to_row * m.columns + to_column] = put((C)sum[i][j]);
      }
  }
}
)";
struct Matrices {
  int64_t rows, columns, inner, x[2], y[2], tiles[2];
};

bool has_integer_matrices(const NodeView& view) {
  return is_integer(first_input_dtype(view)) && view.store.type(view.node.args[0].v).rank() == 2 &&
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

constexpr Rule kRules[] = {{.op = name(Prim::matmul),
                            .takes = has_integer_matrices,
                            .text = kMatmul,
                            .element = first_input_dtype,
                            .run = run_matmul,
                            .flags = kStrided}};

}  // namespace

extern const Rules products_rules = kRules;

}  // namespace thunder::cuda_kernels
