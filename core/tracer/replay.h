// The lines of a trace, run or recorded again in a scope: what makes a trace that was read from a text, or saved, a
// function like any other.
#pragma once

#include <optional>

#include "ir/trace.h"
#include "tracer/function.h"

namespace thunder {

// The input that is the context's random state: lines draw from it, or count a call on it, and it is a constant.
std::optional<size_t> random_input(const Trace& trace);

// What the symbols of a trace stand for where its arguments have these types (null: no argument). Throws, naming the input,
// when a type is not that of the trace.
std::vector<int64_t> symbol_values(const Trace& trace, std::span<const TensorType* const> types);

// Throws when the trace has a symbol that is the size of no argument: nothing would say what it stands for.
void require_bound_symbols(const Trace& trace);

// The outputs of the trace for `inputs`, by input of the trace; null for the random state, which is the scope's. Lines are
// derived anew from their ops; random numbers are drawn as the scope draws them; written inputs are written last. Errors
// are the scope's, and are thrown.
std::vector<Tensor*> replay(Scope& scope, const Trace& trace, std::span<Tensor* const> inputs);

// A function of one leaf for each i[k], in order, which returns the outputs one after the other. `captured`: by input of the
// trace the tensor of each p[k] and c[k], null for arguments and the random state. Throws when one is missing or another's.
Ref<Function> function_of_trace(Trace trace, std::vector<Ref<Tensor>> captured);

}  // namespace thunder
