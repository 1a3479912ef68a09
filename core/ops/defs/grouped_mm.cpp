// Products of groups of rows with a matrix each, as of a mixture of experts, and the prim that all their forms are.
#include "base/text.h"
#include "ir/same_size.h"
#include "ops/formulas.h"
#include "ops/grad.h"
#include "ops/groups.h"
#include "ops/kernels.h"
#include "ops/matrix_product.h"
#include "ops/samples.h"

namespace thunder {
namespace {

// ---- the prim: [t, k] x [e, k, n] -> [t, n] has its rows in groups, [m, t] x [t, n] -> [e, m, n] what is summed ----

void grouped_mm_meta(const Call& c, Types& out) {
  const TensorType &a = c.type(0), &b = c.type(1), &ends = c.type(2);
  c.require(a.rank() == 2 && (b.rank() == 2 || b.rank() == 3), "operands must have two dims, or the second three; ",
            c.types());
  c.require(a.dtype == b.dtype, "operands must have one dtype, got ", name(a.dtype), " and ", name(b.dtype), "; ",
            c.types());
  c.require(a.dtype != DType::boolean, "booleans have no matrix product; ", c.types());
  c.require(ends.rank() == 1 && (ends.dtype == DType::i32 || ends.dtype == DType::i64),
            "ends must be a vector of int32 or int64, got ", name(ends));
  c.require(a.device == b.device && a.device == ends.device, "operands must be on one device; ", c.types());
  const bool grouped_rows = b.rank() == 3;
  c.require(same_size(a.shape[1], b.shape[grouped_rows ? 1 : 0]), "inner dimensions differ: got ", name(a.shape[1]),
            " and ", name(b.shape[grouped_rows ? 1 : 0]), "; ", c.types());
  c.require(!grouped_rows || same_size(ends.shape[0], b.shape[0]), "got ", name(ends.shape[0]), " ends for ",
            name(b.shape[0]), " matrices; ", c.types());
  TensorType t = a;
  t.shape = grouped_rows ? Shape{a.shape[0], b.shape[2]} : Shape{ends.shape[0], a.shape[0], b.shape[1]};
  out.push(t);
}

Status* grouped_mm_kernel(const KernelArgs& k) {
  const Buffer &a = k.in[0], &b = k.in[1], &c = k.out[0];
  const bool grouped_rows = b.rank == 3;
  const int32_t r = b.rank, along = grouped_rows ? 0 : 1;
  const auto item = static_cast<int64_t>(size_of(c.dtype));
  Operand left, right;
  ProductOutput out;
  left.outer = AxisPositions::strided(a.strides[0]), left.inner = AxisPositions::strided(a.strides[1]);
  right.outer = AxisPositions::strided(b.strides[r - 1]), right.inner = AxisPositions::strided(b.strides[r - 2]);
  out.rows = AxisPositions::strided(c.strides[c.rank - 2]), out.columns = AxisPositions::strided(c.strides[c.rank - 1]);
  return each_group(k.in[2], a.shape[along], [&](int64_t group, int64_t first, int64_t count) -> Status* {
    const bool none = group == k.in[2].shape[0];  // these rows are zeros, or not summed
    if (none && !grouped_rows) return nullptr;
    left.data = a.as<char>() + first * a.strides[along] * item;
    right.data = b.as<char>() + (none ? 0 : grouped_rows ? group : first) * b.strides[0] * item;
    out.data = c.as<char>() + (grouped_rows ? first : group) * c.strides[0] * item;
    matrix_product(c.dtype, left, right, out, grouped_rows ? count : a.shape[0], b.shape[r - 1],
                   none ? 0 : grouped_rows ? a.shape[1] : count);
    return nullptr;
  });
}

Var call_grouped_matmul(Var a, Var b, Var ends) { return a.builder->call(Prim::grouped_matmul, {a, b, ends}); }

void vjp(Grad& g) {
  Var a = g.var(0), b = g.var(1), ends = g.var(2), y = g.cotangent();
  if (b.rank() == 3) {
    if (g.wants(0)) g.add(0, call_grouped_matmul(y, swap_last_two(b), ends));
    if (g.wants(1)) g.add(1, call_grouped_matmul(swap_last_two(a), y, ends));
  } else {
    if (g.wants(0)) g.add(0, swap_last_two(call_grouped_matmul(b, swap_last_two(y), ends)));
    if (g.wants(1)) g.add(1, call_grouped_matmul(swap_last_two(a), y, ends));
  }
}

// ---- the op ----

Results grouped_mm(Call& c) {
  Var a = c.var(0), b = c.var(1);
  const auto has_rank = [](Var x) { return x.rank() == 2 || x.rank() == 3; };
  c.require(has_rank(a) && has_rank(b), "mat_a and mat_b must have two or three dims; ", c.types());
  const bool both_have_three = a.rank() == 3 && b.rank() == 3;
  const char* wrong = both_have_three ? "two operands of three dims take no offs; "
                                      : "an operand of two dims needs offs, the ends of its groups; ";
  c.require(c.has(2) != both_have_three, wrong, c.types());
  if (both_have_three) return c.builder.call(Prim::matmul, {a, b});
  if (a.rank() == 2) return call_grouped_matmul(a, b, c.var(2));
  c.require(same_size(a.shape()[2], b.shape()[0]), "inner dimensions differ: got ", name(a.shape()[2]), " and ",
            name(b.shape()[0]), "; ", c.types());
  return swap_last_two(call_grouped_matmul(swap_last_two(b), swap_last_two(a), c.var(2)));  // the columns are in groups
}

void samples(Samples& s) {
  const TensorSpec rows{{6, 3}}, matrices{{2, 3, 4}}, ends{{2}, DType::i32, 0, 8};
  s.add({rows, matrices, ends});
  s.add({rows, matrices, TensorSpec{{2}, DType::i64, 0, 3}});
  s.add({TensorSpec{{3, 6}}, TensorSpec{{6, 4}}, ends});
  s.add({TensorSpec{{2, 5, 3}}, TensorSpec{{3, 6}}, ends});
  s.add({TensorSpec{{2, 5, 3}}, TensorSpec{{2, 3, 4}}});
  s.add({TensorSpec{{6, 3}, DType::bf16}, TensorSpec{{2, 3, 4}, DType::bf16}, ends});
  s.add({TensorSpec{{6, 3}, DType::i64, -9, 9}, TensorSpec{{2, 3, 4}, DType::i64, -9, 9}, ends});
  s.refuse({rows, matrices}, "needs offs");
  s.refuse({matrices, TensorSpec{{2, 4, 3}}, ends}, "take no offs");
  s.refuse({rows, matrices, TensorSpec{{3}, DType::i32, 0, 6}}, "got 3 ends for 2 matrices");
  s.refuse({rows, matrices, TensorSpec{{2}}}, "int32 or int64");
  s.refuse({rows, TensorSpec{{2, 4, 4}}, ends}, "inner dimensions differ: got 3 and 4");
  s.refuse({TensorSpec{{2, 5, 3}}, TensorSpec{{4, 6}}, ends}, "inner dimensions differ: got 3 and 4");
}

constexpr OpRow kRows[] = {
    primitive("prims.grouped_matmul(tensor input, tensor other, tensor ends) -> tensor",
              "The product of each group of rows with its matrix of other; with another of two dims, for each group of "
              "what is summed a product. A row is in the first group whose end is behind it; those in none give zeros.",
              grouped_mm_meta, grouped_mm_kernel, vjp, kMatmul, {.multiply_adds = multiply_adds_of_rows}),
    composite("grouped_mm(tensor mat_a, tensor mat_b, tensor? offs=None) -> tensor", CastPolicy::none,
              "The product of each group of rows of mat_a with its matrix of mat_b, which has three dims; of each "
              "matrix of mat_a with its group of columns of mat_b; or, where both have two dims, a product for each "
              "group of what is summed. offs says where the groups end; rows and columns behind the last end are "
              "zeros. Two operands of three dims are a batch.",
              grouped_mm, samples),
};

}  // namespace

extern const OpRows grouped_mm_ops = kRows;

}  // namespace thunder
