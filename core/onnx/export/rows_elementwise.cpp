// Prims that work element by element.
#include <cmath>
#include <numbers>

#include "onnx/export/rows.h"

namespace thunder::onnx_export {
namespace {

bool all_boolean(const Line& l) {
  return l.type(0).dtype == DType::boolean;
}

// The first op for booleans, the second for numbers.
bool emit_by_type(Line& l, const char* of_booleans, const char* of_numbers) {
  l.give(l.make(all_boolean(l) ? of_booleans : of_numbers, {l.in(0), l.in(1)}));
  return true;
}

// Of integers by the remainder that has the divisor's sign: ONNX Runtime computes the other one in doubles.
bool fmod(Line& l) {
  const Val a = l.in(0), b = l.in(1);
  const DType dtype = l.type(0).dtype;
  if (is_real(dtype)) return l.give(l.make("Mod", {a, b}, {attr("fmod", int64_t{1})})), true;
  const Val rest = l.make("Mod", {a, b});
  if (!is_signed(dtype)) return l.give(rest), true;
  const Val zero = l.graph.scalar(int64_t{0}, dtype);
  const Val turned = l.make("Xor", {l.make("Less", {a, zero}), l.make("Less", {b, zero})});
  const Val goes_on = l.make("And", {turned, l.make("Not", {l.make("Equal", {rest, zero})})});
  l.give(l.make("Where", {goes_on, l.make("Sub", {rest, b}), rest}));
  return true;
}
// 0 of NaN.
bool sign(Line& l) {
  const Val x = l.in(0), made = l.make("Sign", {x});
  const DType dtype = l.type(0).dtype;
  l.give(is_real(dtype) ? l.make("Where", {l.make("IsNaN", {x}), l.graph.scalar(0.0, dtype), made}) : made);
  return true;
}
// Of a NaN false: ONNX has no op on the bits of reals.
bool signbit(Line& l) {
  const Val x = l.in(0), zero = l.graph.scalar(0.0, l.type(0).dtype);
  l.give(l.make("Or", {l.make("Less", {x, zero}), l.make("Less", {l.make("Reciprocal", {x}), zero})}));
  return true;
}
bool ne(Line& l) {
  const Val a = l.in(0), b = l.in(1);
  l.give(l.make("Not", {l.make("Equal", {a, b})}));
  return true;
}
bool logical_not(Line& l) {
  const Val x = l.in(0);
  l.give(all_boolean(l) ? l.make("Not", {x}) : l.make("Equal", {x, l.graph.scalar(int64_t{0}, l.type(0).dtype)}));
  return true;
}
bool rsqrt(Line& l) {
  l.give(l.make("Reciprocal", {l.make("Sqrt", {l.in(0)})}));
  return true;
}
bool log_by(Line& l, double base) {
  l.give(l.make("Div", {l.make("Log", {l.in(0)}), l.graph.scalar(base, l.type(0).dtype)}));
  return true;
}
bool log2(Line& l) {
  return log_by(l, std::numbers::ln2);
}
bool log10(Line& l) {
  return log_by(l, std::numbers::ln10);
}

// Values out of range wrap around, by way of i64.
bool convert(Line& l) {
  const DType from = l.type(0).dtype, to = l.result().dtype;
  const bool narrows = is_real(from) && is_integer(to) && size_of(to) < 8;
  const Val x = l.in(0);
  l.give(l.graph.cast(narrows ? l.graph.cast(x, DType::i64) : x, to));
  return true;
}

bool full(Line& l) {
  l.give(l.operand(1, l.result().dtype));
  return true;
}
bool pass_through(Line& l) {
  l.give(l.in(0));
  return true;
}
bool set_data(Line& l) {
  l.give(l.in(1));
  return true;
}

// The quadrant is that of the signs, those of zeros too.
bool atan2(Line& l) {
  const DType dtype = l.type(0).dtype;
  const Val y = l.in(0), x = l.in(1), zero = l.graph.scalar(0.0, dtype);
  const auto number = [&](double v) { return l.graph.scalar(v, dtype); };
  const auto negative = [&](Val v) {
    const Val below = l.make("Less", {l.make("Reciprocal", {v}), zero});
    return l.make("Or", {l.make("Less", {v, zero}), l.make("And", {l.make("Equal", {v, zero}), below})});
  };
  const Val sign = l.make("Where", {negative(y), number(-1), number(1)});
  const Val size = l.make("Abs", {y}), reach = l.make("Abs", {x});
  // The angle in [0, pi/2], from the lesser by the greater, so that infinities and zeros are not divided by each other.
  const Val steep = l.make("Greater", {size, reach}), same = l.make("Equal", {size, reach});
  const Val ratio = l.make("Div", {l.make("Where", {steep, reach, size}), l.make("Where", {steep, size, reach})});
  const Val zeros = l.make("And", {same, l.make("Equal", {size, zero})});
  const Val one = l.make("Where", {zeros, zero, l.make("Where", {same, number(1), ratio})});
  const Val flat = l.make("Atan", {one});
  const Val angle = l.make("Where", {steep, l.make("Sub", {number(std::numbers::pi / 2), flat}), flat});
  const Val turned = l.make("Where", {negative(x), l.make("Sub", {number(std::numbers::pi), angle}), angle});
  l.give(l.make("Mul", {sign, turned}));
  return true;
}

DType unsigned_of(DType d) {
  switch (size_of(d)) {
    case 1:
      return DType::u8;
    case 2:
      return DType::u16;
    case 4:
      return DType::u32;
    default:
      return DType::u64;
  }
}
// A shift by the type's width or more, or by a negative number, gives what shifting out all bits gives.
Val emit_shift(Line& l, Val bits, Val by, const char* direction) {
  const DType dtype = l.graph.dtype(bits);
  const Val zero = l.graph.scalar(int64_t{0}, dtype);
  const Val out = l.make("GreaterOrEqual", {by, l.graph.scalar(static_cast<int64_t>(8 * size_of(dtype)), dtype)});
  const Val made =
      l.make("BitShift", {bits, l.make("Where", {out, zero, by})}, {attr("direction", std::string_view(direction))});
  return l.make("Where", {out, zero, made});
}
bool left_shift(Line& l) {
  const DType dtype = l.type(0).dtype, bits = unsigned_of(dtype);
  const Val x = l.graph.cast(l.in(0), bits), by = l.graph.cast(l.in(1), bits);
  l.give(l.graph.cast(emit_shift(l, x, by, "LEFT"), dtype));
  return true;
}
// Shifting a negative number to the right fills with ones, shifting its complement with zeros.
bool right_shift(Line& l) {
  const DType dtype = l.type(0).dtype, bits = unsigned_of(dtype);
  const Val x = l.in(0), by = l.graph.cast(l.in(1), bits);
  if (!is_signed(dtype)) return l.give(emit_shift(l, x, by, "RIGHT")), true;
  const Val negative = l.make("Less", {x, l.graph.scalar(int64_t{0}, dtype)});
  const Val turned = l.make("Where", {negative, l.make("BitwiseNot", {x}), x});
  const Val made = l.graph.cast(emit_shift(l, l.graph.cast(turned, bits), by, "RIGHT"), dtype);
  l.give(l.make("Where", {negative, l.make("BitwiseNot", {made}), made}));
  return true;
}

constexpr Row one_to_one(std::string_view onnx) {
  return {onnx, nullptr, true};
}

}  // namespace

const Row abs_row = one_to_one("Abs");
const Row acos_row = one_to_one("Acos");
const Row add_row = {"Add, Or", [](Line& l) { return emit_by_type(l, "Or", "Add"); }, true};
const Row alias_row = {"none", pass_through, true};
const Row asin_row = one_to_one("Asin");
const Row atan_row = one_to_one("Atan");
const Row atan2_row = {"Atan, Where", atan2, true};
const Row bitwise_and_row = {"BitwiseAnd, And", [](Line& l) { return emit_by_type(l, "And", "BitwiseAnd"); }, true};
const Row bitwise_left_shift_row = {"BitShift", left_shift, true};
const Row bitwise_or_row = {"BitwiseOr, Or", [](Line& l) { return emit_by_type(l, "Or", "BitwiseOr"); }, true};
const Row bitwise_right_shift_row = {"BitShift, BitwiseNot", right_shift, true};
const Row bitwise_xor_row = {"BitwiseXor, Xor", [](Line& l) { return emit_by_type(l, "Xor", "BitwiseXor"); }, true};
const Row clone_row = {"none", pass_through, true};
const Row contiguous_row = {"none", pass_through, true};
const Row convert_row = {"Cast", convert, true};
const Row cos_row = one_to_one("Cos");
const Row detach_row = {"none", pass_through, true};
const Row div_row = one_to_one("Div");
const Row eq_row = one_to_one("Equal");
const Row erf_row = one_to_one("Erf");
const Row exp_row = one_to_one("Exp");
const Row floor_row = one_to_one("Floor");
const Row fmod_row = {"Mod, Where", fmod, true};
const Row full_row = {"Expand", full, true};
const Row ge_row = one_to_one("GreaterOrEqual");
const Row gt_row = one_to_one("Greater");
const Row le_row = one_to_one("LessOrEqual");
const Row log_row = one_to_one("Log");
const Row log10_row = {"Log, Div", log10, true};
const Row log2_row = {"Log, Div", log2, true};
const Row logical_not_row = {"Not, Equal", logical_not, true};
const Row lt_row = one_to_one("Less");
const Row maximum_row = {"Max, Or", [](Line& l) { return emit_by_type(l, "Or", "Max"); }, true};
const Row minimum_row = {"Min, And", [](Line& l) { return emit_by_type(l, "And", "Min"); }, true};
const Row mul_row = {"Mul, And", [](Line& l) { return emit_by_type(l, "And", "Mul"); }, true};
const Row ne_row = {"Equal, Not", ne, true};
const Row neg_row = one_to_one("Neg");
const Row pow_row = one_to_one("Pow");
const Row reciprocal_row = one_to_one("Reciprocal");
const Row rsqrt_row = {"Sqrt, Reciprocal", rsqrt, true};
const Row set_data_row = {"none", set_data, true};
const Row sign_row = {"Sign, Where", sign, true};
const Row signbit_row = {"Less, Reciprocal, Or", signbit, true};
const Row sin_row = one_to_one("Sin");
const Row sqrt_row = one_to_one("Sqrt");
const Row sub_row = one_to_one("Sub");
const Row tanh_row = one_to_one("Tanh");
const Row to_device_row = {"none", pass_through, true};
const Row where_row = one_to_one("Where");

}  // namespace thunder::onnx_export
