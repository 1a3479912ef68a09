// Elementwise arithmetic on two tensors of one type: each row is a prim.
#include <cmath>

#include "ops/elementwise.h"

namespace thunder {
namespace {

template <class T>
constexpr bool kReal = std::is_floating_point_v<T>;

struct Add {
  template <class T>
  T operator()(T a, T b) {
    return wrapping(a, b, [](auto x, auto y) { return x + y; });
  }
};
struct Sub {
  template <class T>
  T operator()(T a, T b) {
    return wrapping(a, b, [](auto x, auto y) { return x - y; });
  }
};
struct Mul {
  template <class T>
  T operator()(T a, T b) {
    return wrapping(a, b, [](auto x, auto y) { return x * y; });
  }
};
struct Maximum {
  template <class T>
  T operator()(T a, T b) {
    return a > b || a != a ? a : b;
  }
};
struct Minimum {
  template <class T>
  T operator()(T a, T b) {
    return a < b || a != a ? a : b;
  }
};
struct Div {
  template <class T>
  T operator()(T a, T b) {
    // The one quotient that does not fit wraps around like a negation.
    if constexpr (std::is_signed_v<T> && !kReal<T>)
      if (b == T(-1)) return Sub()(T(0), a);
    return static_cast<T>(a / b);
  }
};
struct Pow {
  template <class T>
  T operator()(T a, T b) {
    if constexpr (kReal<T>) {
      return std::pow(a, b);
    } else {
      if constexpr (std::is_signed_v<T>)
        if (b < 0) return a == 1 ? T(1) : a == -1 ? T(b % 2 ? -1 : 1) : T(0);
      T result = 1;
      for (; b > 0; b = static_cast<T>(b / 2), a = Mul()(a, a))
        if (b % 2) result = Mul()(result, a);
      return result;
    }
  }
};
struct Fmod {
  template <class T>
  T operator()(T a, T b) {
    if constexpr (kReal<T>) return std::fmod(a, b);
    // T(-1) is 255 for u8, whose remainders differ.
    else if (std::is_signed_v<T> && b == T(-1)) return T(0);
    else return static_cast<T>(a % b);
  }
};

void number_pair_meta(const Call& c, Types& out) {
  pair_meta(c, out);
  c.require(c.type(0).dtype != DType::boolean, "operands must not be boolean; ", c.types());
}

template <class F>
Status* quotient_kernel(const KernelArgs& k) {
  bool by_zero = false;
  by_dtype(k.in[1].dtype, [&](auto t) {
    using T = decltype(t);
    if constexpr (kWraps<T>) {
      Rows<1> rows(k.in[1], {&k.in[1]});
      for (int64_t r = 0; r < rows.rows(); r++, rows.next())
        for (int64_t i = 0; i < rows.row(); i++) by_zero |= k.in[1].as<T>()[rows.offset[0] + i * rows.step[0]] == 0;
    }
  });
  if (by_zero) return refuse("div: an integer is divided by zero");
  return pair_kernel<F>(k);
}

// ---- gradients ----

void mul_prim_vjp(Grad& g) {
  if (g.wants(0)) g.add(0, g.cotangent() * g.var(1));
  if (g.wants(1)) g.add(1, g.cotangent() * g.var(0));
}
void div_prim_vjp(Grad& g) {
  Var dy = computed(g.cotangent()), b = computed(g.var(1));
  if (g.wants(0)) g.add(0, dy / b);
  if (g.wants(1)) g.add(1, -(dy * computed(g.result()) / b));
}
void pow_vjp(Grad& g) {
  Var dy = computed(g.cotangent()), a = computed(g.var(0)), b = computed(g.var(1));
  Builder& to = g.builder;
  if (g.wants(0)) {
    Var slope = dy * (b * to.call("pow", {a, b - 1.0}));
    g.add(0, where(to.call("eq", {b, 0.0}), 0.0, slope));
  }
  if (g.wants(1)) {
    // 0 ** b is 0 for every positive b, so that log(0) must not be met.
    Var flat = to.call("eq", {a, 0.0}) * to.call("ge", {b, 0.0});
    g.add(1, where(flat, 0.0, dy * computed(g.result()) * to.call("log", {a})));
  }
}
// The chosen operand gets the cotangent; equal ones share it; if one is NaN both get it, as in PyTorch.
template <bool maximum>
void extremum_vjp(Grad& g) {
  Var dy = g.cotangent(), a = g.var(0), b = g.var(1);
  Builder& to = g.builder;
  Var shared = where(to.call("eq", {a, b}), dy * 0.5, dy);
  if (g.wants(0)) g.add(0, where(to.call(maximum ? "lt" : "gt", {a, b}), 0.0, shared));
  if (g.wants(1)) g.add(1, where(to.call(maximum ? "gt" : "lt", {a, b}), 0.0, shared));
}

consteval OpRow arithmetic(SchemaText schema, std::string_view doc, MetaFn meta, KernelFn kernel, VjpFn vjp,
                           uint32_t more_tags = 0) {
  return primitive(schema, doc, meta, kernel, vjp, kElementwise | more_tags);
}

constexpr OpRow kRows[] = {
    arithmetic(
        "prims.add(tensor input, tensor other) -> tensor", "input + other; the logical or of booleans.", pair_meta,
        pair_kernel<Add>, [](Grad& g) { g.add(0, g.cotangent()), g.add(1, g.cotangent()); }, kCheap),
    arithmetic(
        "prims.sub(tensor input, tensor other) -> tensor", "input - other.", number_pair_meta, pair_kernel<Sub>,
        [](Grad& g) { g.add(0, g.cotangent()), g.add(1, g.wants(1) ? -g.cotangent() : Var()); }, kCheap),
    arithmetic("prims.mul(tensor input, tensor other) -> tensor", "input * other; the logical and of booleans.",
               pair_meta, pair_kernel<Mul>, mul_prim_vjp, kCheap),
    arithmetic("prims.div(tensor input, tensor other) -> tensor", "input / other; of integers, truncated towards zero.",
               number_pair_meta, quotient_kernel<Div>, div_prim_vjp, kChecksIntegers),
    primitive("prims.fmod(tensor input, tensor other) -> tensor", "What truncated division leaves; exact.",
              number_pair_meta, quotient_kernel<Fmod>, nullptr, kElementwise | kChecksIntegers,
              {.nondiff = "only rounding divisions use it"}),
    arithmetic("prims.pow(tensor input, tensor other) -> tensor", "input to the power of other.", number_pair_meta,
               pair_kernel<Pow>, pow_vjp),
    arithmetic("prims.maximum(tensor input, tensor other) -> tensor", "The greater of two; NaN if either is.",
               pair_meta, pair_kernel<Maximum>, extremum_vjp<true>, kCheap),
    arithmetic("prims.minimum(tensor input, tensor other) -> tensor", "The lesser of two; NaN if either is.", pair_meta,
               pair_kernel<Minimum>, extremum_vjp<false>, kCheap),
};

}  // namespace

extern const OpRows binary_prims_ops = kRows;

}  // namespace thunder
