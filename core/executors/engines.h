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
  // The machine must outlive the executor, and says how many threads it may use. Does not open the engine's library.
  ExecutorDesc (*make)(const Machine& machine);
  // Opens the engine, of this file if that is not "", for the rest of the process. False: it is not here. `found` gets
  // its version and file, or every name that was looked for.
  bool (*open)(std::string_view file, std::string& found);
};
std::span<const EngineRow> engines();

// Whether an engine may run the node: all tensors are on the CPU, of known sizes, none of them 0, and the op refuses no
// data. Engines clamp an index that is out of range, or count it from the end, and divide by zero without an error.
bool suits_engine(const NodeView& view);

// All engines, one for each folder.
EngineRow onnxrt_engine();
EngineRow openxla_engine();
EngineRow tvm_engine();

// Like ExecutorDesc::claim_region: one region of all nodes that an engine claimed, unless all are views.
bool claim_all(std::span<const Node* const> nodes, const Store&, uint8_t* taken, RegionState&, void*);

// The arguments of a line, without absent optional tensors.
SmallVector<Buffer, 8> present_inputs(const Launch& launch);

// Null: no executor of this name runs on an engine.
const EngineRow* find_engine(std::string_view executor);

}  // namespace thunder
