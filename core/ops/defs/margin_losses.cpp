// Losses of margins between the scores of classes.
#include "ops/tables.h"

namespace thunder {
namespace {

// The amounts by which the other classes violate the margin of the target's class.
Results multi_margin(Call& c) {
  Var x = computed(c.var(0)), y = c.var(1);
  if (x.rank() == 0) x = reshape_to(x, Shape{1});
  if (x.rank() == 1 && y.shape() == Shape{1}) y = reshape_to(y, Shape{});
  c.require(is_real(x.dtype()) && (x.rank() == 2 || x.rank() == 1) && y.rank() + 1 == x.rank(),
            "input must be [batch, classes] or [classes], target its classes; ", c.types());
  c.require(c.integer(2) == 1 || c.integer(2) == 2, "p must be 1 or 2, got ", c.integer(2));
  Shape column = y.shape();
  column.push_back(1);
  Var place = reshape_to(y, column), own = c.builder.call("gather", {x, -1, place});
  Var lack = relu(x - own + c.real(3));
  if (c.integer(2) == 2) lack = lack * lack;
  if (c.has(4))
    lack = lack * reshape_to(c.builder.call("index_select", {convert(c.var(4), x.dtype()), 0,
                                                             reshape_to(y, Shape{elements(y.shape())})}),
                             column);
  Var classes = counted_along(c.builder, x.size(-1), x.rank() - 1, x.rank(), x.type().device);
  Var others = where(eq(classes, place), 0.0, lack);
  return convert(reduced_loss(c, c.builder.call("mean", {others, Shape{-1}})), c.type(0).dtype);
}
// By how much each class of a row is within the margin of 1 of each of its targets, which end at the first -1.
Results multilabel_margin(Call& c) {
  Var x = computed(c.var(0)), y = c.var(1);
  const Shape given = x.shape();
  c.require(is_real(x.dtype()) && x.rank() <= 2 && y.shape() == given && is_integer(y.dtype()),
            "input must be real [batch, classes] or [classes], target integers of its shape; ", c.types());
  const Dim classes = x.rank() ? x.size(-1) : Dim(1), rows = x.rank() == 2 ? x.size(0) : Dim(1);
  const Shape across{rows, classes, 1}, along{rows, 1, classes}, flat{rows, classes};
  Builder& b = c.builder;
  x = reshape_to(x, flat), y = reshape_to(y, flat);
  Var ended = b.call("cumsum", {convert(lt(y, 0), DType::i64), -1}), counts = eq(ended, 0), place = where(counts, y, 0);
  Var own = reshape_to(b.call("gather", {x, -1, place}), across);
  Var same =
      both(eq(reshape_to(place, across), counted_along(b, classes, 2, 3, x.type().device)), reshape_to(counts, across));
  Var other = not_(b.call("any", {same, Shape{1}, true}));
  Var lack = where(both(reshape_to(counts, across), other), relu(1.0 - own + reshape_to(x, along)), 0.0);
  const Shape inner{1, 2};
  Var loss = b.call("sum", {lack, inner}) / static_cast<double>(hint(classes));
  if (given.size() < 2) loss = reshape_to(loss, Shape{});
  return convert(reduced_loss(c, loss), c.type(0).dtype);
}

// ---- samples ----

void sample_margins(Samples& s) {
  s.add({TensorSpec{{3, 4}}, TensorSpec{{3}, DType::i64, 0, 3}});
  s.add({TensorSpec{{3, 4}}, TensorSpec{{3}, DType::i64, 0, 3}, 2, 0.5, TensorSpec{{4}, DType::f32, 0.5, 2}, "none"});
  s.refuse({TensorSpec{{3, 4}}, TensorSpec{{3}, DType::i64, 0, 3}, 3}, "p must be 1 or 2");
}
void sample_label_lists(Samples& s) {
  s.add({TensorSpec{{3, 4}}, TensorSpec{{3, 4}, DType::i64, -1, 3}});
  s.add({TensorSpec{{3, 4}, DType::f64}, TensorSpec{{3, 4}, DType::i64, -1, 3}, "none"});
  s.add({TensorSpec{{5}}, TensorSpec{{5}, DType::i64, 0, 4}, "sum"});
  s.add({TensorSpec{{2, 3}, DType::bf16}, TensorSpec{{2, 3}, DType::i64, -1, -1}});
  s.refuse({TensorSpec{{3, 4}}, TensorSpec{{3}, DType::i64, 0, 3}}, "target integers of its shape");
  s.refuse({TensorSpec{{3, 4}}, TensorSpec{{3, 4}, DType::i64, 4, 4}}, "out of range");
}

constexpr OpRow kRows[] = {
    composite("multi_margin_loss(tensor input, tensor target, int p=1, float margin=1.0, tensor? weight=None, str "
              "reduction='mean') -> tensor",
              CastPolicy::fp32, "The mean over the other classes of what they lack to the margin below the target's.",
              multi_margin, sample_margins),
    composite(
        "multilabel_margin_loss(tensor input, tensor target, str reduction='mean') -> tensor", CastPolicy::none,
        "What the other classes lack to the margin of 1 below each class of target, a list up to its first -1, by the "
        "number of classes.",
        multilabel_margin, sample_label_lists),
};

}  // namespace

extern const OpRows margin_losses_ops = kRows;

}  // namespace thunder
