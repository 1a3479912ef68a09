// Connected components of the lines of a window, by union-find: lines that make or read the same value are connected.
// Lines are counted from the first one of the window.
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "executors/value_set.h"

namespace thunder {

class Connections {
 public:
  explicit Connections(size_t values) : values_(values), first_line_(values) {}
  void resize(size_t values) { values_.resize(values), first_line_.resize(values); }
  // Starts again with so many lines, none of which is connected with another.
  void restart(size_t lines) {
    parents_.resize(lines);
    std::iota(parents_.begin(), parents_.end(), 0u);
    values_.clear();
  }
  // Whether some line was added that makes or reads the value.
  bool has(ValueId v) const { return values_.has(v); }
  // Connects the line with those that make or read the same value.
  void add(size_t line, ValueId v) {
    if (values_.add(v))
      first_line_[v] = static_cast<uint32_t>(line);
    else
      parents_[component_of(first_line_[v])] = component_of(line);
  }
  uint32_t component_of(size_t line) {
    while (parents_[line] != line) line = parents_[line] = parents_[parents_[line]];
    return static_cast<uint32_t>(line);
  }

 private:
  ValueSet values_;                   // made or read by lines so far
  std::vector<uint32_t> first_line_;  // by such a value: the first of these lines
  std::vector<uint32_t> parents_;     // by line: its parent, or the line itself
};

}  // namespace thunder
