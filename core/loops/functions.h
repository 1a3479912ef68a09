// The functions that a loop nest is made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace thunder::loops {

enum class Fn : uint8_t {
  // loads and constants
  load, iota, number,
  // elementwise
  abs, neg, sign, signbit, floor, logical_not, exp, log, sqrt, rsqrt, reciprocal, sin, cos, tanh, erf, convert,
  add, sub, mul, div, fmod, pow, maximum, minimum, eq, ne, lt, le, gt, ge, where,
  // random numbers: in[0] is the element's index; in[1] and in[2] are loads of the state's words
  uniform,
  // in[0] at index in[1] along an axis
  gather,
  // piecewise, by the index of an axis: in[0] where it is below a bound, otherwise in[1]
  select,
  // a scan: the sum of in[0] up to this index of the one inner axis
  cumsum,
  // reductions over the inner axes; argmax: the index in[1] of the maximum of in[0], the first one of equals
  sum, amax, amin, argmax,
};
constexpr size_t kFunctions = static_cast<size_t>(Fn::argmax) + 1;

std::string_view name(Fn fn);  // as a nest prints it
// Vector instructions for an element, roughly: the cost of recomputing it.
uint8_t cost(Fn fn);

// The kind of an expression, by its function, which determines its operands.
enum class ExprKind : uint8_t { load, iota, number, elementwise, uniform, gather, select, scan, reduction };

// Switches over functions have no default, here and in emitters: a new function without a case does not compile.
constexpr ExprKind kind_of(Fn fn) {
  switch (fn) {
    case Fn::load: return ExprKind::load;
    case Fn::iota: return ExprKind::iota;
    case Fn::number: return ExprKind::number;
    case Fn::abs: case Fn::neg: case Fn::sign: case Fn::signbit: case Fn::floor: case Fn::logical_not:
    case Fn::exp: case Fn::log: case Fn::sqrt: case Fn::rsqrt: case Fn::reciprocal:
    case Fn::sin: case Fn::cos: case Fn::tanh: case Fn::erf: case Fn::convert:
    case Fn::add: case Fn::sub: case Fn::mul: case Fn::div: case Fn::fmod: case Fn::pow:
    case Fn::maximum: case Fn::minimum:
    case Fn::eq: case Fn::ne: case Fn::lt: case Fn::le: case Fn::gt: case Fn::ge:
    case Fn::where: return ExprKind::elementwise;
    case Fn::uniform: return ExprKind::uniform;
    case Fn::gather: return ExprKind::gather;
    case Fn::select: return ExprKind::select;
    case Fn::cumsum: return ExprKind::scan;
    case Fn::sum: case Fn::amax: case Fn::amin: case Fn::argmax: return ExprKind::reduction;
  }
  return ExprKind::load;
}
constexpr bool is_reduction(Fn fn) { return kind_of(fn) == ExprKind::reduction; }

}  // namespace thunder::loops
