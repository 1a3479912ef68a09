// Lookups in, and losses over, a vocabulary of which each rank of an axis has as large a part.
#include "ops/formulas.h"
#include "ops/samples.h"
#include "ops/world_collectives.h"

namespace thunder {
namespace {

// What this rank has of indices into a whole of which it has `size`.
struct OwnIndices {
  Var local;   // in its part; 0 where another rank has it, and out of range where no rank does
  Var inside;  // whether it has it
};

OwnIndices own_indices(const Call& c, Var index, Dim part, const Arg& axis) {
  Builder& b = c.builder;
  const int64_t size = part.value(), ranks = ranks_along(b.registry(), axis.text());
  const auto both = [&](Var a, Var also) { return b.call("logical_and", {a, also}); };
  const auto within = [&](Var x, int64_t end) { return both(b.call("ge", {x, 0}), b.call("lt", {x, end})); };
  Var local = index - b.call("mul", {b.call("axis_index", {axis}), size});
  Var inside = within(local, size);
  Var refused = where(b.call("lt", {index, 0}), b.call("sub", {index, size}), index);
  return {where(inside, local, where(within(index, size * ranks), full_like(index, 0), refused)), inside};
}

Var sum_over_ranks(const Call& c, Var x, const Arg& axis) {
  return c.builder.call("all_reduce", {x, axis, "sum"});
}

Var read_indices(const Call& c, size_t at) {
  c.require(is_integer(c.type(at).dtype), c.op.schema.params[at].name, " must be integers, got ",
            name(c.type(at).dtype), "; ", c.types());
  return convert(c.var(at), DType::i64);
}

Results embedding(Call& c) {
  c.require(c.type(1).rank() == 2, "weight must have rank 2; ", c.types());
  const OwnIndices own = own_indices(c, read_indices(c, 0), c.type(1).shape[0], c.args[2]);
  Var rows = c.builder.call(Prim::take, {c.var(1), 0, own.local});
  Var own_rows = where(c.builder.call("unsqueeze", {own.inside, -1}), rows, full_like(rows, 0));
  return sum_over_ranks(c, own_rows, c.args[2]);
}

Results cross_entropy(Call& c) {
  const TensorType type = c.type(0), target = c.type(1);
  c.require(is_real(type.dtype) && type.rank() == 2, "input must be real, [batch, classes]; ", c.types());
  c.require(target.shape == Shape{type.shape[0]}, "class indices must have shape ", name(Shape{type.shape[0]}),
            ", got ", name(target.shape), "; ", c.types());
  Builder& b = c.builder;
  const auto at_target = [&](Var x) { return reshape_to(x, Shape{type.shape[0]}); };
  Var x = computed(c.var(0)), index = read_indices(c, 1);
  Var counted = b.call("ne", {index, c.integer(3)});
  const OwnIndices own =
      own_indices(c, where(counted, index, full_like(index, 0)), type.shape[1], c.args[2]);
  // The gradient through the maximum cancels.
  Var top = b.call(Prim::detach, {max_kept(x, Shape{1})});
  top = b.call("all_reduce", {top, c.args[2], "max"});
  Var total = log(sum_over_ranks(c, sum_kept(exp(x - top), Shape{1}), c.args[2]));
  Var picked = at_target(b.call(Prim::gather, {x, 1, reshape_to(own.local, Shape{type.shape[0], 1})}));
  picked = sum_over_ranks(c, where(own.inside, picked, full_like(picked, 0)), c.args[2]);
  Var rows = at_target(top) + at_target(total) - picked;
  rows = where(counted, rows, full_like(rows, 0));
  const Reduction reduction = reduction_of(c, 4);
  if (reduction != Reduction::none) rows = b.call(Prim::sum, {rows, Shape{0}});
  if (reduction == Reduction::mean) rows = rows / b.call(Prim::sum, {convert(counted, rows.dtype()), Shape{0}});
  return convert(rows, type.dtype);
}

void embedding_samples(Samples& s) {
  s.add({indices_below({2, 3}, 5), TensorSpec{{5, 4}}});
  s.add({indices_below({7}, 5, DType::i32), TensorSpec{{5, 4}}});
  s.refuse({indices_below({2}, 5), TensorSpec{{5}}}, "rank 2");
  s.refuse({TensorSpec{{2}}, TensorSpec{{5, 4}}}, "integers");
  s.refuse({TensorSpec{{1}, DType::i64, 5, 5}, TensorSpec{{5, 4}}}, "index 5 is out of range");
}
void cross_entropy_samples(Samples& s) {
  s.add({TensorSpec{{3, 5}}, indices_below({3}, 5)});
  s.add({TensorSpec{{4, 3}}, indices_below({4}, 3), "world", 1, "sum"});
  s.add({TensorSpec{{4, 3}, DType::f64}, indices_below({4}, 3, DType::i32), "world", -100, "none"});
  s.add({TensorSpec{{2, 6}, DType::bf16}, indices_below({2}, 6)});
  s.refuse({TensorSpec{{3}}, indices_below({3}, 3)}, "batch, classes");
  s.refuse({TensorSpec{{3, 5}}, indices_below({2}, 5)}, "class indices must have shape");
  s.refuse({TensorSpec{{3, 5}}, TensorSpec{{3}}}, "integers");
}

constexpr OpRow kRows[] = {
    composite("vocab_parallel_embedding(tensor input, tensor weight, str axis='world') -> tensor", CastPolicy::none,
              "embedding in a table of which each rank of an axis has as many rows, in the order of ranks, as weight.",
              embedding, embedding_samples),
    composite("vocab_parallel_cross_entropy(tensor input, tensor target, str axis='world', int ignore_index=-100, "
              "str reduction='mean') -> tensor",
              CastPolicy::fp32,
              "cross_entropy of input [batch, classes], of which each rank of an axis has as many classes, in the "
              "order of ranks, and class indices in the whole; the logits are not gathered.",
              cross_entropy, cross_entropy_samples),
};

}  // namespace

extern const OpRows vocab_parallel_ops = kRows;

}  // namespace thunder
