// One miss: from a function and the inputs of a call to a cache entry.
#pragma once

#include "jit/call.h"
#include "tracer/segments.h"

namespace thunder {

// How much time compiling may take: for a program that is kept, or for one that runs once and is not fused.
enum class Effort : uint8_t { full, least };

// Which sizes of the inputs stand for any: by leaf and dim. Sizes that are equal stand for one another. An integer has
// one place, for itself.
using DimMask = std::vector<std::vector<bool>>;

class DynamicShapes;

// Those that the options name or add, in order of priority.
Executors executors_for(Context& context, const CompileOptions& options);

// What a program has of a trace with symbols beside the tensors.
struct SymbolicInputs {
  std::shared_ptr<const Entry> recorded;
  std::span<const Dim> formulas;  // of integers that may be live
};

// The function traced for these inputs, and no program yet. Throws what it reports.
std::unique_ptr<Entry> record(Context& context, Function& function, const Values& in,
                              const SymbolicInputs* symbolic = nullptr);

// The function traced with symbols where the mask says so, and no program yet. Sizes that the function looked at as
// numbers are taken out of the mask, and it is traced again; what it compared is among the entry's conditions, or
// `as_numbers` counts as looked at. Null, when none is left. Throws what the function or an op reports, which may be no
// error with plain sizes.
std::unique_ptr<Entry> record_symbolic(Context& context, Function& function, const Values& in,
                                       const DynamicShapes& shapes, DimMask& mask,
                                       bool as_numbers = false);

// The function run once in a scope that can be cut. Where it read a value, or has done so before (`broken`), `results`
// are what it gave, and there is no entry; else the entry is as that of `record`. Throws what it, or a segment,
// reports.
struct SegmentedResults {
  std::vector<Leaf> leaves;
  std::string structure;
};
std::unique_ptr<Entry> record_segments(Context& context, Function& function, const Values& in, SegmentRunner& runner,
                                       bool broken, SegmentedResults& results);

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
