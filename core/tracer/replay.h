// The lines of a trace, run or recorded again in a scope: what makes a trace that was read from a text, or saved, a
// function like any other.
#pragma once

#include <functional>

#include "ir/trace.h"
#include "tracer/function.h"
#include "tracer/trace_inputs.h"

namespace thunder {

// What a call says of a trace with symbols beside its tensors, and what its lines took of that.
struct ReplayCall {
  struct Integer {
    int64_t symbol, value;
  };
  std::vector<Integer> integers;  // symbols that are the size of nothing
  // Formulas of them, and a live number for each: where a line takes one beside tensors it gets that.
  std::span<const Dim> formulas;
  std::vector<Tensor*> numbers;
  // By value of the trace the one in whose memory it lay when that was recorded; empty: it does not matter.
  std::span<const ValueId> roots;
  // Filled: the symbols among the integers whose value a line depends on.
  std::vector<int64_t> read;
};

// Calls f(formula) for each integer that lines take beside tensors, where it may be live.
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
