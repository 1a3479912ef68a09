// The operands and results of nodes in one contiguous list: the search for regions scans each node from many others.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "ir/value_set.h"

namespace thunder {

class NodeValues {
 public:
  struct Range {
    size_t begin = 0;
    uint32_t reads = 0, results = 0;
  };
  Range add(const Node& n) {
    Range at{all_.size(), 0, static_cast<uint32_t>(n.results.size())};
    for_each_value(n.args, [&](ValueId v) { all_.push_back(v); });
    at.reads = static_cast<uint32_t>(all_.size() - at.begin);
    all_.insert(all_.end(), n.results.begin(), n.results.end());
    return at;
  }
  // Valid until the next node is added.
  std::span<const ValueId> reads(Range p) const { return {all_.data() + p.begin, p.reads}; }
  std::span<const ValueId> results(Range p) const { return {all_.data() + p.begin + p.reads, p.results}; }
  bool reads_any(Range p, const ValueSet& set) const {
    const auto read = reads(p);
    return std::any_of(read.begin(), read.end(), [&](ValueId v) { return set.has(v); });
  }

 private:
  std::vector<ValueId> all_;
};

}  // namespace thunder
