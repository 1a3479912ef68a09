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

constexpr Row one_to_one(std::string_view op, std::string_view onnx) {
  return {op, onnx, nullptr, true};
}

constexpr Row kRows[] = {
    one_to_one("prims.abs", "Abs"),
    one_to_one("prims.acos", "Acos"),
    {"prims.add", "Add, Or", [](Line& l) { return emit_by_type(l, "Or", "Add"); }, true},
    {"prims.alias", "none", pass_through, true},
    one_to_one("prims.asin", "Asin"),
    one_to_one("prims.atan", "Atan"),
    {"prims.atan2", "Atan, Where", atan2, true},
    {"prims.bitwise_and", "BitwiseAnd, And", [](Line& l) { return emit_by_type(l, "And", "BitwiseAnd"); }, true},
    {"prims.bitwise_left_shift", "BitShift", left_shift, true},
    {"prims.bitwise_or", "BitwiseOr, Or", [](Line& l) { return emit_by_type(l, "Or", "BitwiseOr"); }, true},
    {"prims.bitwise_right_shift", "BitShift, BitwiseNot", right_shift, true},
    {"prims.bitwise_xor", "BitwiseXor, Xor", [](Line& l) { return emit_by_type(l, "Xor", "BitwiseXor"); }, true},
    {"prims.clone", "none", pass_through, true},
    {"prims.contiguous", "none", pass_through, true},
    {"prims.convert", "Cast", convert, true},
    one_to_one("prims.cos", "Cos"),
    {"prims.detach", "none", pass_through, true},
    one_to_one("prims.div", "Div"),
    one_to_one("prims.eq", "Equal"),
    one_to_one("prims.erf", "Erf"),
    one_to_one("prims.exp", "Exp"),
    one_to_one("prims.floor", "Floor"),
    {"prims.fmod", "Mod, Where", fmod, true},
    {"prims.full", "Expand", full, true},
    one_to_one("prims.ge", "GreaterOrEqual"),
    one_to_one("prims.gt", "Greater"),
    one_to_one("prims.le", "LessOrEqual"),
    one_to_one("prims.log", "Log"),
    {"prims.log10", "Log, Div", log10, true},
    {"prims.log2", "Log, Div", log2, true},
    {"prims.logical_not", "Not, Equal", logical_not, true},
    one_to_one("prims.lt", "Less"),
    {"prims.maximum", "Max, Or", [](Line& l) { return emit_by_type(l, "Or", "Max"); }, true},
    {"prims.minimum", "Min, And", [](Line& l) { return emit_by_type(l, "And", "Min"); }, true},
    {"prims.mul", "Mul, And", [](Line& l) { return emit_by_type(l, "And", "Mul"); }, true},
    {"prims.ne", "Equal, Not", ne, true},
    one_to_one("prims.neg", "Neg"),
    one_to_one("prims.pow", "Pow"),
    one_to_one("prims.reciprocal", "Reciprocal"),
    {"prims.rsqrt", "Sqrt, Reciprocal", rsqrt, true},
    {"prims.set_data", "none", set_data, true},
    {"prims.sign", "Sign, Where", sign, true},
    {"prims.signbit", "Less, Reciprocal, Or", signbit, true},
    one_to_one("prims.sin", "Sin"),
    one_to_one("prims.sqrt", "Sqrt"),
    one_to_one("prims.sub", "Sub"),
    one_to_one("prims.tanh", "Tanh"),
    {"prims.to_device", "none", pass_through, true},
    one_to_one("prims.where", "Where"),
};

}  // namespace

std::span<const Row> elementwise_rows() {
  return kRows;
}

}  // namespace thunder::onnx_export
