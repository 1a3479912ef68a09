// matmul of every rank, and linear.
#include "base/text.h"
#include "ir/same_size.h"
#include "ops/formulas.h"
#include "ops/grad.h"
#include "ops/samples.h"

namespace thunder {
namespace {

Shape drop_trailing_dims(const Shape& shape, size_t trailing) {
  return Shape(shape.begin(), shape.end() - static_cast<int64_t>(trailing));
}

Shape append_dims(Shape shape, std::initializer_list<Dim> more) {
  for (Dim d : more) shape.push_back(d);
  return shape;
}

// [..., n] as a matrix [product of the leading dims, n].
Var as_matrix(Var x) { return reshape_to(x, {{elements(drop_trailing_dims(x.shape(), 1)), x.size(-1)}}); }

void require_factors(const Call& c, size_t left, size_t right) {
  const TensorType &a = c.type(left), &b = c.type(right);
  c.require(a.rank() > 0 && b.rank() > 0, "operands must have at least one dimension; ", c.types());
  c.require(a.dtype == b.dtype, "operands must have one dtype, got ", name(a.dtype), " and ", name(b.dtype), "; ",
            c.types());
}

// ---- matmul ----

Shape broadcast_batch(const Call& c, Var a, Var b) {
  try {
    return broadcast(drop_trailing_dims(a.shape(), 2), drop_trailing_dims(b.shape(), 2));
  } catch (const Error& e) {
    c.require(false, "batch dimensions differ: ", e.message(), "; ", c.types());
    throw;
  }
}

// Requires: both have a rank of at least 2.
Var multiply_matrices(const Call& c, Var a, Var b) {
  Builder& builder = c.builder;
  if (a.rank() > 2 && b.rank() == 2) {
    // One product of a tall matrix is faster than many small ones.
    Var tall = builder.call(Prim::matmul, {as_matrix(a), b});
    return reshape_to(tall, append_dims(drop_trailing_dims(a.shape(), 1), {b.size(1)}));
  }
  const Shape batch = broadcast_batch(c, a, b);
  return builder.call(Prim::matmul, {expand_to(a, append_dims(batch, {a.size(-2), a.size(-1)})),
                                       expand_to(b, append_dims(batch, {b.size(-2), b.size(-1)}))});
}

Results matmul(Call& c) {
  require_factors(c, 0, 1);
  Var a = c.var(0), b = c.var(1);
  const bool row = a.rank() == 1, column = b.rank() == 1;
  const Dim inner = column ? b.size(0) : b.size(-2);
  c.require(same_size(a.size(-1), inner), "inner dimensions differ: got ", name(a.size(-1)), " and ", name(inner), "; ",
            c.types());
  if (row) a = reshape_to(a, {{1, a.size(0)}});
  if (column) b = reshape_to(b, {{b.size(0), 1}});
  Var out = multiply_matrices(c, a, b);
  if (!row && !column) return out;
  Shape shape = drop_trailing_dims(out.shape(), 2);
  if (!row) shape.push_back(out.size(-2));
  if (!column) shape.push_back(out.size(-1));
  return reshape_to(out, shape);
}

// Products of matrices again; sums undo the broadcasting of batches.
void matmul_vjp(Grad& g) {
  Var a = g.var(0), b = g.var(1), dy = g.cotangent();
  const bool row = a.rank() == 1, column = b.rank() == 1;
  const Dim one = 1, rows = row ? one : a.size(-2), columns = column ? one : b.size(-1);
  dy = reshape_to(dy,
                  append_dims(drop_trailing_dims(dy.shape(), (row ? 0u : 1u) + (column ? 0u : 1u)), {rows, columns}));
  if (row) a = reshape_to(a, {{1, a.size(0)}});
  if (column) b = reshape_to(b, {{b.size(0), 1}});
  if (g.wants(0)) {
    Var da = g.builder.call("matmul", {dy, swap_last_two(b)});
    g.add(0, reshape_to(sum_to(da, a.shape()), g.type(0).shape));
  }
  if (!g.wants(1)) return;
  Var db;
  if (a.rank() > 2 && b.rank() == 2) db = g.builder.call("matmul", {swap_last_two(as_matrix(a)), as_matrix(dy)});
  else db = sum_to(g.builder.call("matmul", {swap_last_two(a), dy}), b.shape());
  g.add(1, reshape_to(db, g.type(1).shape));
}

void matmul_samples(Samples& s) {
  s.add({TensorSpec{{3}}, TensorSpec{{3}}});
  s.add({TensorSpec{{3}}, TensorSpec{{3, 4}}});
  s.add({TensorSpec{{2, 3}}, TensorSpec{{3}}});
  s.add({TensorSpec{{2, 3}}, TensorSpec{{3, 4}}});
  s.add({TensorSpec{{2, 5, 3}}, TensorSpec{{3, 4}}});
  s.add({TensorSpec{{5, 3}}, TensorSpec{{2, 3, 4}}});
  s.add({TensorSpec{{2, 1, 5, 3}}, TensorSpec{{4, 3, 2}}});
  s.add({TensorSpec{{3}}, TensorSpec{{2, 3, 4}}});
  s.add({TensorSpec{{2, 5, 3}}, TensorSpec{{3}}});
  s.add({TensorSpec{{2, 3}, DType::bf16}, TensorSpec{{3, 4}, DType::bf16}});
  s.add({TensorSpec{{2, 3}, DType::i64, -9, 9}, TensorSpec{{3, 4}, DType::i64, -9, 9}});
  s.add({TensorSpec{{0, 3}}, TensorSpec{{3, 4}}});
  s.add({TensorSpec{{2, 0}}, TensorSpec{{0, 4}}});
  s.refuse({TensorSpec{{4, 8}}, TensorSpec{{16, 4}}}, "inner dimensions differ: got 8 and 16");
  s.refuse({TensorSpec{{2, 4, 8}}, TensorSpec{{3, 8, 4}}}, "batch dimensions differ");
  s.refuse({TensorSpec{{4, 8}}, TensorSpec{{8, 4}, DType::f64}}, "got f32 and f64");
  s.refuse({TensorSpec{{}}, TensorSpec{{8, 4}}}, "at least one dimension");
  s.refuse({TensorSpec{{2, 2}, DType::boolean, 0, 1}, TensorSpec{{2, 2}, DType::boolean, 0, 1}}, "booleans");
}

// ---- linear ----

Results linear(Call& c) {
  require_factors(c, 0, 1);
  Var x = c.var(0), w = c.var(1), bias = c.var(2);
  c.require(w.rank() <= 2, "weight must be [out, in] or [in]; ", c.types());
  c.require(x.size(-1) == w.size(-1), "input has ", name(x.size(-1)), " features, weight takes ", name(w.size(-1)),
            "; ", c.types());
  const Shape features = drop_trailing_dims(w.shape(), 1);
  if (bias) {
    c.require(bias.dtype() == x.dtype(), "bias must have the input's dtype, got ", name(bias.dtype()), " and ",
              name(x.dtype()), "; ", c.types());
    c.require(bias.shape() == features || bias.rank() == 0, "bias must have shape ", name(features), ", got ",
              name(bias.shape()), "; ", c.types());
  }
  const DType dtype = x.dtype();
  // The bias joins before the product is rounded.
  if (bias) x = computed(x), w = computed(w), bias = computed(bias);
  Var out = c.builder.call("matmul", {x, w.rank() == 2 ? swap_last_two(w) : w});
  return convert(bias ? out + bias : out, dtype);
}

void linear_vjp(Grad& g) {
  Var x = g.var(0), w = g.var(1), dy = g.cotangent();
  if (g.has(2) && g.wants(2)) g.add(2, sum_to(computed(dy), g.type(2).shape));
  const bool column = w.rank() == 1;
  if (column) {
    w = reshape_to(w, {{1, w.size(0)}});
    dy = reshape_to(dy, append_dims(dy.shape(), {1}));
  }
  if (g.wants(0)) g.add(0, g.builder.call("matmul", {dy, w}));
  if (g.wants(1)) {
    Var dw = g.builder.call("matmul", {swap_last_two(as_matrix(dy)), as_matrix(x)});
    g.add(1, reshape_to(dw, g.type(1).shape));
  }
}

void linear_samples(Samples& s) {
  s.add({TensorSpec{{4, 3}}, TensorSpec{{5, 3}}, TensorSpec{{5}}});
  s.add({TensorSpec{{4, 3}}, TensorSpec{{5, 3}}});
  s.add({TensorSpec{{3}}, TensorSpec{{5, 3}}, TensorSpec{{5}}});
  s.add({TensorSpec{{2, 4, 3}}, TensorSpec{{5, 3}}, TensorSpec{{5}}});
  s.add({TensorSpec{{4, 3}}, TensorSpec{{3}}, TensorSpec{{}}});
  s.add({TensorSpec{{0, 3}}, TensorSpec{{5, 3}}, TensorSpec{{5}}});
  s.add({TensorSpec{{4, 3}, DType::bf16}, TensorSpec{{5, 3}, DType::bf16}, TensorSpec{{5}, DType::bf16}});
  s.refuse({TensorSpec{{4, 3}}, TensorSpec{{5, 7}}}, "input has 3 features, weight takes 7");
  s.refuse({TensorSpec{{4, 3}}, TensorSpec{{5, 3}}, TensorSpec{{4}}}, "bias must have shape [5], got [4]");
  s.refuse({TensorSpec{{4, 3}}, TensorSpec{{5, 3}, DType::f64}}, "got f32 and f64");
  s.refuse({TensorSpec{{4, 3}}, TensorSpec{{5, 3}}, TensorSpec{{5}, DType::f64}}, "bias must have the input's dtype");
}

constexpr OpRow kRows[] = {
    composite("matmul(tensor input, tensor other) -> tensor", CastPolicy::lower_precision_fp,
              "Matrix product. 1-d operands stand for a row on the left and a column on the right; leading dims "
              "broadcast.",
              matmul, matmul_samples, kMatmul, {.vjp = matmul_vjp}),
    composite("linear(tensor input, tensor weight, tensor? bias=None) -> tensor", CastPolicy::lower_precision_fp,
              "input @ weight.T + bias, with weight [out, in] or [in].", linear, linear_samples, kMatmul,
              {.vjp = linear_vjp}),
};

}  // namespace

extern const OpRows matmul_ops = kRows;

}  // namespace thunder
