// Batching for vmap: rewrites nodes that compute one example to nodes that compute a batch of examples.
#pragma once

#include <unordered_map>

#include "ops/batch.h"
#include "tracer/recorder.h"

namespace thunder {

// Nodes that depend on no example are recorded unchanged.
class Batching {
 public:
  Batching(Recorder& recorder, Dim size, Randomness randomness)
      : recorder_(recorder), size_(size), randomness_(randomness) {}

  // `batched` replaces the example's value; its first dim is that of the batch.
  void set(ValueId example, Var batched) { batched_[example] = batched; }
  void visit(const Node& node);
  bool varies(ValueId v) const { return batched_.contains(v); }
  // The value with the dim of the batch in front; it is expanded if it does not depend on the example.
  Var value(ValueId v) const;

 private:
  void descend(const Node& node);
  void checkpoint(const Node& node);
  void rule(const Node& node, std::vector<bool> has);

  Recorder& recorder_;
  Dim size_;
  Randomness randomness_;
  std::unordered_map<ValueId, Var> batched_;
};

}  // namespace thunder
