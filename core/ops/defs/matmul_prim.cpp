// The matrix product that every other contraction descends to.
#include "base/text.h"
#include "ir/same_size.h"
#include "ops/batch.h"
#include "ops/formulas.h"
#include "ops/grad.h"
#include "ops/kernels.h"
#include "ops/matrix_product.h"
#include "ops/samples.h"

namespace thunder {
namespace {

// [..., m, k] x [..., k, n] with equal leading dims.
void meta(const Call& c, Types& out) {
  const TensorType &a = c.type(0), &b = c.type(1);
  const size_t r = a.rank();
  c.require(r >= 2 && b.rank() == r, "operands must have one rank of at least 2; ", c.types());
  c.require(a.dtype == b.dtype, "operands must have one dtype, got ", name(a.dtype), " and ", name(b.dtype), "; ",
            c.types());
  c.require(a.dtype != DType::boolean, "booleans have no matrix product; ", c.types());
  c.require(a.device == b.device, "operands must be on one device; ", c.types());
  c.require(same_size(a.shape[r - 1], b.shape[r - 2]), "inner dimensions differ: got ", name(a.shape[r - 1]), " and ",
            name(b.shape[r - 2]), "; ", c.types());
  for (size_t i = 0; i + 2 < r; i++)
    c.require(same_size(a.shape[i], b.shape[i]), "batch dimensions differ: got ", name(a.shape[i]), " and ",
              name(b.shape[i]), "; ", c.types());
  TensorType t = a;
  t.shape[r - 1] = b.shape[r - 1];
  out.push(t);
}

Status* kernel(const KernelArgs& k) {
  const Buffer &a = k.in[0], &b = k.in[1], &c = k.out[0];
  const auto r = static_cast<size_t>(a.rank);
  const auto item = static_cast<int64_t>(size_of(c.dtype));
  Operand left, right;
  ProductOutput out;
  left.outer = AxisPositions::strided(a.strides[r - 2]), left.inner = AxisPositions::strided(a.strides[r - 1]);
  right.outer = AxisPositions::strided(b.strides[r - 1]), right.inner = AxisPositions::strided(b.strides[r - 2]);
  out.rows = AxisPositions::strided(c.strides[r - 2]), out.columns = AxisPositions::strided(c.strides[r - 1]);
  int64_t batch = 1;
  for (size_t i = 0; i + 2 < r; i++) batch *= a.shape[i];
  for (int64_t x = 0; x < batch; x++) {
    int64_t rest = x, at_a = 0, at_b = 0, at_c = 0;
    for (size_t i = r - 2; i-- > 0; rest /= a.shape[i]) {
      const int64_t at = rest % a.shape[i];
      at_a += at * a.strides[i], at_b += at * b.strides[i], at_c += at * c.strides[i];
    }
    left.data = a.as<char>() + at_a * item;
    right.data = b.as<char>() + at_b * item;
    out.data = c.as<char>() + at_c * item;
    matrix_product(c.dtype, left, right, out, a.shape[r - 2], b.shape[r - 1], a.shape[r - 1]);
  }
  return nullptr;
}

// If all examples share one matrix, their rows are the rows of a single product.
Results batch(Batch& b) {
  if (b.rank(0) != 2 || b.batched(1)) return b.invoke_same_op({b.operand(0), b.operand(1)});
  return b.parted(b.builder.call(Prim::matmul, {b.merged(0), b.args[1]}), 0);
}

void samples(Samples& s) {
  s.add({TensorSpec{{4, 3}}, TensorSpec{{3, 5}}});
  s.add({TensorSpec{{2, 3, 4, 3}}, TensorSpec{{2, 3, 3, 5}}});
  s.add({TensorSpec{{4, 3}, DType::i32, -9, 9}, TensorSpec{{3, 5}, DType::i32, -9, 9}});
  s.refuse({TensorSpec{{2, 4, 3}}, TensorSpec{{3, 5}}}, "one rank");
  s.refuse({TensorSpec{{2, 4, 3}}, TensorSpec{{1, 3, 5}}}, "batch dimensions differ: got 2 and 1");
}

constexpr OpRow kMatmulPrim = primitive(
    "prims.matmul(tensor input, tensor other) -> tensor", "Batched matrix product of equal leading dims.", meta, kernel,
    [](Grad& g) {
      if (g.wants(0)) g.add(0, g.builder.call(Prim::matmul, {g.cotangent(), swap_last_two(g.var(1))}));
      if (g.wants(1)) g.add(1, g.builder.call(Prim::matmul, {swap_last_two(g.var(0)), g.cotangent()}));
    },
    kMatmul, {.batch = batch, .samples = samples, .multiply_adds = multiply_adds_of_rows});

}  // namespace

extern const OpRows matmul_prim_ops = {&kMatmulPrim, 1};

}  // namespace thunder
