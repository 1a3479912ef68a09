// One miss: from a function and the inputs of a call to a cache entry.
#pragma once

#include "jit/record.h"

namespace thunder {

// How much time compiling may take: for a program that is kept, or for one that runs once and is not fused.
enum class Effort : uint8_t { full, least };

// The executors that the options name or add, in order of priority.
Executors executors_for(Context& context, const CompileOptions& options);

// A program of what was recorded. Throws what a pass or an executor reports, and when `check` says so.
void compile_recorded(Context& context, const CompileOptions& options, const Values& in, Effort effort,
                      InterruptCheck& check, Entry& entry);

// The program of a segment; its leaves are the segment's inputs in order.
std::unique_ptr<Entry> compile_segment(Context& context, const CompileOptions& options, const Segment& segment,
                                       Effort effort, InterruptCheck& check);

// Throws what the function, a pass or an executor reports, and when `check` says so; nothing is left behind.
// `symbolic`: of the trace that the function replays.
std::unique_ptr<Entry> compile_entry(Context& context, Function& function, const CompileOptions& options,
                                     const Values& in, Effort effort, InterruptCheck& check,
                                     const SymbolicInputs* symbolic = nullptr);

}  // namespace thunder
