// Replays a trace: its nodes are run or recorded again in a scope, which makes a trace that was parsed or loaded a
// function like any other.
#pragma once

#include <functional>

#include "ir/trace.h"
#include "tracer/function.h"
#include "tracer/trace_inputs.h"

namespace thunder {

// The inputs of a call of a symbolic trace other than tensors, and which of them its nodes depend on.
struct ReplayCall {
  std::vector<IntegerValue> integers;  // symbols that are no tensor's size
  // Formulas of them, and a live number for each, which nodes get that take the formula beside tensors.
  std::span<const Dim> formulas;
  std::vector<Tensor*> numbers;
  // For each value of the trace the root of its memory when it was recorded; empty: irrelevant.
  std::span<const ValueId> roots;
  int64_t draws = 0;  // at least so many were made, though fewer lines that draw may be left
  // What symbols that are integers stand for, where they are symbols of the scope, too.
  std::vector<std::pair<int64_t, Dim>> symbols = {};
  // Output: the symbols among the integers on whose value some node depends.
  std::vector<int64_t> read;
};

// Whether lines that are recorded again in the scope keep the symbols of the trace, which are the scope's own. Those of
// another trace are numbers, but where lines are kept (DimReads::Of::lines): then they are what the inputs' sizes are.
bool knows_symbols(Scope& scope, const Trace& trace);

// Calls f(formula) for each integer argument that nodes take beside tensors, which may be a live number.
void for_each_number(const Trace& trace, const std::function<void(Dim)>& f);

// The outputs of the trace for `inputs`, by input of the trace; null for the random state, which is the scope's. Lines
// are derived anew from their ops; random numbers are drawn as the scope draws them; written inputs are written last.
// Errors are the scope's, and are thrown.
std::vector<Tensor*> replay(Scope& scope, const Trace& trace, std::span<Tensor* const> inputs,
                            ReplayCall* call = nullptr);

// A function of one leaf for each i[k], in order, which returns the outputs one after the other. `captured`: by input
// of the trace the tensor of each p[k] and c[k], null for arguments and the random state. Throws when one is missing or
// another's.
Ref<Function> function_of_trace(Trace trace, std::vector<Ref<Tensor>> captured);

}  // namespace thunder
