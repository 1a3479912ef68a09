// One miss: from a function and the inputs of a call to a cache entry.
#pragma once

#include "cache/recent_programs.h"
#include "jit/record/record.h"
#include "passes/partition.h"

namespace thunder {

// How much time compiling may take: for a program that is kept, or for one that runs once and is not fused.
enum class Effort : uint8_t { full, least };

// Makes the entry of a trace that has no program yet; null: the call needs none. Throws what the function reports.
using RecordEntry = std::function<std::unique_ptr<Entry>()>;

// What a function is compiled with.
struct CompileSetup {
  Ref<Context> context;
  Ref<CompileOptions> options;
  // Of a forward, or of a gradient of it.
  std::shared_ptr<RecentPrograms> recent = nullptr;  // of the function that they belong to; null: its own
  bool is_transformed = false;                       // executors' transforms were applied to its lines
};

// What a miss asks for. Everything outlives the compile.
struct CompileRequest {
  const CompileSetup& setup;
  const Values& in;
  InterruptCheck& check;
  RecordEntry record;
  Effort effort = Effort::full;
  StageRows rows = StageRows::all;  // kernels: of the lines of the entry that is recorded; lines: makes no program
  SizesOfClass of_class = {};       // with `kernels`
  Context& context() const { return *setup.context; }
  const CompileOptions& options() const { return *setup.options; }
};

// The function traced for these inputs. `symbolic`: of the trace that it replays.
RecordEntry recording_of(Context& context, Function& function, const Values& in,
                         const SymbolicInputs* symbolic = nullptr);
// Adds the conditions on integers that a program of a symbolic trace checks at each call.
void add_integer_conditions(const Entry& recorded, const Values& in, Entry& entry);
// The inputs of a segment as leaves in order, and an entry of its trace for them.
Values values_of(const Segment& segment);
RecordEntry recording_of(const Segment& segment, const Values& in);

// The executors that the options name or add, in order of priority.
Executors executors_for(Context& context, const CompileOptions& options);

// Records and compiles. Null where there was nothing to compile. Throws what the function, a pass or an executor
// reports, and when `check` says so; nothing is left behind.
std::unique_ptr<Entry> compile(const CompileRequest& request);
// The joint forward and backward, cut in two by the last row of its own table.
Partition partition_joint(const CompileSetup& setup, JointTrace joint);

}  // namespace thunder
