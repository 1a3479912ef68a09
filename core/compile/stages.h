// The stages of a compile as tables: from the recorded trace to the runnable program, and from a joint forward and
// backward to the two traces that are compiled each for itself.
#pragma once

#include <span>

#include "compile/compilation.h"

namespace thunder {

class Program;

// What a stage's trace is made of: ops as they were recorded, ops that executors take, lines with an executor each, and
// kernels, behind which lines can be read and no longer changed.
enum class Level : uint8_t { recorded, descended, claimed, lowered };

struct StageRow {
  std::string_view name;
  void (*run)(Compilation&);
  bool required;         // false: may be left out
  std::string_view why;  // why it stands where it stands
  std::string (*print)(const Program&) = nullptr;  // what it made, as text for a person; null: the trace
  Level level = Level::recorded;                   // that it brings the trace to; the stages behind it keep that
};

// Of a program.
std::span<const StageRow> stages();
// Of a joint forward and backward; the last one cuts it in two.
std::span<const StageRow> joint_stages();

}  // namespace thunder
