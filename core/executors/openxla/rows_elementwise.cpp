// Prims that work element by element.
#include <numbers>

#include "base/text.h"
#include "executors/openxla/rows.h"

namespace thunder::openxla {
namespace {

// One op with the operands of the prim.
void unary(Line& l, std::string_view op) {
  l.add_result(l.unary(op, l.input(0)));
}
void binary(Line& l, std::string_view op) {
  l.add_result(l.binary(op, l.input(0), l.input(1)));
}
void compared(Line& l, std::string_view direction) {
  l.add_result(l.compare(direction, l.input(0), l.input(1)));
}
bool real(const Line& l) {
  return is_real(l.type(0).dtype);
}

void itself(Line& l) {
  l.add_result(l.input(0));
}
void set_data(Line& l) {
  l.add_result(l.input(1));
}
void abs(Line& l) {
  l.add_result(is_signed(l.type(0).dtype) ? l.unary("stablehlo.abs", l.input(0)) : l.input(0));
}
void floor(Line& l) {
  l.add_result(real(l) ? l.unary("stablehlo.floor", l.input(0)) : l.input(0));
}
// 0 for NaN.
void sign(Line& l) {
  const Val x = l.input(0), zero = l.constant_like(int64_t{0}, x);
  const Val up = l.convert(l.compare("GT", x, zero), l.type(0).dtype);
  const Val down = l.convert(l.compare("LT", x, zero), l.type(0).dtype);
  l.add_result(is_signed(l.type(0).dtype) ? l.sub(up, down) : up);
}
void signbit(Line& l) {
  const Val x = l.input(0);
  const size_t size = size_of(l.type(0).dtype);
  const DType bits = size == 2 ? DType::i16 : size == 4 ? DType::i32 : DType::i64;
  const Val read = l.module.add_op("stablehlo.bitcast_convert", {{x}}, with_dtype(l.module.type(x), bits));
  l.add_result(l.compare("LT", read, l.constant_like(int64_t{0}, read)));
}
void logical_not(Line& l) {
  const Val x = l.input(0);
  l.add_result(l.compare("EQ", x, l.constant_like(int64_t{0}, x)));
}
void reciprocal(Line& l) {
  const Val x = l.input(0);
  l.add_result(l.div(l.constant_like(1.0, x), x));
}
void log_by(Line& l, double base) {
  const Val made = l.unary("stablehlo.log", l.input(0));
  l.add_result(l.div(made, l.constant_like(base, made)));
}
void log2(Line& l) {
  log_by(l, std::numbers::ln2);
}
void log10(Line& l) {
  log_by(l, std::numbers::ln10);
}

// Values out of range wrap around, by way of i64.
void convert(Line& l) {
  const DType from = l.type(0).dtype, to = l.result().dtype;
  const bool narrows = is_real(from) && is_integer(to) && size_of(to) < 8;
  const Val x = l.input(0);
  l.add_result(l.convert(narrows ? l.convert(x, DType::i64) : x, to));
}
void full(Line& l) {
  l.add_result(l.operand(1, l.result()));
}
void where(Line& l) {
  l.add_result(l.select(l.input(0), l.input(1), l.input(2)));
}
void pow(Line& l) {
  if (!real(l))
    fail(Code::unimplemented, "powers of integers are another op's in StableHLO where exponents are negative");
  binary(l, "stablehlo.power");
}
void right_shift(Line& l) {
  binary(l, is_signed(l.type(0).dtype) ? "stablehlo.shift_right_arithmetic" : "stablehlo.shift_right_logical");
}
void left_shift(Line& l) {
  binary(l, "stablehlo.shift_left");
}

void inverse(Line& l, double y_of_x) {
  const Val x = l.input(0), one = l.constant_like(1.0, x);
  const Val other = l.unary("stablehlo.sqrt", l.mul(l.sub(one, x), l.add(one, x)));
  l.add_result(y_of_x > 0 ? l.binary("stablehlo.atan2", x, other) : l.binary("stablehlo.atan2", other, x));
}
void asin(Line& l) {
  inverse(l, 1);
}
void acos(Line& l) {
  inverse(l, -1);
}
void atan(Line& l) {
  const Val x = l.input(0);
  l.add_result(l.binary("stablehlo.atan2", x, l.constant_like(1.0, x)));
}

}  // namespace

#define THUNDER_UNARY(prim, op) const Row prim##_row = {op, [](Line& l) { unary(l, op); }}
#define THUNDER_BINARY(prim, op) const Row prim##_row = {op, [](Line& l) { binary(l, op); }}
#define THUNDER_COMPARED(prim, direction) \
  const Row prim##_row = {"stablehlo.compare", [](Line& l) { compared(l, direction); }}

const Row abs_row = {"stablehlo.abs", abs};
const Row acos_row = {"stablehlo.atan2, sqrt", acos};
THUNDER_BINARY(add, "stablehlo.add");
const Row alias_row = {"none", itself};
const Row asin_row = {"stablehlo.atan2, sqrt", asin};
const Row atan_row = {"stablehlo.atan2", atan};
THUNDER_BINARY(atan2, "stablehlo.atan2");
THUNDER_BINARY(bitwise_and, "stablehlo.and");
const Row bitwise_left_shift_row = {"stablehlo.shift_left", left_shift};
THUNDER_BINARY(bitwise_or, "stablehlo.or");
const Row bitwise_right_shift_row = {"stablehlo.shift_right_arithmetic, shift_right_logical", right_shift};
THUNDER_BINARY(bitwise_xor, "stablehlo.xor");
const Row clone_row = {"none", itself};
const Row contiguous_row = {"none", itself};
const Row convert_row = {"stablehlo.convert", convert};
THUNDER_UNARY(cos, "stablehlo.cosine");
const Row detach_row = {"none", itself};
THUNDER_BINARY(div, "stablehlo.divide");
THUNDER_COMPARED(eq, "EQ");
THUNDER_UNARY(erf, "chlo.erf");
THUNDER_UNARY(exp, "stablehlo.exponential");
const Row floor_row = {"stablehlo.floor", floor};
THUNDER_BINARY(fmod, "stablehlo.remainder");
const Row full_row = {"stablehlo.constant, broadcast_in_dim", full};
THUNDER_COMPARED(ge, "GE");
THUNDER_COMPARED(gt, "GT");
THUNDER_COMPARED(le, "LE");
THUNDER_UNARY(log, "stablehlo.log");
const Row log10_row = {"stablehlo.log, divide", log10};
const Row log2_row = {"stablehlo.log, divide", log2};
const Row logical_not_row = {"stablehlo.compare", logical_not};
THUNDER_COMPARED(lt, "LT");
THUNDER_BINARY(maximum, "stablehlo.maximum");
THUNDER_BINARY(minimum, "stablehlo.minimum");
THUNDER_BINARY(mul, "stablehlo.multiply");
THUNDER_COMPARED(ne, "NE");
THUNDER_UNARY(neg, "stablehlo.negate");
const Row pow_row = {"stablehlo.power", pow};
const Row reciprocal_row = {"stablehlo.divide", reciprocal};
THUNDER_UNARY(rsqrt, "stablehlo.rsqrt");
const Row set_data_row = {"none", set_data};
const Row sign_row = {"stablehlo.compare, subtract", sign};
const Row signbit_row = {"stablehlo.bitcast_convert, compare", signbit};
THUNDER_UNARY(sin, "stablehlo.sine");
THUNDER_UNARY(sqrt, "stablehlo.sqrt");
THUNDER_BINARY(sub, "stablehlo.subtract");
THUNDER_UNARY(tanh, "stablehlo.tanh");
const Row to_device_row = {"none", itself};
const Row where_row = {"stablehlo.select", where};

}  // namespace thunder::openxla
