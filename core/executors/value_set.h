// Sets of a trace's values.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "ir/trace.h"

namespace thunder {

// A set of values that is cleared in constant time.
class ValueSet {
 public:
  explicit ValueSet(size_t values) : round_(values, 0) {}
  void clear() { now_++; }
  void resize(size_t values) { round_.resize(values, 0); }
  bool has(ValueId v) const { return round_[v] == now_; }
  // False if it was in the set already.
  bool add(ValueId v) { return std::exchange(round_[v], now_) != now_; }
  void add(const Node& n) {
    for (ValueId r : n.results) add(r);
  }
  bool read_by(const Node& n) const {
    bool any = false;
    for_each_value(n.args, [&](ValueId v) { any |= has(v); });
    return any;
  }

 private:
  std::vector<uint32_t> round_;
  uint32_t now_ = 1;
};

}  // namespace thunder
