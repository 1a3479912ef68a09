// The cross entropy of a linear layer's results without all of them at once: rows go in chunks, and the backward makes
// the scores of each chunk again.
#include <algorithm>

#include "ops/tables.h"

namespace thunder {
namespace {

constexpr int64_t kScores = int64_t{1} << 24;  // of a chunk: 64 MiB of f32

// Parameters: input, linear_weight, target, linear_bias, reduction, ignore_index, label_smoothing.
void check(const Call& c) {
  const TensorType &x = c.type(0), &weight = c.type(1), &target = c.type(2);
  c.require(is_real(x.dtype) && x.rank() >= 1 && weight.dtype == x.dtype && weight.rank() == 2 &&
                x.shape.back() == weight.shape[1],
            "input must be real [..., features], linear_weight [classes, features] of its dtype; ", c.types());
  c.require(is_integer(target.dtype) && target.shape == Shape(x.shape.begin(), x.shape.end() - 1),
            "target must be a class for each row of input; ", c.types());
  c.require(!c.has(3) || c.type(3).shape == Shape{weight.shape[0]}, "linear_bias must have a value for each class; ",
            c.types());
}

// The loss of each row of a chunk: input, linear_weight, target, linear_bias, ignore_index, label_smoothing.
Results chunk(Call& c) {
  Var scores = c.builder.call("linear", {c.args[0], c.args[1], c.args[3]});
  return c.builder.call("cross_entropy", {computed(scores), c.args[2], nullptr, c.integer(4), "none", c.real(5)});
}

Results linear_cross_entropy(Call& c) {
  check(c);
  Builder& b = c.builder;
  const Shape lead = c.type(2).shape;
  const Dim n = elements(lead), features = c.type(1).shape[1];
  Var x = reshape_to(c.var(0), Shape{n, features}), target = reshape_to(c.var(2), Shape{n});
  const int64_t rows = n.constant() ? n.value() : 0;
  const int64_t step = std::max<int64_t>(1, kScores / std::max<int64_t>(1, hint(c.type(1).shape[0])));
  const auto of_rows = [&](Var some, Var classes) {
    return b.call("linear_cross_entropy_rows", {some, c.args[1], classes, c.args[3], c.integer(5), c.real(6)});
  };
  Var losses;
  if (rows <= step) {
    losses = of_rows(x, target);
  } else {
    ValueList parts;
    for (int64_t at = 0; at < rows; at += step) {
      const int64_t end = std::min(rows, at + step);
      parts.push_back(of_rows(b.call("slice", {x, 0, at, end, 1}), b.call("slice", {target, 0, at, end, 1})).id);
    }
    losses = b.call("cat", {parts, 0});
  }
  const Reduction reduction = reduction_of(c, 4);
  if (reduction == Reduction::none) return convert(reshape_to(losses, lead), c.type(0).dtype);
  Var sum = b.call("sum", {losses});
  if (reduction == Reduction::mean)
    sum = sum / b.call("sum", {convert(b.call("ne", {target, c.integer(5)}), losses.dtype())});
  return convert(sum, c.type(0).dtype);
}

void samples(Samples& s) {
  const TensorSpec x{{5, 3}}, w{{4, 3}}, t = integers({5}, 0, 3), bias{{4}};
  s.add({x, w, t});
  s.add({x, w, t, bias, "sum", 2, 0.1});
  s.add({TensorSpec{{2, 2, 3}}, w, integers({2, 2}, 0, 3), bias, "none", 1});
  s.add({TensorSpec{{3}, DType::f64}, TensorSpec{{4, 3}, DType::f64}, integers({}, 0, 3)});
  s.refuse({x, TensorSpec{{4, 2}}, t}, "linear_weight [classes, features]");
  s.refuse({x, w, TensorSpec{{5}}}, "a class for each row");
  s.refuse({x, w, t, TensorSpec{{3}}}, "a value for each class");
  s.refuse({x, w, integers({5}, 4, 4)}, "out of range");
}

constexpr OpRow kRows[] = {
    checked({.schema = "linear_cross_entropy_rows(tensor input, tensor linear_weight, tensor target, tensor? "
                       "linear_bias, int ignore_index, float label_smoothing) -> tensor",
             .autocast = CastPolicy::none,
             .doc = "The loss of each row; its backward makes the scores again.",
             .decompose = chunk,
             .vjp = [](Grad& g) { g.recompute(); },
             .tags = kHidden}),
    composite("linear_cross_entropy(tensor input, tensor linear_weight, tensor target, tensor? "
              "linear_bias=None, str reduction='mean', int ignore_index=-100, float label_smoothing=0.0) -> "
              "tensor",
              CastPolicy::none,
              "cross_entropy of linear(input, linear_weight, linear_bias) and classes, a chunk of rows at a time, "
              "whose scores are not kept for the backward but made again.",
              linear_cross_entropy, samples),
};

}  // namespace

extern const OpRows linear_cross_entropy_ops = kRows;

}  // namespace thunder
