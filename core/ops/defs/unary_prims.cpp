// Elementwise functions of one tensor: each row is a prim.
#include <bit>
#include <cmath>
#include <numbers>

#include "ops/elementwise.h"

namespace thunder {
namespace {

struct Abs {
  template <class T>
  T operator()(T x) {
    if constexpr (std::is_floating_point_v<T>) return std::fabs(x);
    else if constexpr (std::is_unsigned_v<T>) return x;
    else return x < 0 ? wrapping(T(0), x, [](auto a, auto b) { return a - b; }) : x;
  }
};
struct Neg {
  template <class T>
  T operator()(T x) {
    if constexpr (std::is_floating_point_v<T>) return -x;
    else return wrapping(T(0), x, [](auto a, auto b) { return a - b; });
  }
};
struct Sign {
  template <class T>
  T operator()(T x) {
    return static_cast<T>((x > T(0)) - (x < T(0)));
  }
};
struct Floor {
  template <class T>
  T operator()(T x) {
    if constexpr (std::is_floating_point_v<T>) return std::floor(x);
    else return x;
  }
};
struct Exp { template <class T> T operator()(T x) { return std::exp(x); } };
struct Log { template <class T> T operator()(T x) { return std::log(x); } };
struct Sqrt { template <class T> T operator()(T x) { return std::sqrt(x); } };
struct Rsqrt { template <class T> T operator()(T x) { return 1 / std::sqrt(x); } };
struct Reciprocal { template <class T> T operator()(T x) { return 1 / x; } };
struct Sin { template <class T> T operator()(T x) { return std::sin(x); } };
struct Cos { template <class T> T operator()(T x) { return std::cos(x); } };
struct Tanh { template <class T> T operator()(T x) { return std::tanh(x); } };
struct Erf { template <class T> T operator()(T x) { return std::erf(x); } };

void not_meta(const Call& c, Types& out) {
  TensorType t = c.type(0);
  t.dtype = DType::boolean;
  out.push(t);
}
Status* not_kernel(const KernelArgs& k) {
  by_dtype(k.in[0].dtype, [&](auto t) {
    using T = decltype(t);
    each<T, bool>(k, [](Compute<T> v) { return v == Compute<T>(0); });
  });
  return nullptr;
}

void signbit_meta(const Call& c, Types& out) {
  require_real(c);
  not_meta(c, out);
}
Status* signbit_kernel(const KernelArgs& k) {
  by_real(k.in[0].dtype, [&](auto t) {
    using T = decltype(t);
    using Bits = std::conditional_t<sizeof(Compute<T>) == 8, int64_t, int32_t>;
    // GCC 12 fails at vectors of std::signbit.
    each<T, bool>(k, [](Compute<T> v) { return std::bit_cast<Bits>(v) < 0; });
  });
  return nullptr;
}

// Each formula is in the cotangent dy, the input x and the result y, in f32 when they are bf16.
template <class Formula>
void formula_vjp(Grad& g) {
  g.add(0, Formula()(g, computed(g.cotangent())));
}
Var x(Grad& g) { return computed(g.var(0)); }
Var y(Grad& g) { return computed(g.result()); }

constexpr auto abs_vjp = [](Grad& g) { g.add(0, g.cotangent() * g.builder.call(Prim::sign, {g.var(0)})); };
constexpr auto neg_vjp = [](Grad& g) { g.add(0, g.builder.call(Prim::neg, {g.cotangent()})); };
constexpr auto d_exp = [](Grad& g, Var dy) { return dy * y(g); };
constexpr auto d_log = [](Grad& g, Var dy) { return dy / x(g); };
constexpr auto d_sqrt = [](Grad& g, Var dy) { return dy / (y(g) * 2.0); };
constexpr auto d_rsqrt = [](Grad& g, Var dy) { return dy * (y(g) * y(g) * y(g)) * -0.5; };
constexpr auto d_reciprocal = [](Grad& g, Var dy) { return -(dy * (y(g) * y(g))); };
constexpr auto d_sin = [](Grad& g, Var dy) { return dy * g.builder.call(Prim::cos, {x(g)}); };
constexpr auto d_cos = [](Grad& g, Var dy) { return -(dy * g.builder.call(Prim::sin, {x(g)})); };
constexpr auto d_tanh = [](Grad& g, Var dy) { return dy - dy * (y(g) * y(g)); };
constexpr auto d_erf = [](Grad& g, Var dy) {
  Var at = x(g);
  return dy * g.builder.call(Prim::exp, {-(at * at)}) * (2 * std::numbers::inv_sqrtpi);
};

constexpr OpRow kRows[] = {
    primitive("prims.abs(tensor input) -> tensor", "The absolute value.", number_meta, unary_kernel<Abs>, abs_vjp,
              kElementwise | kCheap),
    primitive("prims.neg(tensor input) -> tensor", "-input; integers wrap around.", number_meta, unary_kernel<Neg>,
              neg_vjp, kElementwise | kCheap),
    primitive("prims.sign(tensor input) -> tensor", "-1, 0 or 1; 0 for NaN.", number_meta, unary_kernel<Sign>, nullptr,
              kElementwise, {.nondiff = "it is constant between jumps"}),
    primitive("prims.signbit(tensor input) -> tensor", "Whether the sign bit is set, as in -0.0 and some NaNs.",
              signbit_meta, signbit_kernel, nullptr, kElementwise | kCheap, {.nondiff = "the result is boolean"}),
    primitive("prims.floor(tensor input) -> tensor", "The largest integer that is not greater.", number_meta,
              unary_kernel<Floor>, nullptr, kElementwise, {.nondiff = "it is constant between jumps"}),
    primitive("prims.logical_not(tensor input) -> tensor", "Whether the input is zero.", not_meta, not_kernel, nullptr,
              kElementwise | kCheap, {.nondiff = "the result is boolean"}),
    real("prims.exp(tensor input) -> tensor", "e to the power of the input.", real_kernel<Exp>,
         formula_vjp<decltype(d_exp)>),
    real("prims.log(tensor input) -> tensor", "The natural logarithm.", real_kernel<Log>,
         formula_vjp<decltype(d_log)>),
    real("prims.sqrt(tensor input) -> tensor", "The square root.", real_kernel<Sqrt>,
         formula_vjp<decltype(d_sqrt)>),
    real("prims.rsqrt(tensor input) -> tensor", "1 / sqrt(input).", real_kernel<Rsqrt>,
         formula_vjp<decltype(d_rsqrt)>),
    real("prims.reciprocal(tensor input) -> tensor", "1 / input.", real_kernel<Reciprocal>,
         formula_vjp<decltype(d_reciprocal)>),
    real("prims.sin(tensor input) -> tensor", "The sine of radians.", real_kernel<Sin>,
         formula_vjp<decltype(d_sin)>),
    real("prims.cos(tensor input) -> tensor", "The cosine of radians.", real_kernel<Cos>,
         formula_vjp<decltype(d_cos)>),
    real("prims.tanh(tensor input) -> tensor", "The hyperbolic tangent.", real_kernel<Tanh>,
         formula_vjp<decltype(d_tanh)>),
    real("prims.erf(tensor input) -> tensor", "The error function.", real_kernel<Erf>,
         formula_vjp<decltype(d_erf)>),
};

}  // namespace

extern const OpRows unary_prims_ops = kRows;

}  // namespace thunder
