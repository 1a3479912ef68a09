// The prims that loop nests are made of: the one place where fusion knows ops by name.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "ir/trace.h"

namespace thunder::fusion {

enum class Fn : uint8_t {
  // what a nest reads
  load, position,
  // elementwise
  abs, neg, sign, floor, logical_not, exp, log, sqrt, rsqrt, reciprocal, sin, cos, tanh, erf, convert,
  add, sub, mul, div, fmod, pow, maximum, minimum, eq, ne, lt, le, gt, ge, where,
  // random: in[0] the element's number; loads of the state's words are in[1] and in[2]
  uniform,
  // a source at an index: in[0] at in[1] along an axis
  pick,
  // over the inner axes
  sum, amax, amin,
};

// What becomes of a prim.
enum class Role : uint8_t { elementwise, reduction, view, pick, create };
// Which element types a function takes.
enum class Takes : uint8_t { all, reals };

struct PrimRow {
  std::string_view prim;
  Fn fn;
  Role role;
  Takes takes;
  uint8_t cost;  // vector instructions an element, roughly: what recomputing weighs
};

std::span<const PrimRow> prim_rows();
const PrimRow* find_prim(const Op& op);
std::string_view name(Fn fn);
constexpr bool is_reduction(Fn fn) { return fn >= Fn::sum && fn <= Fn::amin; }
uint8_t cost(Fn fn);

}  // namespace thunder::fusion
