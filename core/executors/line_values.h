// What lines read and make, in one list: the search for regions looks at each line from every line before it.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "executors/value_set.h"

namespace thunder {

class LineValues {
 public:
  struct Place {
    size_t begin = 0;
    uint32_t reads = 0, makes = 0;
  };
  Place add(const Node& n) {
    Place at{all_.size(), 0, static_cast<uint32_t>(n.results.size())};
    for_each_value(n.args, [&](ValueId v) { all_.push_back(v); });
    at.reads = static_cast<uint32_t>(all_.size() - at.begin);
    all_.insert(all_.end(), n.results.begin(), n.results.end());
    return at;
  }
  // Valid until the next line is added.
  std::span<const ValueId> reads(Place p) const { return {all_.data() + p.begin, p.reads}; }
  std::span<const ValueId> makes(Place p) const { return {all_.data() + p.begin + p.reads, p.makes}; }
  bool reads_any(Place p, const ValueSet& set) const {
    const auto read = reads(p);
    return std::any_of(read.begin(), read.end(), [&](ValueId v) { return set.has(v); });
  }

 private:
  std::vector<ValueId> all_;
};

}  // namespace thunder
