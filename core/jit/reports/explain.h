// Texts about a compiled function's latest program.
#pragma once

#include <span>

#include "jit/call.h"

namespace thunder {

// The text of a report of the table, or what the program was after a stage of its compile, by the stage's name. "":
// there is no program yet. Throws at another name, with the nearest one.
struct ReportRow {
  std::string_view name, doc;
};
std::span<const ReportRow> report_rows();
std::string explain(const Compiled& f, std::string_view what);

}  // namespace thunder
