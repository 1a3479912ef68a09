// How each prim is written in StableHLO: the table of rows.
#pragma once

#include "executors/openxla/line.h"
#include "program/kernel.h"

namespace thunder::openxla {

// Gives the line's results. Throws unimplemented where its arguments cannot be written.
using Write = void (*)(Line& line);

struct Row {
  std::string_view prim;
  std::string_view ops;  // what it becomes
  Write write = nullptr;
  std::string_view why_not = {};  // of a prim that cannot be written: the reason
};

std::span<const Row> elementwise_rows();
std::span<const Row> index_rows();
std::span<const Row> random_rows();
std::span<const Row> reduction_rows();
std::span<const Row> scan_rows();
std::span<const Row> shape_rows();
std::span<const Row> special_rows();
std::span<const Row> window_rows();

// All rows, sorted by prim; made at the first call.
std::span<const Row> rows();
// The row of a prim, or null.
const Row* find_row(std::string_view prim);

// Whether the line, or every prim of its body, can be written.
bool can_write(const Node& node, const Store& store);
// A region, or one line, as a module of its inputs. See Module::text for `aliases`.
std::string write_module(const NodeView& view, bool aliases);

}  // namespace thunder::openxla
