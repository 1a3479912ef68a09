// Random programs: ops on a few inputs, views and writes among them, made from a seed and run in any scope.
#pragma once

#include "battery/run.h"

namespace thunder::battery {

// Ops of a program that are none of the registry: "read", which needs a value where the function can read it, and
// "grad", d(first operand)/d(second).
inline constexpr std::string_view kRead = "read", kGradient = "grad";

// One operand of a step: an earlier value, a constant, or nothing.
struct Operand {
  enum class Kind { none, value, list, integer, real, flag, dims } kind = Kind::none;
  int64_t i = 0;       // the value's number, an integer or a flag
  double f = 0;
  Ints ints;           // dims, or the numbers of a list of values
};
struct Step {
  std::string op;
  std::vector<Operand> operands;
};

// Inputs are the first values; each step adds one, a read that which it reads. The last input is state: written in place, and no gradient is taken
// by it. The loss is the last value, of rank 0.
struct Program {
  std::vector<TensorSpec> specs;
  std::vector<Step> steps;
  std::vector<size_t> watched;  // values that are returned beside the loss and the gradients

  std::string text() const;
};

Program random_program(uint64_t seed);
// With reads, gradients of what was computed so far by what it was computed from, and so gradients of gradients.
Program random_program_that_reads(uint64_t seed);

// The loss, d(loss)/d(each real input but the state), then the watched values as they are at the end.
std::vector<Tensor*> run_program(const Program& p, Scope& scope, std::span<Tensor* const> inputs);
Tensors program_inputs(const Program& p, uint64_t seed);

}  // namespace thunder::battery
