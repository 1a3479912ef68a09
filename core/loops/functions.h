// The functions that a loop nest is made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace thunder::loops {

enum class Fn : uint8_t {
  // what a nest reads
  load, position, number,
  // elementwise
  abs, neg, sign, floor, logical_not, exp, log, sqrt, rsqrt, reciprocal, sin, cos, tanh, erf, convert,
  add, sub, mul, div, fmod, pow, maximum, minimum, eq, ne, lt, le, gt, ge, where,
  // random: in[0] the element's number; loads of the state's words are in[1] and in[2]
  uniform,
  // a source at an index: in[0] at in[1] along an axis
  pick,
  // in[0] where the index of an axis is below a bound, else in[1]
  choose,
  // the sum of in[0] so far along the one inner axis
  cumsum,
  // over the inner axes; argmax: in[0] by its place in[1] along the dim, of equal ones the first
  sum, amax, amin, argmax,
};
constexpr size_t kFunctions = static_cast<size_t>(Fn::argmax) + 1;

std::string_view name(Fn fn);  // as a nest prints it
// Vector instructions an element, roughly: what recomputing weighs.
uint8_t cost(Fn fn);

// What an expression of a function is made of.
enum class Form : uint8_t { load, position, number, elementwise, uniform, pick, choose, scan, reduction };

// No default, here and wherever code is made: a new function without a case does not compile.
constexpr Form form_of(Fn fn) {
  switch (fn) {
    case Fn::load: return Form::load;
    case Fn::position: return Form::position;
    case Fn::number: return Form::number;
    case Fn::abs: case Fn::neg: case Fn::sign: case Fn::floor: case Fn::logical_not:
    case Fn::exp: case Fn::log: case Fn::sqrt: case Fn::rsqrt: case Fn::reciprocal:
    case Fn::sin: case Fn::cos: case Fn::tanh: case Fn::erf: case Fn::convert:
    case Fn::add: case Fn::sub: case Fn::mul: case Fn::div: case Fn::fmod: case Fn::pow:
    case Fn::maximum: case Fn::minimum:
    case Fn::eq: case Fn::ne: case Fn::lt: case Fn::le: case Fn::gt: case Fn::ge:
    case Fn::where: return Form::elementwise;
    case Fn::uniform: return Form::uniform;
    case Fn::pick: return Form::pick;
    case Fn::choose: return Form::choose;
    case Fn::cumsum: return Form::scan;
    case Fn::sum: case Fn::amax: case Fn::amin: case Fn::argmax: return Form::reduction;
  }
  return Form::load;
}
constexpr bool is_reduction(Fn fn) { return form_of(fn) == Form::reduction; }

}  // namespace thunder::loops
