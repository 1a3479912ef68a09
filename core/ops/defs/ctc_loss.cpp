// ctc_loss, as PyTorch calls it: targets in one row or in several, one sequence, reductions.
#include "ops/tables.h"

namespace thunder {
namespace {

// The targets as [batch, most]; elements past a sequence's length are ignored.
Var split_targets_into_rows(const Call& c, Var targets, Var lengths) {
  Builder& b = c.builder;
  const Dim all = targets.shape()[0];
  Var ends = b.call(Prim::cumsum, {lengths, 0, false}), starts = ends - lengths;
  const Shape shape{lengths.shape()[0], all};
  if (hint(all) == 0) return reshape_to(targets, Shape{lengths.shape()[0], 0});
  Var place =
      expand_to(counted_along(b, all, 1, 2, targets.type().device), shape) + expand_to(along_axis(starts, 0, 2), shape);
  return b.call(Prim::take, {targets, 0, minimum(place, hint(all) - 1)});
}
Results ctc_loss(Call& c) {
  Builder& b = c.builder;
  Var x = computed(c.var(0)), targets = c.var(1), times = c.var(2), lengths = c.var(3);
  c.require(is_real(x.dtype()), "log_probs must be real, got ", name(c.type(0)));
  c.require(x.rank() == 2 || x.rank() == 3, "log_probs must be [time, batch, classes] or [time, classes], got ",
            name(x.type()));
  for (Var v : {targets, times, lengths})
    c.require(is_integer(v.dtype()), "targets and lengths must be integers; ", c.types());
  const bool single = x.rank() == 2;
  if (single) x = b.call("unsqueeze", {x, 1});
  const Shape batch{x.shape()[1]};
  for (Var* v : {&times, &lengths}) {
    *v = convert(v->rank() == 0 ? reshape_to(*v, Shape{1}) : *v, DType::i64);
    c.require(v->shape() == batch, "input_lengths and target_lengths must have an element for each of the ",
              name(batch[0]), " sequences; ", c.types());
  }
  c.require(targets.rank() == 1 || (targets.rank() == 2 && !single),
            "targets must be [batch, length], or one after the other; ", c.types());
  targets = convert(targets, DType::i64);
  if (targets.rank() == 1)
    targets = single ? reshape_to(targets, Shape{1, targets.shape()[0]}) : split_targets_into_rows(c, targets, lengths);
  Var loss = b.call(Prim::ctc_loss, {x, targets, times, lengths, c.integer(4)});
  if (c.flag(6)) loss = where(eq(loss, kInfinity), 0.0, loss);
  const Reduction reduction = reduction_of(c, 5);
  if (reduction == Reduction::mean) loss = loss / convert(maximum(lengths, 1), loss.dtype());
  if (reduction != Reduction::none) loss = b.call(reduction == Reduction::mean ? "mean" : "sum", {loss});
  else if (single) loss = reshape_to(loss, Shape{});
  return convert(loss, c.type(0).dtype);
}

// ---- samples ----

void samples(Samples& s) {
  const TensorSpec x{{5, 2, 3}, DType::f32, -2, -0.1}, targets = integers({2, 2}, 1, 2), times = integers({2}, 4, 5),
                                                       counts = integers({2}, 1, 2);
  s.add({x, targets, times, counts});
  s.add({x, targets, times, counts, 0, "none"});
  s.add({x, integers({2, 2}, 0, 1), times, counts, 2, "sum"});
  s.add({x, integers({4}, 1, 2), times, integers({2}, 2, 2)});
  s.add({TensorSpec{{4, 4}, DType::f32, -2, -0.1}, integers({2}, 1, 3), integers({}, 4, 4), integers({}, 2, 2), 0,
         "none"});
  s.add({x, integers({2, 3}, 1, 1), integers({2}, 3, 3), integers({2}, 3, 3), 0, "sum", true});
  s.add_without_gradient({x, integers({2, 3}, 1, 1), integers({2}, 3, 3), integers({2}, 3, 3), 0, "none"});
  s.add(
      {TensorSpec{{4, 1, 3}, DType::bf16, -2, -0.1}, integers({1, 2}, 1, 2), integers({1}, 4, 4), integers({1}, 2, 2)});
  s.refuse({x, targets, times, counts, 3}, "blank 3 is out of range for 3 classes");
  s.refuse({x, targets, integers({2}, 6, 6), counts}, "input length 6 of sequence 0 is not between 0 and 5");
  s.refuse({x, targets, times, integers({2}, 3, 3)}, "target length 3 of sequence 0 is not between 0 and 2");
  s.refuse({x, integers({2, 2}, 7, 7), times, counts}, "label 7 of sequence 0 is out of range for 3 classes");
  s.refuse({x, targets, integers({3}, 4, 4), counts}, "an element for each of the 2 sequences");
  s.refuse({x, TensorSpec{{2, 2}}, times, counts}, "targets and lengths must be integers");
  s.refuse({x, targets, times, counts, 0, "median"}, "reduction");
}

constexpr OpRow kRows[] = {
    composite("ctc_loss(tensor log_probs, tensor targets, tensor input_lengths, tensor target_lengths, int "
              "blank=0, str reduction='mean', "
              "bool zero_infinity=False) -> tensor",
              CastPolicy::fp32,
              "Minus the log likelihood of targets, labels without blanks, under all alignments of log_probs "
              "[time, batch, classes] with them. 'mean' "
              "divides by the targets' lengths first; zero_infinity makes 0 of sequences that no alignment fits.",
              ctc_loss, samples),
};

}  // namespace

extern const OpRows ctc_loss_ops = kRows;

}  // namespace thunder
