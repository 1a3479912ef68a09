// Traces functions inside a scope for transforms, and adds the transformed lines to that scope.
#pragma once

#include "ir/trace.h"
#include "tracer/function.h"

namespace thunder {

// A leaf that the function gets as a proxy of this type; all others it gets as they are.
struct InnerArgument {
  size_t leaf;
  TensorType type;
};

struct Inner {
  Trace trace;  // gradients that the function asked for are expanded; its first inputs are the arguments
  std::vector<Ref<Tensor>> captured;      // by input of the trace: the tensor around the function; null for arguments
  Ref<Values> results;                    // as the function gave them
  std::vector<size_t> outputs;            // by output of the trace: the leaf of the results
  size_t arguments = 0;
  int64_t draws = 0;  // how often the function drew
};

// Throws errors of the function.
Inner trace_inside(Scope& scope, Function& f, const Values& in, std::span<const InnerArgument> arguments);

// For each input of the trace an argument, the scope's value for a captured tensor, or null for the random state.
std::vector<Tensor*> inputs_inside(Scope& scope, const Inner& inner, const Trace& trace,
                                   std::span<Tensor* const> arguments);
// Lines are recorded again with the sizes seen in place of symbols, which are then guarded.
void note_symbols(std::span<const Node* const> lines);
// Cleans the rewritten trace of `inner` up and runs or records it in the scope; its outputs for these arguments.
std::vector<Tensor*> replay_inside(Scope& scope, const Inner& inner, Trace trace, std::span<Tensor* const> arguments);

// The leaves at `paths` (comma-separated, each of a leaf or a group; empty: all) that are tensors of reals. Throws,
// naming `who`.
std::vector<size_t> real_leaves(const std::string& who, const Values& in, const std::string& paths);

// Splits off the last entry, a flat list of tensors. Throws, naming `who` and `what` the list is.
std::vector<Tensor*> take_last_list(const std::string& who, std::string_view what, const Values& in, Values& rest);

}  // namespace thunder
