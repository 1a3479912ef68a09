// Connected components of the nodes of a window, by union-find: nodes that compute or read the same value are
// connected. Nodes are numbered from the first one of the window.
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "ir/value_set.h"

namespace thunder {

class Connections {
 public:
  explicit Connections(size_t values) : values_(values), first_node_(values) {}
  void resize(size_t values) { values_.resize(values), first_node_.resize(values); }
  // Resets to this many nodes, none connected.
  void restart(size_t nodes) {
    parents_.resize(nodes);
    std::iota(parents_.begin(), parents_.end(), 0u);
    values_.clear();
  }
  // Whether some node was added that computes or reads the value.
  bool has(ValueId v) const { return values_.has(v); }
  // Connects the node with those that compute or read the same value.
  void add(size_t node, ValueId v) {
    if (values_.add(v)) first_node_[v] = static_cast<uint32_t>(node);
    else parents_[component_of(first_node_[v])] = component_of(node);
  }
  uint32_t component_of(size_t node) {
    while (parents_[node] != node) node = parents_[node] = parents_[parents_[node]];
    return static_cast<uint32_t>(node);
  }

 private:
  ValueSet values_;                   // computed or read by nodes so far
  std::vector<uint32_t> first_node_;  // by such a value: the first of these nodes
  std::vector<uint32_t> parents_;     // by node: its parent, or the node itself
};

}  // namespace thunder
