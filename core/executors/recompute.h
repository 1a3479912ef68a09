// Whether a value that a region makes and others read is stored, or made again where it is read. Decided by bytes and
// instructions: a store costs a write, which counts twice, and a read; making it again costs instructions, and reading what
// it is made of.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "ops/op.h"

namespace thunder {

class Recompute {
 public:
  // `stored`: by value, whether it has to be in memory whatever is decided. `uses`: by value, how often lines outside of the
  // region read it. `broadcast_from`: by value, what it shows each element of more than once, or kNoValue. All must outlive this.
  Recompute(const Store& store, std::span<const Node* const> region, const std::vector<uint8_t>& stored, const std::vector<uint32_t>& uses,
            const std::vector<ValueId>& broadcast_from);

  bool pays(const Node& line) const;

 private:
  struct Price {
    size_t instructions = 0;
    std::vector<ValueId> read;
  };
  bool afford(const Node& line, ValueId made, Price& price) const;
  bool small_beside(ValueId v, ValueId made) const;

  const Store& store_;
  const std::vector<uint8_t>& stored_;
  const std::vector<uint32_t>& uses_;
  const std::vector<ValueId>& broadcast_from_;
  std::unordered_map<ValueId, const Node*> makers_;
};

}  // namespace thunder
