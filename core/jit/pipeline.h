// The order of the passes, as data.
#pragma once

#include "base/interrupts.h"
#include "executors/claim.h"
#include "passes/custom.h"

namespace thunder {

// What a stage of the pipeline may use.
struct PipelineContext {
  PassContext pass;
  const Executors& executors;
  ScopeEnvironment environment;
  InterruptCheck& check;              // between stages
  CustomPasses custom;                // of the caller, in the order added
  std::vector<std::string> disabled;  // optional passes to leave out, by name
  bool verify = false;                // check every stage's trace
  RegionStates states = {};           // of what claim made regions, for prepare
};

struct PipelineRow {
  std::string_view name;
  std::optional<Trace> (*run)(const Trace&, PipelineContext&);
  bool required;         // false: may be switched off
  std::string_view why;  // why it stands where it stands
};

std::span<const PipelineRow> pipeline();

// With `verify`: throws unless the stage is a sound trace.
void check_stage(const Trace& stage, const PipelineContext& context);

// Throws at a row's name that is required: `who` cannot leave it out. Other names may be those of callers' passes.
void check_optional(std::span<const std::string> passes, std::string_view who);

// Throws when a pass of the caller's has a taken name or stands beside one that is not there.
void check_places(const CustomPasses& custom);

// Runs the rows on traces.back(), those before `before` ("": all), and appends each stage, timed. Throws at an unknown
// or required name in `disabled`.
void run_pipeline(std::vector<Trace>& traces, PipelineContext& context, std::string_view before = "");

}  // namespace thunder
