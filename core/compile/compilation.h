// One compile: what it is given, and the state that each of its stages takes and gives.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/interrupts.h"
#include "executors/executor.h"
#include "passes/custom.h"
#include "passes/partition.h"
#include "passes/pass.h"
#include "program/builder.h"

namespace thunder {

// The time of one stage.
struct StageTime {
  std::string name;
  double milliseconds = 0;
  bool changed = false;  // whether it made another trace
  bool makes_kernels = false;  // lower, or a stage behind it; the others work on lines
};

// The rows of the table that a compile runs: all, those that work on lines, or `lower` and those behind it.
enum class StageRows : uint8_t { all, lines, kernels };

struct Compilation {
  // Given.
  PassContext pass;
  const Executors& executors;
  ScopeEnvironment environment;
  InterruptCheck& check;              // between stages
  CustomPasses custom = {};           // of the caller, in the order added
  bool is_transformed = false;        // executors' transforms were applied before
  // Needed for a program; a joint compilation needs none of them.
  Devices* devices = nullptr;
  ThreadPool* threads = nullptr;
  InputLayouts inputs = {};
  std::vector<void*> fixed = {};    // the addresses of the last inputs, whose memory is the same at every call
  StageRows rows = StageRows::all;
  SizesOfClass of_class = {};       // with `kernels`
  std::shared_ptr<const DeferredTraces> earlier = {};  // with `kernels`: of the stages before

  // Made. The recorded trace, then one for each stage that changed it.
  std::vector<Trace> traces = {};
  std::vector<StageTime> times = {};
  std::optional<JointTrace> joint = {};      // given: to be partitioned; its trace is traces.back()
  std::optional<Partition> partition = {};
  RegionStates states = {};  // what executors keep of their regions until they prepare them
  std::optional<ProgramBuilder> builder = {};  // from `lower` to `link`
  std::unique_ptr<Program> program = {};

  const Trace& trace() const { return traces.back(); }
  const CompileSettings& settings() const { return pass.settings; }
  const Op& region() const { return pass.registry.get("region"); }
  // Takes the trace that a stage made; without one, the stage changed nothing.
  void append_trace(std::optional<Trace> made);
};

}  // namespace thunder
