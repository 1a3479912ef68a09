// A cache of the answers of `grow` by the structure of the nodes. It pays because the layers of a model repeat, and
// because programs are compiled again.
#pragma once

#include <unordered_map>
#include <vector>

#include "executors/fusion/structural_hash.h"

namespace thunder::fusion {

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
  std::unordered_map<StructuralHash, Answer, HashOfHash> answers_;
};

}  // namespace thunder::fusion
