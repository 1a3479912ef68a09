// nll_loss and cross_entropy, for class indices and for class probabilities.
#include "base/text.h"
#include "ops/formulas.h"
#include "ops/grad.h"
#include "ops/samples.h"

namespace thunder {
namespace {

// A call's arguments after its checks. The class axis is 1, or 0 for a single unbatched row.
struct Loss {
  Var input, target, weight;  // in the computing type; class indices as i64; weight broadcasts along the classes
  size_t axis = 0;
  bool indices = true;
  int64_t ignored = 0;
  Reduction reduction = Reduction::mean;
  double smoothing = 0;

  Builder& builder() const { return *input.builder; }
  Dim class_count() const { return input.size(static_cast<int64_t>(axis)); }
  Shape axes() const { return {static_cast<int64_t>(axis)}; }
  Shape rows_shape() const {
    Shape shape = input.shape();
    shape.erase(axis);
    return shape;
  }
  Shape kept_rows_shape() const {
    Shape shape = input.shape();
    shape[axis] = 1;
    return shape;
  }
};

Loss read_loss_operands(const Call& c, size_t input, bool probabilities_allowed) {
  const TensorType x = c.type(input), t = c.type(input + 1);
  Loss loss;
  c.require(is_real(x.dtype), "input must be real; ", c.types());
  c.require(x.rank() >= 1, "input must be [classes] or [batch, classes, ...], got ", name(x));
  loss.input = computed(c.var(input));
  loss.axis = x.rank() == 1 ? 0 : 1;
  loss.indices = !probabilities_allowed || t.shape != x.shape || is_integer(t.dtype);
  if (loss.indices) {
    c.require(t.shape == loss.rows_shape(), "class indices must have shape ", name(loss.rows_shape()), ", got ",
              name(t.shape), "; ", c.types());
    c.require(is_integer(t.dtype), "class indices must be integers, got ", name(t.dtype), "; ", c.types());
    loss.target = convert(c.var(input + 1), DType::i64);
  } else {
    c.require(is_real(t.dtype), "class probabilities must be real, got ", name(t.dtype), "; ", c.types());
    loss.target = convert(c.var(input + 1), loss.input.dtype());
  }
  if (c.has(input + 2)) {
    const Shape wanted{loss.class_count()};
    c.require(c.type(input + 2).shape == wanted, "weight must have one value for each of the ",
              name(loss.class_count()), " classes, got shape ", name(c.type(input + 2).shape), "; ", c.types());
    loss.weight = along_axis(convert(c.var(input + 2), loss.input.dtype()), loss.axis, x.rank());
  }
  loss.ignored = c.integer(input + 3);
  loss.reduction = reduction_of(c, input + 4);
  return loss;
}

Loss read_cross_entropy_operands(const Call& c, size_t input) {
  Loss loss = read_loss_operands(c, input, true);
  loss.smoothing = c.real(input + 5);
  c.require(loss.smoothing >= 0 && loss.smoothing <= 1, "label_smoothing must be between 0 and 1, got ",
            loss.smoothing);
  return loss;
}

Var zero_unless(Var condition, Var x) { return where(condition, x, full_like(x, 0)); }

// The class of each row. Ignored rows have class 0 and weight 0.
struct Rows {
  Var counted, target, weight;
  // Selects the element of each row's class.
  Var gather_target_class(const Loss& loss, Var per_class) const {
    return reshape_to(loss.builder().call(Prim::gather, {per_class, static_cast<int64_t>(loss.axis),
                                                           reshape_to(target, loss.kept_rows_shape())}),
                      loss.rows_shape());
  }
};
Rows compute_row_weights(const Loss& loss) {
  Rows rows;
  rows.counted = loss.builder().call("ne", {loss.target, loss.ignored});
  rows.target = where(rows.counted, loss.target, full_like(loss.target, 0));
  Var weight = loss.weight ? rows.gather_target_class(loss, expand_to(loss.weight, loss.input.shape()))
                           : full(loss.builder(), loss.rows_shape(), 1, loss.input.dtype(), loss.input.type().device);
  rows.weight = zero_unless(rows.counted, weight);
  return rows;
}
// The divisor of the mean.
Var sum_weights(const Rows& rows) { return rows.weight.builder->call(Prim::sum, {rows.weight, Shape{}}); }

// ---- forward, from the logarithms of probabilities ----

Results reduced_loss(const Loss& loss, Var rows, Var divisor, DType dtype) {
  if (loss.reduction != Reduction::none) rows = rows.builder->call(Prim::sum, {rows, Shape{}});
  if (loss.reduction == Reduction::mean) rows = rows / divisor;
  return convert(rows, dtype);
}

// -log p of each row's class, given those logarithms and, for smoothing, all of them; rows that are ignored count
// nothing.
Results loss_from_class_logs(const Loss& loss, const Rows& of, Var log_of_class, Var logs, DType dtype) {
  Var rows = -log_of_class;
  if (loss.weight) rows = rows * of.weight;
  if (loss.smoothing > 0) {
    Var all = reshape_to(sum_kept(loss.weight ? logs * loss.weight : logs, loss.axes()), loss.rows_shape());
    Var share = full(loss.builder(), {}, loss.smoothing, logs.dtype(), logs.type().device) /
                count(logs, {{loss.class_count()}});
    rows = rows * (1 - loss.smoothing) - all * share;
  }
  return reduced_loss(loss, zero_unless(of.counted, rows), sum_weights(of), dtype);
}

Results loss_of_indices(const Loss& loss, Var logs, DType dtype) {
  const Rows of = compute_row_weights(loss);
  return loss_from_class_logs(loss, of, of.gather_target_class(loss, logs), logs, dtype);
}

// log_softmax at each row's class, bit for bit. The class is picked first: kernels of devices would store the
// logarithms of all others, which nobody reads, to pick from.
Var log_softmax_at_target(const Loss& loss, const Rows& of) {
  Builder& b = loss.builder();
  // The gradient through the maximum cancels.
  Var top = b.call(Prim::detach, {max_kept(loss.input, loss.axes())});
  Var total = log(sum_kept(exp(loss.input - top), loss.axes()));
  return of.gather_target_class(loss, loss.input) - reshape_to(top, loss.rows_shape()) -
         reshape_to(total, loss.rows_shape());
}

// The target distribution of each row, times the weights.
Var smooth_labels(const Loss& loss, Var distribution) {
  if (loss.smoothing > 0) {
    Var share = full(loss.builder(), {}, loss.smoothing, distribution.dtype(), distribution.type().device);
    distribution = distribution * (1 - loss.smoothing) + share / count(distribution, {{loss.class_count()}});
  }
  return loss.weight ? distribution * loss.weight : distribution;
}

Results loss_of_probabilities(const Loss& loss, Var logs, DType dtype) {
  Var rows = -reshape_to(sum_kept(logs * smooth_labels(loss, loss.target), loss.axes()), loss.rows_shape());
  return reduced_loss(loss, rows, count(rows, loss.rows_shape()), dtype);
}

Results nll_loss(Call& c) {
  const Loss loss = read_loss_operands(c, 0, false);
  return loss_of_indices(loss, loss.input, c.type(0).dtype);
}

Results cross_entropy(Call& c) {
  const Loss loss = read_cross_entropy_operands(c, 0);
  const bool on_device = loss.input.type().device != Device::cpu;
  if (on_device && loss.indices && loss.smoothing == 0 && elements(loss.input.shape()) != Dim(0)) {
    const Rows of = compute_row_weights(loss);
    return loss_from_class_logs(loss, of, log_softmax_at_target(loss, of), Var(), c.type(0).dtype);
  }
  Var logs = c.builder.call("log_softmax", {loss.input, static_cast<int64_t>(loss.axis)});
  return loss.indices ? loss_of_indices(loss, logs, c.type(0).dtype)
                      : loss_of_probabilities(loss, logs, c.type(0).dtype);
}

void cross_entropy_vjp(Grad& g) {
  if (g.wants(1) || (g.has(2) && g.wants(2))) return g.descend();
  g.add(0, g.builder.call("cross_entropy_backward",
                          {g.cotangent(), g.var(0), g.var(1), g.var(2), g.integer(3), g.text(4), g.real(5)}));
}

// ---- backward: softmax(input) times the row's target mass, minus the target ----

Results cross_entropy_backward(Call& c) {
  const Loss loss = read_cross_entropy_operands(c, 1);
  Builder& b = c.builder;
  const Shape scale_shape = loss.reduction == Reduction::none ? loss.rows_shape() : Shape{};
  c.require(c.type(0).shape == scale_shape, "grad must have the loss's shape ", name(scale_shape), ", got ",
            name(c.type(0).shape));
  Var scale = convert(c.var(0), loss.input.dtype());
  if (loss.reduction == Reduction::none) scale = reshape_to(scale, loss.kept_rows_shape());
  // Recorded before the targets are read: kernels grow from their first reduction, which then covers this.
  Var p = b.call("softmax", {loss.input, static_cast<int64_t>(loss.axis)});
  Var target, mass, divisor;
  if (loss.indices) {
    // A comparison for each class instead of a scatter: it fuses with the softmax, and stores have any order.
    Var classes = counted_along(b, loss.class_count(), loss.axis, loss.input.rank(), loss.input.type().device);
    Rows rows = compute_row_weights(loss);
    // A zero of each class is looked up, so that a class that there is not is refused without the loss as well: one
    // read a row, apart from what is computed for each class. Along the input's axis, which the refusal names.
    const Shape one_row = loss.axis ? Shape{1, loss.class_count()} : Shape{loss.class_count()};
    Var zeros = expand_to(full(b, {}, 0, DType::i64, loss.input.type().device), one_row);
    Var found = b.call(Prim::take, {zeros, static_cast<int64_t>(loss.axis), rows.target});
    rows.target = rows.target + reshape_to(found, loss.rows_shape());
    Var hit = convert(b.call("eq", {classes, reshape_to(rows.target, loss.kept_rows_shape())}), loss.input.dtype());
    Var counted = reshape_to(rows.counted, loss.kept_rows_shape());
    target = where(counted, smooth_labels(loss, hit), 0.0);
    mass = reshape_to(rows.weight, loss.kept_rows_shape());
    // Smoothing distributes mass over all classes equally, and their weights may differ.
    if (loss.weight && loss.smoothing > 0)
      mass =
          mass * (1 - loss.smoothing) +
          zero_unless(counted, expand_to(mean_kept(loss.weight, loss.axes()) * loss.smoothing, loss.kept_rows_shape()));
    divisor = sum_weights(rows);
  } else {
    target = smooth_labels(loss, loss.target);
    mass = sum_kept(target, loss.axes());
    divisor = count(loss.input, loss.rows_shape());
  }
  if (loss.reduction == Reduction::mean) scale = scale / divisor;
  return convert((p * mass - target) * scale, c.type(1).dtype);
}

// ---- samples ----

void nll_samples(Samples& s) {
  const TensorSpec x{{4, 5}}, y{{4}, DType::i64, 0, 4}, w{{5}, DType::f32, 0.5, 2};
  s.add({x, y});
  s.add({x, y, w, 2, "sum"});
  s.add({TensorSpec{{5}}, TensorSpec{{}, DType::i64, 0, 4}});
  s.add({TensorSpec{{2, 5, 3}}, TensorSpec{{2, 3}, DType::i64, 0, 4}, w, -100, "none"});
  s.refuse({x, TensorSpec{{3}, DType::i64, 0, 4}}, "class indices must have shape [4], got [3]");
  s.refuse({x, TensorSpec{{4}}}, "must be integers, got f32");
}
void cross_entropy_samples(Samples& s) {
  const TensorSpec x{{4, 5}}, y{{4}, DType::i64, 0, 4}, w{{5}, DType::f32, 0.5, 2}, q{{4, 5}, DType::f32, 0, 1};
  s.add({x, y});
  s.add({x, y, w, 1, "mean", 0.1});
  s.add({x, y, w, -100, "none"});
  s.add({x, y, SampleArg(), -100, "sum", 0.2});
  s.add({TensorSpec{{5}}, TensorSpec{{}, DType::i64, 0, 4}});
  s.add({TensorSpec{{2, 5, 3}}, TensorSpec{{2, 3}, DType::i64, 0, 4}, w});
  s.add({TensorSpec{{4, 5}, DType::bf16}, y});
  s.add({x, q});
  s.add({x, q, w, -100, "none", 0.1});
  s.add({TensorSpec{{2, 5, 3}}, TensorSpec{{2, 5, 3}, DType::f32, 0, 1}, w, -100, "sum"});
  s.refuse({x, TensorSpec{{3}, DType::i64, 0, 4}}, "class indices must have shape [4], got [3]");
  s.refuse({x, TensorSpec{{4}}}, "must be integers, got f32");
  s.refuse({x, y, TensorSpec{{4}}}, "each of the 5 classes, got shape [4]");
  s.refuse({x, y, SampleArg(), -100, "average"}, "'average'");
  s.refuse({x, y, SampleArg(), -100, "mean", 1.5}, "between 0 and 1, got 1.5");
  s.refuse({TensorSpec{{4, 5}, DType::i64, 0, 4}, y}, "must be real");
}
void backward_samples(Samples& s) {
  const TensorSpec x{{4, 5}}, y{{4}, DType::i64, 0, 4}, w{{5}, DType::f32, 0.5, 2}, q{{4, 5}, DType::f32, 0, 1};
  s.add({TensorSpec{{}}, x, y, w, 1, "mean", 0.1});
  s.add({TensorSpec{{4}}, x, y, SampleArg(), -100, "none", 0.0});
  s.add({TensorSpec{{}}, x, q, w, -100, "mean", 0.0});
  s.refuse({TensorSpec{{4}}, x, y, SampleArg(), -100, "mean", 0.0}, "grad must have the loss's shape [], got [4]");
}

constexpr OpRow kRows[] = {
    composite("nll_loss(tensor input, tensor target, tensor? weight=None, int ignore_index=-100, str "
              "reduction='mean') -> tensor",
              CastPolicy::fp32, "-input at each row's class, where input holds logarithms of probabilities.", nll_loss,
              nll_samples),
    composite("cross_entropy(tensor input, tensor target, tensor? weight=None, int ignore_index=-100, str "
              "reduction='mean', float label_smoothing=0.0) -> tensor",
              CastPolicy::fp32,
              "The cross entropy of softmax(input) against class indices, or against probabilities of input's shape.",
              cross_entropy, cross_entropy_samples, 0, {.vjp = cross_entropy_vjp}),
    composite("cross_entropy_backward(tensor grad, tensor input, tensor target, tensor? weight, int "
              "ignore_index, str reduction, float label_smoothing) -> tensor",
              CastPolicy::none, "The gradient of cross_entropy's input.", cross_entropy_backward, backward_samples,
              kHidden),
};

}  // namespace

extern const OpRows cross_entropy_ops = kRows;

}  // namespace thunder
