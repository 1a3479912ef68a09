// Engines of others that run what a program's executors are given. Each is opened when its executor is first named.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/machine.h"
#include "executors/executor.h"
#include "program/kernel.h"

namespace thunder {

struct EngineRow {
  std::string_view executor;  // its name
  // The machine must outlive what is made, and says how many threads it may use. Opens nothing.
  ExecutorDesc (*make)(const Machine& machine);
  // Opens the engine, of this file if that is not "", for the rest of the process. False: it is not here. `found` gets
  // its version and file, or every name that was looked for.
  bool (*open)(std::string_view file, std::string& found);
};
std::span<const EngineRow> engines();

// What an engine may be asked for: all on the CPU, of known sizes, none of them 0, and of no op that may refuse what it
// is given. Engines clamp an index that is out of range, or take it from the end, and divide by zero as they like.
bool suits_engine(const NodeView& view);

// Those that there are, one of each folder.
EngineRow onnxrt_engine();
EngineRow openxla_engine();
EngineRow tvm_engine();

// As ExecutorDesc::claim_region: one region of all that an engine claimed. Views alone are free as they are.
bool claims_all(std::span<const Node* const> nodes, const Store&, uint8_t* taken, RegionState&, void*);

// The arguments of a line, without absent optional tensors.
SmallVector<Buffer, 8> given_inputs(const Launch& launch);

// Null: no executor of this name runs on an engine.
const EngineRow* find_engine(std::string_view executor);

}  // namespace thunder
