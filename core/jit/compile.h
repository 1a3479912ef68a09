// One miss: from a function and the inputs of a call to a cache entry.
#pragma once

#include "jit/call.h"

namespace thunder {

// How much compiling is worth: a program that is kept, or one that runs once and asks no executor that fuses.
enum class Effort : uint8_t { full, least };

// Which sizes of the inputs stand for any: by leaf and dim. Sizes that are equal stand for one another. An integer has one place, for
// itself.
using DimMask = std::vector<std::vector<bool>>;

// The function traced for these inputs, and no program yet. Throws what it reports.
std::unique_ptr<Entry> record(Context& context, Function& function, const Values& in);

// The function traced with symbols where the mask says so, and no program yet. Sizes that the function looked at as numbers are
// taken out of the mask, and it is traced again; what it compared is among the entry's conditions, or `as_numbers` counts as looked
// at. Null, when none is left. Throws what the function or an op reports, which may be no error with plain sizes.
std::unique_ptr<Entry> record_symbolic(Context& context, Function& function, const Values& in, DimMask& mask, bool as_numbers = false);

// What a program has of a trace with symbols beside the tensors.
struct SymbolicInputs {
  std::shared_ptr<const Entry> recorded;
  std::span<const Dim> formulas;  // of integers that may be live
};

// Throws what the function, a pass or an executor reports, and when `check` says so; nothing is left behind. `symbolic`: of the trace
// that the function replays.
std::unique_ptr<Entry> compile_entry(Context& context, Function& function, const CompileOptions& options, const Values& in, Effort effort,
                                     InterruptCheck& check, const SymbolicInputs* symbolic = nullptr);

}  // namespace thunder
