// Makes claimed nodes ready to run.
#pragma once

#include <optional>

#include "compile/claim.h"
#include "program/program.h"

namespace thunder {

struct PreparedTrace {
  std::optional<Trace> trace;  // the claimed trace as executors accepted it; empty: no executor declined anything
  std::unique_ptr<Preparer> preparer;
};

// Asks the executor that claimed each node to prepare it. A node that it declines goes to the next executor that claims
// it too; if there is none, the nodes of its body are claimed anew. Throws when no executor is left or when preparing
// fails, naming executor, op and the user's line, and when `check` reports an interrupt. Requires: a claimed trace.
// `states`: what claim() kept of its regions.
PreparedTrace prepare(const Trace& claimed, Executors executors, const Op& region, RegionStates& states,
                      InterruptCheck& check);

}  // namespace thunder
