// Operations on the bits of integers and booleans, and divisors: each is a prim under an op that promotes and
// broadcasts.
#include <numeric>

#include "ops/tables.h"

namespace thunder {
namespace {

// out = F(a, b) for integers and booleans.
template <class F>
Status* integer_kernel(const KernelArgs& k) {
  by_dtype(k.out[0].dtype, [&](auto t) {
    using T = decltype(t);
    if constexpr (std::is_integral_v<T>) each2<T, T>(k, [](T a, T b) { return static_cast<T>(F()(a, b)); });
  });
  return nullptr;
}
struct And { template <class T> T operator()(T a, T b) { return static_cast<T>(a & b); } };
struct Or { template <class T> T operator()(T a, T b) { return static_cast<T>(a | b); } };
struct Xor { template <class T> T operator()(T a, T b) { return static_cast<T>(a ^ b); } };
// A shift by the type's width or more, or by a negative number, gives what shifting out all bits gives.
template <class T>
bool shifts_out(T bits) { return static_cast<uint64_t>(static_cast<int64_t>(bits)) >= 8 * sizeof(T); }
struct LeftShift {
  template <class T>
  T operator()(T a, T b) {
    return shifts_out(b) ? T(0) : static_cast<T>(static_cast<uint64_t>(a) << b);
  }
};
struct RightShift {
  template <class T>
  T operator()(T a, T b) {
    if constexpr (std::is_same_v<T, bool>) return a && !b;
    else return shifts_out(b) ? static_cast<T>(a < T(0) ? -1 : 0) : static_cast<T>(a >> b);
  }
};
// On the absolute values; that of the least integer is itself.
struct Gcd {
  template <class T>
  T operator()(T a, T b) {
    const auto absolute = [](T v) {
      return v < T(0) ? uint64_t{0} - static_cast<uint64_t>(v) : static_cast<uint64_t>(v);
    };
    return static_cast<T>(std::gcd(absolute(a), absolute(b)));
  }
};

void bits_meta(const Call& c, Types& out) {
  pair_meta(c, out);
  c.require(!is_real(c.type(0).dtype), "operands must be integers or booleans; ", c.types());
}
void integers_meta(const Call& c, Types& out) {
  pair_meta(c, out);
  c.require(is_integer(c.type(0).dtype), "operands must be integers; ", c.types());
}

// Checked before promotion, so that the message has the user's types.
template <Overflow overflow>
Results apply_bitwise_prim(Call& c) {
  for (size_t i : {0, 1})
    c.require(c.args[i].kind != ArgKind::value || !is_real(c.type(i).dtype), "operands must be integers or booleans; ",
              c.types());
  return computed_by(c, cat("prims.", c.op.name()), false, overflow);
}
Var logical_xor(Var a, Var b) { return ne(a, b); }
// On booleans by the logical prims, which every executor fuses.
template <auto of_booleans>
Results apply_bitwise_or_logical(Call& c) {
  const auto is_truth = [&](const Arg& a) {
    return a.kind == ArgKind::boolean || (a.kind == ArgKind::value && c.builder.type(a.v).dtype == DType::boolean);
  };
  if (!is_truth(c.args[0]) || !is_truth(c.args[1])) return apply_bitwise_prim<Overflow::wraps>(c);
  auto v = promoted(c, {0, 1});
  return of_booleans(v[0], v[1]);
}
Results bitwise_not(Call& c) {
  Var x = c.var(0);
  c.require(!is_real(x.dtype()), "input must be integer or boolean, got ", name(x.type()));
  if (x.dtype() == DType::boolean) return not_(x);
  return c.builder.call(Prim::bitwise_xor, {x, full_like(x, -1)});
}
Results lcm(Call& c) {
  auto v = promoted(c, {0, 1});
  c.require(is_integer(v[0].dtype()), "operands must be integers; ", c.types());
  Var divisor = apply(Prim::gcd, v[0], v[1]), zero = eq(divisor, 0);
  return abs(c.builder.call(Prim::div, {v[0], where(zero, 1, divisor)}) * v[1]);
}

void add_integer_samples(Samples& s, bool booleans) {
  const TensorSpec a{{2, 3}, DType::i64, -20, 20}, b{{3}, DType::i64, 0, 9};
  s.add({a, b});
  s.add({a, 3});
  s.add({TensorSpec{{2, 3}, DType::i32, -20, 20}, TensorSpec{{2, 1}, DType::i32, 0, 9}});
  s.add({TensorSpec{{4}, DType::u8, 0, 200}, TensorSpec{{4}, DType::u8, 0, 9}});
  s.add({TensorSpec{{}, DType::i64, 0, 9}, b});
  s.add({TensorSpec{{0, 3}, DType::i64, 0, 9}, b});
  if (booleans) s.add({TensorSpec{{4}, DType::boolean, 0, 1}, TensorSpec{{4}, DType::boolean, 0, 1}});
  s.refuse({TensorSpec{{3}}, TensorSpec{{3}}}, "integers");
  s.refuse({a, TensorSpec{{4}, DType::i64, 0, 9}}, "broadcast");
}

constexpr std::string_view kNoGradient = "its operands are not real";
consteval OpRow prim(SchemaText schema, std::string_view doc, MetaFn meta, KernelFn kernel) {
  return primitive(schema, doc, meta, kernel, nullptr, kElementwise, {.nondiff = kNoGradient});
}
template <bool booleans>
consteval OpRow row(SchemaText schema, std::string_view doc,
                    DecomposeFn decompose = apply_bitwise_prim<Overflow::refused>) {
  return composite(schema, CastPolicy::none, doc, decompose, [](Samples& s) { add_integer_samples(s, booleans); },
                   kInplace, {.nondiff = kNoGradient});
}

constexpr OpRow kRows[] = {
    prim("prims.bitwise_and(tensor input, tensor other) -> tensor", "The bits that both have.", bits_meta,
         integer_kernel<And>),
    prim("prims.bitwise_or(tensor input, tensor other) -> tensor", "The bits that either has.", bits_meta,
         integer_kernel<Or>),
    prim("prims.bitwise_xor(tensor input, tensor other) -> tensor", "The bits that one has.", bits_meta,
         integer_kernel<Xor>),
    prim("prims.bitwise_left_shift(tensor input, tensor other) -> tensor", "input times 2 to the power of other.",
         integers_meta, integer_kernel<LeftShift>),
    prim("prims.bitwise_right_shift(tensor input, tensor other) -> tensor",
         "input divided by 2 to the power of other, rounded down.", integers_meta, integer_kernel<RightShift>),
    prim("prims.gcd(tensor input, tensor other) -> tensor", "The greatest common divisor, not negative.", integers_meta,
         integer_kernel<Gcd>),
    row<true>("bitwise_and(tensor|number input, tensor|number other) -> tensor",
              "The bits that both have; the logical and of booleans.", apply_bitwise_or_logical<both>),
    row<true>("bitwise_or(tensor|number input, tensor|number other) -> tensor",
              "The bits that either has; the logical or of booleans.", apply_bitwise_or_logical<either>),
    row<true>("bitwise_xor(tensor|number input, tensor|number other) -> tensor",
              "The bits that one of both has; inequality of booleans.", apply_bitwise_or_logical<logical_xor>),
    row<false>("bitwise_left_shift(tensor|number input, tensor|number other) -> tensor",
               "input times 2 to the power of other, as bits."),
    row<false>("bitwise_right_shift(tensor|number input, tensor|number other) -> tensor",
               "input divided by 2 to the power of other, rounded down."),
    row<false>("gcd(tensor input, tensor|number other) -> tensor", "The greatest common divisor, not negative."),
    row<false>("lcm(tensor input, tensor|number other) -> tensor", "The least common multiple, not negative.", lcm),
    composite("bitwise_not(tensor input) -> tensor", CastPolicy::none, "Every bit turned; the logical not of booleans.",
              bitwise_not,
              [](Samples& s) {
                s.add({TensorSpec{{2, 3}, DType::i64, -9, 9}});
                s.add({TensorSpec{{4}, DType::u8, 0, 200}});
                s.add({TensorSpec{{4}, DType::boolean, 0, 1}});
                s.refuse({TensorSpec{{2}}}, "integer");
              },
              kInplace, {.nondiff = kNoGradient}),
};

}  // namespace

extern const OpRows bitwise_ops = kRows;

}  // namespace thunder
