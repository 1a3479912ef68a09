// The functions that a loop nest is made of.
#pragma once

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

std::string_view name(Fn fn);  // as a nest prints it
// Vector instructions an element, roughly: what recomputing weighs.
uint8_t cost(Fn fn);
constexpr bool is_reduction(Fn fn) { return fn >= Fn::sum && fn <= Fn::argmax; }

}  // namespace thunder::loops
