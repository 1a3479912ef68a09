// Gamma and Poisson variables, drawn by rejection: each element from a uniform number of its own.
#include "ops/functions.h"
#include "ops/samplers.h"
#include "ops/tables.h"

namespace thunder {
namespace {

void f64_pair_meta(const Call& c, Types& out) {
  pair_meta(c, out);
  c.require(c.type(0).dtype == DType::f64, "operands must be f64; ", c.types());
}

// Computed in f64 for all dtypes: uniform numbers of f32 could start only 2^24 different draws.
Results draw_by_rejection(Call& c, std::string_view prim) {
  Var x = c.var(0);
  const DType dtype = x.dtype();
  c.require(is_real(dtype), "input must be real, got ", name(x.type()));
  Var u = c.builder.call("rand", {x.shape(), DType::f64, x.type().device});
  return convert(c.builder.call(prim, {convert(x, DType::f64), u}), dtype);
}

void gamma_vjp(Grad& g) {
  g.require(!g.wants(1), "has no gradient in the number that it is drawn from");
  g.add(0, g.cotangent() * g.builder.call(Prim::gamma_slope, {g.var(0), g.result()}));
}

void sample_parameters(Samples& s) {
  s.add_without_gradient({TensorSpec{{2, 3}, DType::f32, 0.1, 3}});
  s.add_without_gradient({TensorSpec{{3}, DType::f64, 20, 100}});
  s.add_without_gradient({TensorSpec{{0, 3}}}), s.add_without_gradient({TensorSpec{{2}, DType::bf16, 1, 2}});
  s.refuse({TensorSpec{{2}, DType::i64, 1, 9}}, "real");
}

constexpr OpRow kRows[] = {
    composite(
        "standard_gamma(tensor input) -> tensor", CastPolicy::none,
        "Gamma distributed with the shapes in input and scale 1; its gradient is that of the "
        "distribution's quantiles.",
        [](Call& c) { return draw_by_rejection(c, "prims.gamma"); }, sample_parameters, kRandom),
    composite("poisson(tensor input) -> tensor", CastPolicy::none,
              "Poisson distributed with the means in input, of its dtype.",
              [](Call& c) { return draw_by_rejection(c, "prims.poisson"); }, sample_parameters, kRandom,
              {.nondiff = "the result is a count"}),
    primitive("prims.gamma(tensor input, tensor other) -> tensor",
              "A gamma variable of shape input, drawn from the uniform number other.", f64_pair_meta,
              pair_function_kernel<samplers::gamma>, gamma_vjp, kElementwise),
    primitive("prims.gamma_slope(tensor input, tensor other) -> tensor",
              "How the gamma variable other changes with its shape, input.", f64_pair_meta,
              pair_function_kernel<samplers::gamma_slope>, nullptr, kElementwise,
              {.nondiff = "it is the gradient of a draw, of which no gradient is known"}),
    primitive("prims.poisson(tensor input, tensor other) -> tensor",
              "A Poisson variable of mean input, drawn from the uniform number other.", f64_pair_meta,
              pair_function_kernel<samplers::poisson>, nullptr, kElementwise, {.nondiff = "the result is a count"}),
};

}  // namespace

extern const OpRows rejection_ops = kRows;

}  // namespace thunder
