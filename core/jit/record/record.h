// Records a function: for the inputs of a call, with symbols, or a segment at a time.
#pragma once

#include "ir/dim_reads.h"
#include "jit/context/context.h"
#include "jit/record/input_symbols.h"
#include "tracer/segments.h"

namespace thunder {

// Traces the function for these inputs; the entry has no program yet. Throws the error that the function reports.
std::unique_ptr<Entry> record(Context& context, Function& function, const Values& in,
                              const SymbolicInputs* symbolic = nullptr);

// The function traced with symbols where the mask says so, and no program yet. Sizes that the function looked at as
// numbers are taken out of the mask, and it is traced again; what it compared is among the entry's conditions. `of`:
// what counts as looked at. Null, when none is left. Throws what the function or an op reports, which may be no
// error with plain sizes.
std::unique_ptr<Entry> record_symbolic(Context& context, Function& function, const Values& in,
                                       const DynamicShapes& shapes, DimMask& mask,
                                       DimReads::Of of = DimReads::Of::function);

// A trace that was recorded with symbols, traced once more for lines that are kept, with the symbols that are kept and
// a live number for each formula. What lines look at is noted by the caller's DimReads.
std::unique_ptr<Entry> record_kept(Context& context, Function& function, const Values& in,
                                   const SymbolicInputs& symbolic, const KeptSymbols& symbols);

// The function run once in a scope that can be cut. Where it read a value, or has done so before (`broken`), `results`
// are what it gave, and there is no entry; else the entry is as that of `record`. Throws what it, or a segment,
// reports.
struct SegmentedResults {
  std::vector<Leaf> leaves;
  std::string structure;
};
std::unique_ptr<Entry> record_segments(Context& context, Function& function, const Values& in, SegmentRunner& runner,
                                       bool broken, SegmentedResults& results);

// The part of a call's inputs that a key compares.
EntryInputs describe_inputs(const Values& in);

}  // namespace thunder
