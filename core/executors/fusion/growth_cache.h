// A cache of the answers of `grow` by the structure of the nodes. It pays because the layers of a model repeat, and
// because programs are compiled again.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "executors/fusion/group.h"

namespace thunder::fusion {

// A hash of nodes that does not depend on how their values are numbered. It has 128 bits, so that nodes with equal
// hashes are taken as equal.
using StructuralHash = std::array<uint64_t, 2>;
StructuralHash structural_hash(std::span<const Node* const> nodes, const Store& store, const Capabilities& can);

class GrowthCache {
 public:
  struct Answer {
    bool grows;
    std::vector<uint8_t> taken;
  };
  // Each thread has its own cache.
  static GrowthCache& of_this_thread();
  const Answer* find(const StructuralHash& of) const;
  void add(const StructuralHash& of, Answer answer);

 private:
  static constexpr size_t kMax = 4096;  // answers; then the cache is cleared
  struct Hash {
    size_t operator()(const StructuralHash& l) const { return l[0]; }
  };
  std::unordered_map<StructuralHash, Answer, Hash> answers_;
};

}  // namespace thunder::fusion
