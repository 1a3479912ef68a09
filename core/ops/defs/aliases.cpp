// Other names that PyTorch has for ops: the same arguments, or the target's own in another arrangement.
#include "ir/dim_reads.h"
#include "ops/tables.h"

namespace thunder {
namespace {

// ---- products of operands of given ranks ----

template <size_t left, size_t right>
Results matmul_of_fixed_ranks(Call& c) {
  c.require(c.type(0).rank() == left && c.type(1).rank() == right, "needs operands of rank ", left, " and ", right,
            "; ", c.types());
  if (left == 3) c.require(c.type(0).shape[0] == c.type(1).shape[0], "batch dimensions differ; ", c.types());
  return c.builder.call("matmul", {c.var(0), c.var(1)});
}

// ---- other arrangements ----

// A bound that is NaN makes the result NaN, where clamp() with one such number has no bound, as in PyTorch.
Results clamp_by(Call& c, const In& min, const In& max) {
  if (c.args[1].kind == ArgKind::real && std::isnan(c.args[1].f)) return full_like(promoted(c, {0, 1})[0], NAN);
  return c.builder.call("clamp", {c.args[0], min, max});
}
Results clamp_min(Call& c) { return clamp_by(c, c.args[1], nullptr); }
Results clamp_max(Call& c) { return clamp_by(c, nullptr, c.args[1]); }
Results narrow(Call& c) {
  Var x = c.var(0);
  const size_t dim = c.axis(1, x.rank());
  c.require(x.rank() > 0, "a tensor of rank 0 cannot be narrowed");
  const Dim size = x.shape()[dim];
  const Dim length = c.integer_dim(3), given = c.integer_dim(2), start = is_less(given, 0) ? given + size : given;
  c.require(is_at_most(0, start) && is_at_most(0, length) && is_at_most(start, size - length), "start ", name(given),
            " and length ", name(length), " exceed dim ", dim, " of size ", name(size));
  return c.builder.call("slice", {x, c.integer(1), Arg::integer(start), Arg::integer(start + length), 1});
}
Results expand_as(Call& c) { return c.builder.call("expand", {c.var(0), Shape(c.type(1).shape)}); }
Results reshape_as(Call& c) { return c.builder.call("reshape", {c.var(0), Shape(c.type(1).shape)}); }
Results view_as(Call& c) { return c.builder.call("view", {c.var(0), Shape(c.type(1).shape)}); }
Results type_as(Call& c) { return convert(c.var(0), c.type(1).dtype); }
Results return_input(Call& c) { return c.var(0); }
Results ravel(Call& c) { return c.builder.call("flatten", {c.var(0), 0, -1}); }
Results t_op(Call& c) {
  c.require(c.type(0).rank() <= 2, "input must have at most rank 2; ", c.types());
  return c.type(0).rank() < 2 ? c.var(0) : swap_last_two(c.var(0));
}
Results adjoint(Call& c) {
  c.require(c.type(0).rank() >= 2, "input must have at least rank 2; ", c.types());
  return swap_last_two(c.var(0));
}
Results softmin(Call& c) { return c.builder.call("softmax", {-c.var(0), c.args[1], c.args[2]}); }

// ---- samples ----

using Ints = std::vector<int64_t>;

void sample_one(Samples& s) {
  s.add({TensorSpec{{2, 3}, DType::f32, -0.9, 0.9}});
  s.add({TensorSpec{{0, 3}}});
}
void sample_above_one(Samples& s) { s.add({TensorSpec{{2, 3}, DType::f32, 1.5, 4}}); }
void sample_pairs(Samples& s) {
  s.add({TensorSpec{{2, 3}}, TensorSpec{{3}, DType::f32, 0.5, 2}});
  s.add({TensorSpec{{2, 3}}, 2.5});
  s.refuse({TensorSpec{{2, 3}}, TensorSpec{{4}}}, "broadcast");
}
void sample_lists(Samples& s) {
  s.add({std::vector<TensorSpec>{{{2, 3}}, {{1, 3}}}});
  s.refuse({std::vector<TensorSpec>{}}, "at least one");
}
void sample_two_dims(Samples& s) { s.add({TensorSpec{{2, 3, 4}}, 0, -1}); }
void sample_bounds(Samples& s) { s.add({TensorSpec{{2, 3}}, -0.5, 1.0}); }
void sample_bound(Samples& s) {
  s.add({TensorSpec{{2, 3}}, 0.25});
  s.add({TensorSpec{{2, 3}}, TensorSpec{{3}}});
}
void sample_shapes(Samples& s) { s.add({TensorSpec{{2, 1}}, Ints{2, 3}}); }
template <int left, int right>
void sample_factors(Samples& s) {
  const Ints a[] = {{3}, {2, 3}, {4, 2, 3}}, b[] = {{3}, {3, 5}, {4, 3, 5}};
  s.add({TensorSpec{a[left - 1]}, TensorSpec{b[right - 1]}});
  s.refuse({TensorSpec{a[left - 1]}, TensorSpec{{1, 1, 3, 5}}}, "rank");
}
void sample_narrows(Samples& s) {
  s.add({TensorSpec{{5, 3}}, 0, 1, 3});
  s.add({TensorSpec{{5, 3}}, -1, -2, 2});
  s.refuse({TensorSpec{{5, 3}}, 0, 3, 3}, "exceed dim 0 of size 5");
}
void sample_likes(Samples& s) {
  s.add({TensorSpec{{1, 6}}, TensorSpec{{1, 6}, DType::f64}});
  s.add_without_gradient({TensorSpec{{6}}, TensorSpec{{1, 6}, DType::i64, 0, 1}});
}
void sample_matrices(Samples& s) { s.add({TensorSpec{{2, 3}}}); }
void sample_along(Samples& s) { s.add({TensorSpec{{2, 3}}, 1}); }
void sample_rows(Samples& s) { s.add({TensorSpec{{2, 3, 2}}}); }

consteval OpRow alias_row(SchemaText schema, CastPolicy autocast, std::string_view target, std::string_view doc,
                          DecomposeFn decompose, SamplesFn samples, uint32_t tags = 0) {
  return composite(schema, autocast, doc, decompose, samples, tags, {.alias_of = target});
}
constexpr std::string_view kBoolean = "the result is boolean";

constexpr OpRow kRows[] = {
    another_name("absolute(tensor input) -> tensor", CastPolicy::none, "abs", sample_one, kInplace),
    another_name("negative(tensor input) -> tensor", CastPolicy::none, "neg", sample_one, kInplace),
    another_name(
        "sgn(tensor input) -> tensor", CastPolicy::none, "sign",
        [](Samples& s) {
          s.add_without_gradient({TensorSpec{{2, 3}}});
        },
        kInplace),
    another_name(
        "fix(tensor input) -> tensor", CastPolicy::none, "trunc",
        [](Samples& s) {
          s.add_without_gradient({TensorSpec{{2, 3}}});
        },
        kInplace),
    another_name("arcsin(tensor input) -> tensor", CastPolicy::fp32, "asin", sample_one, kInplace),
    another_name("arccos(tensor input) -> tensor", CastPolicy::fp32, "acos", sample_one, kInplace),
    another_name("arctan(tensor input) -> tensor", CastPolicy::none, "atan", sample_one, kInplace),
    another_name("arcsinh(tensor input) -> tensor", CastPolicy::none, "asinh", sample_one, kInplace),
    another_name("arccosh(tensor input) -> tensor", CastPolicy::none, "acosh", sample_above_one, kInplace),
    another_name("arctanh(tensor input) -> tensor", CastPolicy::none, "atanh", sample_one, kInplace),
    another_name("expit(tensor input) -> tensor", CastPolicy::none, "sigmoid", sample_one),
    another_name("gammaln(tensor input) -> tensor", CastPolicy::none, "lgamma", sample_above_one),
    another_name("psi(tensor input) -> tensor", CastPolicy::none, "digamma", sample_above_one),
    another_name("multigammaln(tensor input, int p) -> tensor", CastPolicy::none, "mvlgamma",
                 [](Samples& s) {
                   s.add({TensorSpec{{3}, DType::f32, 3, 9}, 2});
                 }),
    alias_row("conj(tensor input) -> tensor", CastPolicy::none, "positive", "The input itself, also of booleans.",
              return_input, sample_one, kView | kReturnsSelf),
    alias_row("real(tensor input) -> tensor", CastPolicy::none, "positive", "The input itself, also of booleans.",
              return_input, sample_one, kView | kReturnsSelf),
    another_name("arctan2(tensor input, tensor|number other) -> tensor", CastPolicy::promote, "atan2", sample_pairs,
                 kInplace),
    another_name("subtract(tensor input, tensor|number other, tensor|number alpha=1) -> tensor", CastPolicy::none,
                 "sub", sample_pairs, kInplace),
    another_name("multiply(tensor input, tensor|number other) -> tensor", CastPolicy::none, "mul", sample_pairs,
                 kInplace),
    another_name("divide(tensor input, tensor|number other, str? rounding_mode=None) -> tensor", CastPolicy::none,
                 "div", sample_pairs, kInplace),
    another_name("true_divide(tensor|number input, tensor|number other) -> tensor", CastPolicy::none, "div",
                 sample_pairs, kInplace),
    another_name("greater(tensor input, tensor|number other) -> tensor", CastPolicy::none, "gt", sample_pairs, kInplace,
                 kBoolean),
    another_name("greater_equal(tensor input, tensor|number other) -> tensor", CastPolicy::none, "ge", sample_pairs,
                 kInplace, kBoolean),
    another_name("less(tensor input, tensor|number other) -> tensor", CastPolicy::none, "lt", sample_pairs, kInplace,
                 kBoolean),
    another_name("less_equal(tensor input, tensor|number other) -> tensor", CastPolicy::none, "le", sample_pairs,
                 kInplace, kBoolean),
    another_name("not_equal(tensor input, tensor|number other) -> tensor", CastPolicy::none, "ne", sample_pairs,
                 kInplace, kBoolean),
    another_name("clip(tensor input, tensor|number? min=None, tensor|number? max=None) -> tensor", CastPolicy::none,
                 "clamp", sample_bounds, kInplace),
    alias_row("clamp_min(tensor input, tensor|number min) -> tensor", CastPolicy::none, "clamp",
              "input, but not less than min.", clamp_min, sample_bound, kInplace),
    alias_row("clamp_max(tensor input, tensor|number max) -> tensor", CastPolicy::none, "clamp",
              "input, but not greater than max.", clamp_max, sample_bound, kInplace),
    another_name("concat(tensor[] tensors, int dim=0) -> tensor", CastPolicy::none, "cat", sample_lists),
    another_name("concatenate(tensor[] tensors, int dim=0) -> tensor", CastPolicy::none, "cat", sample_lists),
    another_name("swapaxes(tensor input, int axis0, int axis1) -> tensor", CastPolicy::none, "transpose",
                 sample_two_dims, kView),
    another_name("swapdims(tensor input, int dim0, int dim1) -> tensor", CastPolicy::none, "transpose", sample_two_dims,
                 kView),
    another_name("broadcast_to(tensor input, int[] size) -> tensor", CastPolicy::none, "expand", sample_shapes, kView),
    alias_row("expand_as(tensor input, tensor other) -> tensor", CastPolicy::none, "expand",
              "input expanded to the size of other.", expand_as, sample_likes, kView),
    alias_row("reshape_as(tensor input, tensor other) -> tensor", CastPolicy::none, "reshape",
              "input under the shape of other.", reshape_as, sample_likes, kMayView),
    alias_row("view_as(tensor input, tensor other) -> tensor", CastPolicy::none, "view",
              "input as a view of the shape of other.", view_as, sample_likes, kView),
    alias_row("type_as(tensor input, tensor other) -> tensor", CastPolicy::none, "to", "input in the dtype of other.",
              type_as, sample_likes, kMayView | kReturnsSelf),
    alias_row("ravel(tensor input) -> tensor", CastPolicy::none, "flatten", "All elements along one dim.", ravel,
              sample_rows, kMayView),
    alias_row("narrow(tensor input, int dim, int start, int length) -> tensor", CastPolicy::none, "slice",
              "A view of length elements of dim from start on.", narrow, sample_narrows, kView),
    alias_row("t(tensor input) -> tensor", CastPolicy::none, "transpose",
              "A matrix with rows and columns exchanged; of less than two dims the input itself.", t_op,
              sample_matrices, kView),
    alias_row("adjoint(tensor input) -> tensor", CastPolicy::none, "transpose",
              "A view with the last two dims exchanged.", adjoint, sample_rows, kView),
    alias_row("mm(tensor input, tensor mat2) -> tensor", CastPolicy::lower_precision_fp, "matmul",
              "The product of two matrices.", matmul_of_fixed_ranks<2, 2>, sample_factors<2, 2>, kMatmul),
    alias_row("bmm(tensor input, tensor mat2) -> tensor", CastPolicy::lower_precision_fp, "matmul",
              "The products of two batches of matrices.", matmul_of_fixed_ranks<3, 3>, sample_factors<3, 3>, kMatmul),
    alias_row("mv(tensor input, tensor vec) -> tensor", CastPolicy::lower_precision_fp, "matmul",
              "The product of a matrix and a vector.", matmul_of_fixed_ranks<2, 1>, sample_factors<2, 1>, kMatmul),
    alias_row("dot(tensor input, tensor tensor) -> tensor", CastPolicy::promote, "matmul",
              "The scalar product of two vectors.", matmul_of_fixed_ranks<1, 1>, sample_factors<1, 1>, kMatmul),
    alias_row("vdot(tensor input, tensor other) -> tensor", CastPolicy::promote, "matmul",
              "The scalar product of two vectors.", matmul_of_fixed_ranks<1, 1>, sample_factors<1, 1>, kMatmul),
    composite("softmin(tensor input, int dim, dtype? dtype=None) -> tensor", CastPolicy::fp32, "softmax of -input.",
              softmin, sample_along),
};

}  // namespace

extern const OpRows aliases_ops = kRows;

}  // namespace thunder
