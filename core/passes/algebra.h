// Algebraic simplification of prims by a table of rewrite rules.
#pragma once

#include "passes/pattern.h"

namespace thunder {

// For which element types both sides of a rule have the same bits, also for NaN, infinities and -0.0. Any NaN counts as
// equal to any other.
enum class Exact : uint8_t {
  always,
  reals,     // on reals; it does not hold for integers and booleans
  integers,  // on integers and booleans; on reals only with fast math
  never,     // on reals with fast math; it does not hold for integers and booleans
};

struct AlgebraRow {
  std::string_view rule;  // names are prims
  Exact exact;
};
std::span<const AlgebraRow> algebra_rules();

// Applies each rule where it is exact; with context.fast_math wherever it holds.
std::optional<Trace> algebra(const Trace& trace, PassContext& context);

}  // namespace thunder
