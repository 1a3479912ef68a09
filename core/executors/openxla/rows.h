// How each prim is written in StableHLO: the table of rows.
#pragma once

#include "executors/openxla/line.h"
#include "ir/prim.h"
#include "program/kernel.h"

namespace thunder::openxla {

// Gives the line's results. Throws unimplemented where its arguments cannot be written.
using Write = void (*)(Line& line);

struct Row {
  std::string_view ops = {};  // what it becomes
  Write write = nullptr;
  std::string_view why_not = {};  // of a prim that cannot be written: the reason
};

// NAME_row, defined beside what it calls, or by onnx/export/no_engine.def. A prim without one fails to link.
#define THUNDER_PRIM(name) extern const Row name##_row;
#include "ir/prims.inc"
#undef THUNDER_PRIM
const Row& row_of(Prim prim);

// Whether the line, or every prim of its body, can be written.
bool can_write(const Node& node, const Store& store);
// A region, or one line, as a module of its inputs. See Module::text for `aliases`.
std::string write_module(const NodeView& view, bool aliases);

}  // namespace thunder::openxla
