#include <algorithm>

#include "base/text.h"
#include "onnx/host/host.h"
#include "onnx/narrow.h"
#include "onnx/operands.h"
#include "onnx/rows.h"

namespace thunder::onnx {
namespace {

void divide(Node& n) {
  const Pair p = binary_operands(n);
  if (is_real(p.dtype)) return n.give(n.op("div", {p.a, p.b}));
  n.give(n.op("div", {p.a, p.b, "trunc"}));
}

void modulo(Node& n) {
  const Pair p = binary_operands(n);
  const bool c = n.flag("fmod");
  n.require(c || is_integer(p.dtype) || n.opset >= 28, "its attribute 'fmod' must be 1 for ", name(p.dtype));
  n.give(n.op(c ? "fmod" : "remainder", {p.a, p.b}));
}

// The result has the base's dtype, whatever the exponent's.
void power(Node& n) {
  Tensor* x = n[0];
  const DType base = n.dtype(0), exponent = n.dtype(1);
  const Operand e = number_or_tensor(n, 1, n.rank(0));
  if (is_real(base) || !is_real(exponent)) return n.give(n.cast(n.op("pow", {x, e}), base));
  const DType wide = size_of(base) > 2 ? DType::f64 : DType::f32;
  n.give(n.cast(n.op("pow", {n.cast(x, wide), n.cast(n[1], wide)}), base));
}

template <OpName name>
void compare(Node& n) {
  const Pair p = binary_operands(n);
  n.give(n.op(name.text, {p.a, p.b}));
}

// Min, Max, Sum and Mean of any number of inputs.
template <OpName name>
void variadic(Node& n) {
  n.require(n.inputs() > 0, "it has no inputs");
  Tensor* all = n[0];
  for (size_t i = 1; i < n.inputs(); i++) all = n.op(name.text, {all, n[i]});
  n.give(all);
}
void mean(Node& n) {
  variadic<"add">(n);
  n.results[0].tensor = n.op("div", {n.results[0].tensor, static_cast<double>(n.inputs())});
}

void where(Node& n) {
  n.require(n.dtype(1) == n.dtype(2), "its inputs are ", name(n.dtype(1)), " and ", name(n.dtype(2)),
            ", they must be of one dtype");
  n.give(n.op("where", {n[0], n[1], n[2]}));
}

void is_infinite(Node& n) {
  const bool below = n.flag("detect_negative", true), above = n.flag("detect_positive", true);
  if (below && above) return n.give(n.op("isinf", {n[0]}));
  if (!below && !above) return n.give(n.op("full_like", {n[0], false, DType::boolean}));
  n.give(n.op(below ? "isneginf" : "isposinf", {n[0]}));
}

void shift(Node& n) {
  const std::string_view direction = n.text("direction", "");
  n.require(direction == "LEFT" || direction == "RIGHT", "its attribute 'direction' is '", direction.substr(0, 40),
            "'");
  n.give(n.op(direction == "LEFT" ? "bitwise_left_shift" : "bitwise_right_shift", {n[0], n[1]}));
}

// Bounds were attributes before opset 11.
void clip(Node& n) {
  if (n.opset < 11)
    return n.give(n.op("clamp", {n[0], n.real("min", -3.402823466e+38), n.real("max", 3.402823466e+38)}));
  Tensor* x = n[0];
  const auto bound = [&](size_t i) { return n.has(i) ? number_or_tensor(n, i, n.rank(0)) : Operand(nullptr); };
  if (!n.has(1) && !n.has(2)) return n.give(x);
  n.give(n.op("clamp", {x, bound(1), bound(2)}));
}

// Integers of fewer than eight bits keep the lowest ones, in a byte.
Tensor* narrowed(Node& n, Tensor* x, const ElementType& to) {
  const int64_t count = int64_t{1} << to.bits;
  x = n.op("bitwise_and", {n.cast(x, DType::i32), count - 1});
  if (is_signed(to.dtype)) x = n.op("where", {n.op("ge", {x, count / 2}), n.op("sub", {x, count}), x});
  return n.cast(x, to.dtype);
}

void cast(Node& n) {
  const auto number = static_cast<int32_t>(n.count("to"));
  const ElementType* to = find_element_type(number);
  n.require(to != nullptr, "its attribute 'to' is ", number, ", which is no dtype");
  if (to->dtype == DType::none) n.refuse("it casts to ", to->name);
  n.give(to->bits < 8 ? narrowed(n, n[0], *to) : n.cast(n[0], to->dtype));
}
void cast_like(Node& n) {
  const ElementType* narrow = narrow_type(n, 1);
  n.give(narrow ? narrowed(n, n[0], *narrow) : n.cast(n[0], n.dtype(1)));
}

constexpr ImportRow kRows[] = {
    {"Abs", 6, kNow, unary<"abs">, host_abs},
    {"Acos", 7, kNow, unary<"acos">},
    {"Acosh", 9, kNow, unary<"acosh">},
    {"Asin", 7, kNow, unary<"asin">},
    {"Asinh", 9, kNow, unary<"asinh">},
    {"Atan", 7, kNow, unary<"atan">},
    {"Atanh", 9, kNow, unary<"atanh">},
    {"BitwiseNot", 18, kNow, unary<"bitwise_not">},
    {"Ceil", 6, kNow, unary<"ceil">, host_ceil},
    {"Cos", 7, kNow, unary<"cos">},
    {"Cosh", 9, kNow, unary<"cosh">},
    {"Erf", 9, kNow, unary<"erf">},
    {"Exp", 6, kNow, unary<"exp">},
    {"Floor", 6, kNow, unary<"floor">, host_floor},
    {"IsInf", 10, kNow, is_infinite},
    {"IsNaN", 9, kNow, unary<"isnan">},
    {"Log", 6, kNow, unary<"log">},
    {"Neg", 6, kNow, unary<"neg">, host_neg},
    {"Not", 1, kNow, unary<"logical_not">, host_not},
    {"Reciprocal", 6, kNow, unary<"reciprocal">, host_reciprocal},
    {"Round", 11, kNow, unary<"round">},
    {"Sign", 9, kNow, unary<"sign">},
    {"Sin", 7, kNow, unary<"sin">},
    {"Sinh", 9, kNow, unary<"sinh">},
    {"Sqrt", 6, kNow, unary<"sqrt">, host_sqrt},
    {"Tan", 7, kNow, unary<"tan">},
    {"Tanh", 6, kNow, unary<"tanh">},
    {"Add", 7, kNow, compare<"add">, host_add},
    {"Sub", 7, kNow, compare<"sub">, host_sub},
    {"Mul", 7, kNow, compare<"mul">, host_mul},
    {"Div", 7, kNow, divide, host_div},
    {"Mod", 10, kNow, modulo, host_mod},
    {"Pow", 7, kNow, power, host_pow},
    {"Min", 6, kNow, variadic<"minimum">, host_min},
    {"Max", 6, kNow, variadic<"maximum">, host_max},
    {"Sum", 6, kNow, variadic<"add">},
    {"Mean", 6, kNow, mean},
    {"Equal", 7, kNow, compare<"eq">, host_equal},
    {"Less", 7, kNow, compare<"lt">, host_less},
    {"LessOrEqual", 12, kNow, compare<"le">, host_less_or_equal},
    {"Greater", 7, kNow, compare<"gt">, host_greater},
    {"GreaterOrEqual", 12, kNow, compare<"ge">, host_greater_or_equal},
    {"And", 7, kNow, binary<"logical_and">, host_and},
    {"Or", 7, kNow, binary<"logical_or">, host_or},
    {"Xor", 7, kNow, binary<"logical_xor">},
    {"BitwiseAnd", 18, kNow, binary<"bitwise_and">},
    {"BitwiseOr", 18, kNow, binary<"bitwise_or">},
    {"BitwiseXor", 18, kNow, binary<"bitwise_xor">},
    {"BitShift", 11, kNow, shift},
    {"Where", 9, kNow, where, host_where},
    {"Clip", 6, kNow, clip},
    {"Cast", 6, kNow, cast, host_cast},
    {"CastLike", 15, kNow, cast_like},
    {"BitCast", 26, kNow, nullptr, nullptr, "there is no op that reads bits as another dtype"},
};

}  // namespace

constinit const ImportTable elementwise_rows = {"", kRows};

}  // namespace thunder::onnx
