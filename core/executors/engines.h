// Engines of others that run what a program's executors are given. Each is opened when its executor is first named.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/machine.h"
#include "executors/executor.h"

namespace thunder {

struct EngineRow {
  std::string_view executor;  // its name
  // The machine must outlive what is made, and says how many threads it may use. Opens nothing.
  ExecutorDesc (*make)(const Machine& machine);
  // Opens the engine. False: it is not here. `found` gets its version and file, or every name that was looked for.
  bool (*open)(std::string& found);
};
std::span<const EngineRow> engines();

// Null: no executor of this name runs on an engine.
const EngineRow* find_engine(std::string_view executor);

}  // namespace thunder
