// The prims that read by indices which are data: gather, take.
#include "ops/batch.h"
#include "ops/formulas.h"
#include "ops/grad.h"
#include "ops/indices.h"

namespace thunder {
namespace {

// ---- gather ----

void gather_meta(const Call& c, Types& out) {
  TensorType t = c.type(0);
  require_index(c, 2);
  require_along(c, t, c.type(2), c.axis(1, t.rank()));
  t.shape = c.type(2).shape;
  out.push(t);
}
Status* gather_kernel(const KernelArgs& k) {
  const Buffer &in = k.in[0], &index = k.in[1], &out = k.out[0];
  const size_t dim = normalize_axis(k.args[1].i, static_cast<size_t>(in.rank));
  const int64_t size = in.rank ? in.shape[dim] : 1, stride = in.rank ? in.strides[dim] : 0;
  const Reshaped from = with_zero_stride(in, index, dim);
  return by_dtype(out.dtype, [&](auto t) -> Status* {
    using T = decltype(t);
    Rows<3> rows(index, {&index, &out, &from.buffer});
    for (int64_t r = 0; r < rows.rows(); r++, rows.next())
      for (int64_t i = 0; i < rows.row(); i++) {
        const int64_t at = index_at(index, rows.offset[0] + i * rows.step[0]);
        if (at < 0 || at >= size) return out_of_range("prims.gather", at, dim, size);
        out.as<T>()[rows.offset[1] + i * rows.step[1]] = in.as<T>()[rows.offset[2] + i * rows.step[2] + at * stride];
      }
    return nullptr;
  });
}

// Sums of many bf16 numbers are made in f32.
void gather_vjp(Grad& g) {
  Var ct = computed(g.cotangent());
  Var zeros = expand_to(full(g.builder, {}, 0, ct.dtype(), ct.type().device), g.type(0).shape);
  g.add(0, g.builder.call(Prim::scatter_add, {zeros, g.integer(1), g.var(2), ct}));
}

// ---- take ----

void take_meta(const Call& c, Types& out) {
  TensorType t = c.type(0);
  require_index(c, 2);
  c.require(t.rank() > 0, "input must have a dim to index, got ", name(t));
  t.shape = taken_shape(t.shape, c.axis(1, t.rank()), c.type(2).shape);
  out.push(t);
}

Status* take_kernel(const KernelArgs& k) {
  const size_t dim = normalize_axis(k.args[1].i, static_cast<size_t>(k.in[0].rank));
  Slabs slabs(k.in[0], k.out[0], k.in[1], dim);
  return slabs.each("prims.take", k.in[1], dim, [](const Buffer& from, const Buffer& to) { copy_strided(from, to); });
}
void take_vjp(Grad& g) {
  Var ct = computed(g.cotangent());
  Var zeros = expand_to(full(g.builder, {}, 0, ct.dtype(), ct.type().device), g.type(0).shape);
  g.add(0, g.builder.call(Prim::take_add, {zeros, g.integer(1), g.var(2), ct}));
}

// ---- samples ----

void gather_samples(Samples& s) {
  s.add({TensorSpec{{3, 4}}, 1, below({3, 2}, 4)});
  s.add({TensorSpec{{3, 4}}, -2, below({5, 4}, 3, DType::i32)});
  s.add({TensorSpec{{}}, 0, below({}, 1)});
  s.add({TensorSpec{{3, 4}}, 0, below({0, 4}, 3)});
  s.refuse({TensorSpec{{3, 4}}, 1, below({4, 2}, 4)}, "more than the input");
  s.refuse({TensorSpec{{3, 4}}, 1, TensorSpec{{3, 2}}}, "index must be i64");
  s.refuse({TensorSpec{{3}}, 0, TensorSpec{{2}, DType::i64, 3, 3}}, "index 3 is out of range");
}
void take_samples(Samples& s) {
  s.add({TensorSpec{{4, 3}}, 0, below({2, 5}, 4)});
  s.add({TensorSpec{{2, 3, 4}}, 1, below({}, 3, DType::i32)});
  s.add({TensorSpec{{2, 3}}, -1, below({0}, 3)});
  s.refuse({TensorSpec{{}}, 0, below({1}, 1)}, "dim to index");
  s.refuse({TensorSpec{{4}}, 0, TensorSpec{{1}, DType::i64, 9, 9}}, "index 9 is out of range for dim 0 of size 4");
}

// If the indices differ between examples, each becomes a pair of the example's number and the index.
Results batch_take(Batch& b) {
  const size_t axis = b.axis(1, b.rank(0)), places = b.rank(2);
  if (!b.batched(2)) return b.invoke_same_op({b.operand(0), static_cast<int64_t>(axis + 1), b.args[2]});
  Shape order{static_cast<int64_t>(b.batched(0) ? 0 : axis)};
  const auto all = static_cast<int64_t>(b.rank(0) - 1 + places), at = static_cast<int64_t>(axis),
             n = static_cast<int64_t>(places);
  if (!b.batched(0)) {
    for (int64_t i = 0; i <= all; i++)
      if (i != at) order.push_back(i);
    return permute_to(b.builder.var(b.invoke_same_op({b.args[0], b.integer(1), b.args[2]})[0]), order);
  }
  Var index = b.operand(2);
  ValueList pair{convert(b.example_indices(index.shape()), index.dtype()).id, index.id};
  Var picked = b.builder.call(Prim::index, {to_second(b.operand(0), axis + 1), pair});
  for (int64_t i = 0; i < at; i++) order.push_back(1 + n + i);
  for (int64_t i = 0; i < n; i++) order.push_back(1 + i);
  for (int64_t i = at; i < all - n; i++) order.push_back(1 + n + i);
  return permute_to(picked, order);
}

constexpr OpRow kRows[] = {
    primitive("prims.gather(tensor input, int dim, tensor index) -> tensor",
              "out[i, j, ..] = input with dim's position replaced by index[i, j, ..]. Negative indices are refused.",
              gather_meta, gather_kernel, gather_vjp, kChecksData | kLinear, {.samples = gather_samples}),
    primitive("prims.take(tensor input, int dim, tensor index) -> tensor",
              "The slices of input at index along dim, which index's dims replace. Negative indices are refused.",
              take_meta, take_kernel, take_vjp, kChecksData | kLinear | kAnyElement,
              {.batch = batch_take, .samples = take_samples}),
};

}  // namespace

extern const OpRows index_prims_ops = kRows;

}  // namespace thunder
