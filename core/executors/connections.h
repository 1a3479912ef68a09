// Which lines of a window have values in common: union-find, over lines counted from the window's first.
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "executors/value_set.h"

namespace thunder {

class Connections {
 public:
  explicit Connections(size_t values) : touched_(values), toucher_(values) {}
  void resize(size_t values) { touched_.resize(values), toucher_.resize(values); }
  // Begins anew: each of the lines is a part of its own.
  void restart(size_t lines) {
    parts_.resize(lines);
    std::iota(parts_.begin(), parts_.end(), 0u);
    touched_.clear();
  }
  bool touched(ValueId v) const { return touched_.has(v); }
  // The line makes or reads the value: it joins whoever else did.
  void touch(size_t line, ValueId v) {
    if (touched_.add(v)) toucher_[v] = static_cast<uint32_t>(line);
    else parts_[part_of(toucher_[v])] = part_of(line);
  }
  uint32_t part_of(size_t line) {
    while (parts_[line] != line) line = parts_[line] = parts_[parts_[line]];
    return static_cast<uint32_t>(line);
  }

 private:
  ValueSet touched_;               // made or read by lines so far
  std::vector<uint32_t> toucher_;  // by such a value: the first of these lines
  std::vector<uint32_t> parts_;    // by line: its parent, or the line itself
};

}  // namespace thunder
