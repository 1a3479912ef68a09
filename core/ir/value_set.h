// Sets of a trace's values.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "ir/trace.h"

namespace thunder {

// Clearing takes constant time: it begins a new generation.
class ValueSet {
 public:
  explicit ValueSet(size_t values) : generation_(values, 0) {}
  void clear() { current_++; }
  void resize(size_t values) { generation_.resize(values, 0); }
  bool has(ValueId v) const { return generation_[v] == current_; }
  // False if it was in the set already.
  bool add(ValueId v) { return std::exchange(generation_[v], current_) != current_; }
  void add(const Node& n) {
    for (ValueId r : n.results) add(r);
  }
  bool read_by(const Node& n) const {
    bool any = false;
    for_each_value(n.args, [&](ValueId v) { any |= has(v); });
    return any;
  }

 private:
  std::vector<uint32_t> generation_;
  uint32_t current_ = 1;
};

}  // namespace thunder
