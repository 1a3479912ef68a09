// softmax and log_softmax. The gradient of softmax is computed from its result. That of log_softmax recomputes the
// powers and sums of the forward, bit for bit, so that a program that has both computes them once.
#include "base/text.h"
#include "ops/formulas.h"
#include "ops/grad.h"
#include "ops/samples.h"

namespace thunder {
namespace {

// Softmaxes of x along `dim`, given what to make of the shifted input: what is left is at most zero, so that exp
// cannot overflow.
struct Shifted {
  Var x;
  Shape axes;
};
Shifted subtract_max(Var x, int64_t dim) {
  x = computed(x);
  Shape axes = axis_list(dim, x.rank());
  const bool empty = elements(x.shape()) == Dim(0);  // has no maximum
  return {empty ? x : x - max_kept(x, axes), axes};
}
Shifted subtract_max(const Call& c) {
  Var x = c.var(0);
  if (c.has(2)) x = convert(x, c.dtype(2));
  c.require(is_real(x.dtype()), "input must be real, got ", name(c.type(0)), "; give a real dtype to convert it");
  return subtract_max(x, c.integer(1));
}
DType result_dtype(const Call& c) { return c.dtype(2, c.type(0).dtype); }

// The sum is at least 1, so that its reciprocal is a number; a product for each element is faster than a quotient, and
// the powers are rounded more than it.
Results softmax(Call& c) {
  auto [x, axes] = subtract_max(c);
  Var e = exp(x);
  return convert(e * c.builder.call(Prim::reciprocal, {sum_kept(e, axes)}), result_dtype(c));
}

Results log_softmax(Call& c) {
  auto [x, axes] = subtract_max(c);
  return convert(x - log(sum_kept(exp(x), axes)), result_dtype(c));
}

// Checks the arguments of both backward ops: grad, a tensor of its shape, dim.
void require_one_shape(const Call& c) {
  c.require(c.type(0).shape == c.type(1).shape, "grad and the tensor beside it must have one shape; ", c.types());
}

Results softmax_backward(Call& c) {
  require_one_shape(c);
  Var y = computed(c.var(1)), weighted = computed(c.var(0)) * y;
  return convert(weighted - y * sum_kept(weighted, axis_list(c.integer(2), y.rank())), c.type(1).dtype);
}

Results log_softmax_backward(Call& c) {
  require_one_shape(c);
  Var dy = computed(c.var(0));
  auto [x, axes] = subtract_max(convert(c.var(1), c.type(0).dtype), c.integer(2));
  Var e = exp(x);
  return convert(dy - e * (sum_kept(dy, axes) / sum_kept(e, axes)), c.type(1).dtype);
}

void samples(Samples& s) {
  s.add({TensorSpec{{4, 5}}, 1});
  s.add({TensorSpec{{4, 5}}, 0});
  s.add({TensorSpec{{2, 3, 4}}, -2});
  s.add({TensorSpec{{}}, 0});
  s.add({TensorSpec{{7}, DType::f32, -1000, 1000}, -1});
  s.add({TensorSpec{{3, 5}, DType::bf16}, -1});
  s.add({TensorSpec{{3, 5}, DType::bf16}, -1, DType::f32});
  s.add({TensorSpec{{5}, DType::i64, -9, 9}, 0, DType::f64});
  s.add({TensorSpec{{0, 5}}, 0});
  s.add({TensorSpec{{0, 5}}, 1});
  s.refuse({TensorSpec{{4, 5}}, 2}, "out of range");
  s.refuse({TensorSpec{{4}, DType::i64, 0, 9}, 0}, "must be real, got i64[4]");
}
void backward_samples(Samples& s) {
  s.add({TensorSpec{{4, 5}}, TensorSpec{{4, 5}, DType::f32, 0, 1}, 1});
  s.add({TensorSpec{{2, 3, 4}, DType::bf16}, TensorSpec{{2, 3, 4}, DType::bf16, 0, 1}, -2});
  s.refuse({TensorSpec{{4, 5}}, TensorSpec{{4, 6}}, 1}, "one shape");
}

constexpr OpRow kRows[] = {
    checked({.schema = "softmax(tensor input, int dim, dtype? dtype=None) -> tensor",
             .autocast = CastPolicy::fp32,
             .doc = "exp(input) divided by its sum along dim; dtype converts the input first.",
             .decompose = softmax,
             .vjp =
                 [](Grad& g) {
                   g.add(0, g.builder.call("softmax_backward", {g.cotangent(), g.result(), g.integer(1)}));
                 },
             .samples = samples}),
    checked({.schema = "log_softmax(tensor input, int dim, dtype? dtype=None) -> tensor",
             .autocast = CastPolicy::fp32,
             .doc = "The logarithm of softmax, without its underflow; dtype converts the input first.",
             .decompose = log_softmax,
             .vjp =
                 [](Grad& g) {
                   g.add(0, g.builder.call("log_softmax_backward", {g.cotangent(), g.var(0), g.integer(1)}));
                 },
             .samples = samples}),
    composite("softmax_backward(tensor grad, tensor output, int dim) -> tensor", CastPolicy::none,
              "The gradient of softmax's input, from its result.", softmax_backward, backward_samples, kHidden),
    composite("log_softmax_backward(tensor grad, tensor input, int dim) -> tensor", CastPolicy::none,
              "The gradient of log_softmax's input, computed in grad's dtype.", log_softmax_backward, backward_samples,
              kHidden),
};

}  // namespace

extern const OpRows softmax_ops = kRows;

}  // namespace thunder
