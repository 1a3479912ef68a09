// The prims that loop nests are made of: the one place where fusion knows ops by name.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ir/trace.h"

namespace thunder::fusion {

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

// What becomes of a prim.
enum class Role : uint8_t { elementwise, reduction, view, pick, join, scan, create };
// Which element types a function takes.
enum class Takes : uint8_t { all, reals };

struct PrimRow {
  std::string_view prim;
  Fn fn;
  Role role;
  Takes takes;
  uint8_t cost;  // vector instructions an element, roughly: what recomputing weighs
};

// The values that a line reads, in the order of its arguments.
std::vector<ValueId> operands(const Node& line);
// The dims that a reduction reduces, by number: a list of them, of which none means all, or one.
std::vector<size_t> reduced_dims(const Node& line, size_t rank);

// Where the part that a line cuts out of its operand, or an operand of a join, begins in the whole: by dim.
std::vector<int64_t> starts(const Node& line, const Store& store, size_t operand);

std::span<const PrimRow> prim_rows();
const PrimRow* find_prim(const Op& op);
std::string_view name(Fn fn);
constexpr bool is_reduction(Fn fn) { return fn >= Fn::sum && fn <= Fn::argmax; }
uint8_t cost(Fn fn);

}  // namespace thunder::fusion
