// Elements that a mask, or a diagonal, puts other values in the place of: masked_fill, tril, triu.
#include <algorithm>

#include "ops/formulas.h"
#include "ops/grad.h"
#include "ops/numbers.h"
#include "ops/samples.h"

namespace thunder {
namespace {

// A number or a tensor of rank 0 as a tensor of x's dtype.
Var convert_scalar_value(const Call& c, size_t i, Var x) {
  c.require(is_plain_number(c, i) || c.type(i).rank() == 0, "value must be a number or a tensor of rank 0; ",
            c.types());
  const DType given = dtype_of(c, i);
  const bool truth = x.dtype() == DType::boolean && c.args[i].is_integer();
  c.require(truth || info(given).category <= info(x.dtype()).category, "a value of ", name(given),
            " does not fit input ", name(x.type()));
  return convert_checked(c, i, x.dtype());
}
Results masked_fill(Call& c) {
  Var x = c.var(0), mask = c.var(1);
  c.require(mask.dtype() == DType::boolean, "mask must be bool; ", c.types());
  return c.builder.call("where", {mask, convert_scalar_value(c, 2, x), x});
}

// Keeps the elements (i, j) of the last two dims for which j - i and diagonal satisfy `keep`.
Results keep_triangle(Call& c, std::string_view keep) {
  Var x = c.var(0);
  Builder& b = c.builder;
  c.require(x.rank() >= 2, "input must have at least rank 2; ", c.types());
  const Dim rows = x.size(-2), columns = x.size(-1);
  const Device device = x.type().device;
  const Shape square{rows, columns};
  // Clamped: beyond the corners nothing changes, and sums with positions do not overflow.
  const int64_t diagonal = std::clamp(c.integer(1), -hint(rows), hint(columns));
  Var row = b.call(Prim::iota, {Shape{rows}, DType::i64, device}),
      column = b.call(Prim::iota, {Shape{columns}, DType::i64, device});
  Var limit = expand_to(reshape_to(row, Shape{rows, 1}), square) +
              expand_to(full(b, {}, double(diagonal), DType::i64, device), square);
  Var kept = b.call(keep, {expand_to(column, square), limit});
  return b.call(Prim::where, {expand_to(kept, x.shape()), x, full_like(x, 0)});
}
Results tril(Call& c) {
  return keep_triangle(c, "prims.le");
}
Results triu(Call& c) {
  return keep_triangle(c, "prims.ge");
}

void masked_fill_samples(Samples& s) {
  s.add({TensorSpec{{2, 3}}, TensorSpec{{3}, DType::boolean, 0, 1}, -1.5});
  s.add({TensorSpec{{2, 3}}, TensorSpec{{2, 3}, DType::boolean, 0, 1}, TensorSpec{{}}});
  s.add({TensorSpec{{4}, DType::boolean, 0, 1}, TensorSpec{{4}, DType::boolean, 0, 1}, 2});
  s.refuse({TensorSpec{{2}}, TensorSpec{{2}}, 0}, "mask must be bool");
  s.refuse({TensorSpec{{2}, DType::i64}, TensorSpec{{2}, DType::boolean, 0, 1}, 0.5}, "does not fit");
}
void triangle_samples(Samples& s) {
  s.add({TensorSpec{{3, 4}}});
  s.add({TensorSpec{{2, 4, 3}}, -1});
  s.add({TensorSpec{{3, 3}}, 2});
  s.refuse({TensorSpec{{3}}}, "rank 2");
}

constexpr OpRow kRows[] = {
    composite("masked_fill(tensor input, tensor mask, tensor|number value) -> tensor", CastPolicy::none,
              "input where mask is false, value (a number or of rank 0) where it is true.", masked_fill,
              masked_fill_samples, kInplace),
    checked({.schema = "tril(tensor input, int diagonal=0) -> tensor",
             .autocast = CastPolicy::none,
             .doc = "The elements on and below a diagonal of the last two dims, zeros above.",
             .decompose = tril,
             .vjp =
                 [](Grad& g) {
                   g.add(0, g.builder.call("tril", {g.cotangent(), g.integer(1)}));
                 },
             .samples = triangle_samples,
             .tags = kInplace}),
    checked({.schema = "triu(tensor input, int diagonal=0) -> tensor",
             .autocast = CastPolicy::none,
             .doc = "The elements on and above a diagonal of the last two dims, zeros below.",
             .decompose = triu,
             .vjp =
                 [](Grad& g) {
                   g.add(0, g.builder.call("triu", {g.cotangent(), g.integer(1)}));
                 },
             .samples = triangle_samples,
             .tags = kInplace}),
};

}  // namespace

extern const OpRows masks_ops = kRows;

}  // namespace thunder
