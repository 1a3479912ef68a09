// Rematerialization: whether a value that is computed inside a region and read outside of it is stored, or recomputed
// by its readers. The cost model counts bytes and instructions: storing costs a write, which counts twice, and a read;
// recomputing costs instructions and reading the operands. On devices, whose memory is scarce, an operand that several
// nodes read counts once, and what would take too many reads to make is read where it is stored.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "ops/op.h"

namespace thunder {

// About how many instructions an element of an elementwise line takes.
size_t count_instructions(const Node& node);
// The bytes of a value; 0: they are not known.
int64_t bytes_of(ValueId v, const Store& store);
// Whether a value is so much smaller than another one that storing and reading it costs nearly nothing.
bool is_small_beside(ValueId one, ValueId other, const Store& store);

class Recompute {
 public:
  // `stored`: by value, whether it must be in memory in any case. `uses`: by value, how many reads outside of the
  // region there are. `broadcast_from`: by value, the operand that it broadcasts, or kNoValue. All must outlive this.
  // `most_instructions`: of an element, that take less time than to store it and to read it.
  Recompute(const Store& store, std::span<const Node* const> region, const std::vector<uint8_t>& stored,
            const std::vector<uint32_t>& uses, const std::vector<ValueId>& broadcast_from,
            size_t most_instructions);

  // Whether it is cheaper to recompute the node's result in its readers than to store it.
  bool is_cheaper(const Node& node) const;

 private:
  struct Cost {
    size_t instructions = 0;
    std::vector<ValueId> read, made;
  };
  bool add_cost(const Node& node, ValueId made, Cost& cost) const;
  bool is_small(ValueId v, ValueId made) const;

  const Store& store_;
  const std::vector<uint8_t>& stored_;
  const std::vector<uint32_t>& uses_;
  const std::vector<ValueId>& broadcast_from_;
  const size_t most_instructions_;
  std::unordered_map<ValueId, const Node*> makers_;
};

}  // namespace thunder
