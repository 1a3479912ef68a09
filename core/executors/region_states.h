// What fusion executors keep of the regions that they claim, until they prepare them, so that nothing is derived twice.
#pragma once

#include <memory>
#include <unordered_map>
#include <utility>

#include "ir/trace.h"

namespace thunder {

// The executor's own, of any type. Null: it kept nothing.
using RegionState = std::shared_ptr<void>;

// By region. For one compile, whose store must outlive this.
class RegionStates {
 public:
  void keep(const Node* region, RegionState state) {
    if (state) states_[region] = std::move(state);
  }
  RegionState take(const Node* region) {
    const auto it = states_.find(region);
    return it == states_.end() ? nullptr : std::exchange(it->second, nullptr);
  }

 private:
  std::unordered_map<const Node*, RegionState> states_;
};

}  // namespace thunder
