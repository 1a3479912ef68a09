// From claimed lines to steps that run.
#pragma once

#include <optional>

#include "executors/claim.h"
#include "program/program.h"

namespace thunder {

struct PreparedTrace {
  std::optional<Trace> trace;  // what was claimed as executors then took it; empty: they declined nothing
  std::unique_ptr<Preparer> preparer;
};

// Asks the executor that claimed each line. What it declines goes to the executors after it: to one that claims the
// line too, else the lines inside it are claimed anew. Throws when nobody is left or when preparing fails, naming
// executor, op and the user's line, and when `check` says so between two lines. Requires: a claimed trace.
PreparedTrace prepare(const Trace& claimed, Executors executors, const Op& region, InterruptCheck& check);

}  // namespace thunder
