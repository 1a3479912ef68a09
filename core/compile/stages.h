// The stages of a compile as a table: from the recorded trace to the runnable program.
#pragma once

#include <span>

#include "compile/compilation.h"

namespace thunder {

class Program;

struct StageRow {
  std::string_view name;
  void (*run)(Compilation&);
  bool required;         // false: may be left out
  std::string_view why;  // why it stands where it stands
  std::string (*print)(const Program&) = nullptr;  // what it made, as text for a person; null: the trace
};

std::span<const StageRow> stages();

}  // namespace thunder
