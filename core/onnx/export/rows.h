// How each op is written in ONNX: the table of rows.
#pragma once

#include <span>

#include "ir/prim.h"
#include "onnx/export/line.h"

namespace thunder::onnx_export {

// Gives the line's results. False: not like this (by its arguments, or for this opset); its body is written then.
using Write = bool (*)(Line& line);

struct Row {
  std::string_view onnx = {};  // the ops it becomes; with `write` empty: the one op, of all of its tensors
  Write write = nullptr;
  bool elementwise = false;       // operands may be given as they were before they were repeated
  std::string_view why_not = {};  // of a prim that cannot be written: the reason
};

// Of prims: NAME_row, defined beside what it calls, or by no_engine.def. A prim without one fails to link.
#define THUNDER_PRIM(name) extern const Row name##_row;
#include "ir/prims.inc"
#undef THUNDER_PRIM
const Row& row_of(Prim prim);

// Composites that are written as a whole.
struct CompositeRow {
  std::string_view op;
  Row row;
};
std::span<const CompositeRow> composite_rows();

// Null: it is not written, but its body is, or why_not() says why it cannot be.
const Row* find_row(const Op& op);
std::string_view why_not(const Op& op);

}  // namespace thunder::onnx_export
