// Rows by their number: embedding, and the numbers themselves as rows, one_hot.
#include "ops/formulas.h"
#include "ops/grad.h"
#include "ops/samples.h"

namespace thunder {
namespace {

// padding_idx counted from the front.
int64_t normalize_padding_index(const Call& c) {
  const Dim rows = c.type(1).shape[0];
  const int64_t at = c.integer(2);
  c.require(at < hint(rows) && at >= -hint(rows), "padding_idx ", at, " is out of range for a weight of ", name(rows),
            " rows");
  return at < 0 ? at + hint(rows) : at;
}
Results embedding(Call& c) {
  c.require(c.type(1).rank() == 2, "weight must have rank 2; ", c.types());
  if (c.has(2)) normalize_padding_index(c);
  return c.builder.call(Prim::take, {c.var(1), 0, c.var(0)});
}
void embedding_vjp(Grad& g) {
  Var ct = g.cotangent();
  const TensorType& weight = g.type(1);
  ct = convert(ct, compute_dtype(ct.dtype()));
  Var zeros = expand_to(full(g.builder, {}, 0, ct.dtype(), weight.device), weight.shape);
  Var sums = g.builder.call(Prim::take_add, {zeros, 0, g.var(0), ct});
  if (g.has(2)) {
    // The padding's row stays as it is.
    const Dim row = normalize_padding_index(g), columns = weight.shape[1];
    Var none = expand_to(full(g.builder, {}, 0, ct.dtype(), weight.device), Shape{1, columns});
    sums = g.builder.call(Prim::slice_scatter, {sums, none, Shape{row, 0}, Shape{row + 1, columns}, Shape{1, 1}});
  }
  g.add(1, sums);
}

Results one_hot(Call& c) {
  Var x = c.var(0);
  int64_t classes = c.integer(1);
  c.require(classes > 0 || classes == -1,
      "num_classes must be positive, or -1 for one more than the greatest index; got ", classes);
  if (classes == -1) {
    c.require(!(elements(x.shape()) == Dim(0)), "num_classes must be given where there are no indices");
    classes = c.value_of(convert(c.builder.call("amax", {x}), DType::i64)) + 1;
    c.require(classes > 0, "input must not be negative, its greatest index is ", classes - 1);
  }
  // The classes at the indices, which are checked so, beside all classes.
  Var all = c.builder.call(Prim::iota, {Shape{classes}, DType::i64, x.type().device});
  Var own = c.builder.call("unsqueeze", {c.builder.call(Prim::take, {all, 0, x}), -1});
  return convert(c.builder.call("eq", {own, all}), DType::i64);
}

void embedding_samples(Samples& s) {
  s.add({indices_below({2, 3}, 5), TensorSpec{{5, 4}}});
  s.add({indices_below({7}, 5, DType::i32), TensorSpec{{5, 4}}});
  s.add_without_gradient({indices_below({2, 3}, 5), TensorSpec{{5, 4}}, -1});
  s.refuse({indices_below({2}, 5), TensorSpec{{5}}}, "rank 2");
  s.refuse({indices_below({2}, 5), TensorSpec{{5, 4}}, 5}, "padding_idx 5");
  s.refuse({TensorSpec{{1}, DType::i64, 5, 5}, TensorSpec{{5, 4}}}, "index 5 is out of range for dim 0 of size 5");
}
void one_hot_samples(Samples& s) {
  s.add({indices_below({2, 3}, 4), 4});
  s.add_eager({indices_below({2, 3}, 4)});
  s.add_eager({indices_below({5}, 3, DType::i32)});
  s.refuse({indices_below({2}, 4), 0}, "num_classes must be positive");
  s.refuse({indices_below({0}, 4)}, "num_classes must be given where there are no indices");
  s.refuse({TensorSpec{{3}, DType::i64, -4, -4}}, "its greatest index is -4");
  s.refuse({TensorSpec{{1}, DType::i64, 4, 4}, 4}, "index 4 is out of range");
}

constexpr OpRow kRows[] = {
    composite("embedding(tensor input, tensor weight, int? padding_idx=None) -> tensor", CastPolicy::none,
              "The rows of weight at the indices in input; the row padding_idx gets no gradient.", embedding,
              embedding_samples, 0, {.vjp = embedding_vjp}),
    composite("one_hot(tensor input, int num_classes=-1) -> tensor", CastPolicy::none,
              "i64 with a 1 at each index along a new last dim of num_classes; -1 is one more than the "
              "greatest index.",
              one_hot, one_hot_samples, kEager),
};

}  // namespace

extern const OpRows embedding_ops = kRows;

}  // namespace thunder
