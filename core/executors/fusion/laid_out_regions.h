// Lowered regions that are ready to run, keyed by structure and layouts, so that equal layers share them, and so
// do programs.
#pragma once

#include <functional>
#include <memory>
#include <unordered_map>

#include "executors/fusion/structural_hash.h"

namespace thunder::fusion {

struct LaidOutRegion {
  std::function<LoweredRegion()> lowered;  // for explain
  KernelPtr launcher;
  bool is_epilogue = false;  // it runs only the tiles that it is given
  bool finished = false;
};

class LaidOutRegions {
 public:
  // Each thread has an object of its own.
  static LaidOutRegions& of_this_thread();
  // Null: no program uses it any more.
  std::shared_ptr<LaidOutRegion> find(const StructuralHash& of) const;
  void add(const StructuralHash& of, const std::shared_ptr<LaidOutRegion>& region);

 private:
  static constexpr size_t kMax = 4096;  // beyond that, entries that no program uses are dropped
  std::unordered_map<StructuralHash, std::weak_ptr<LaidOutRegion>, HashOfHash> regions_;
};

// Whether nodes form one group, by their structure, and by what others that differ in sizes alone have in common.
class FitAnswers {
 public:
  static FitAnswers& of_this_thread();
  const bool* find(const StructuralHash& of) const;
  void add(const StructuralHash& of, bool fits);

 private:
  static constexpr size_t kMax = 4096;  // beyond that, all entries are dropped
  std::unordered_map<StructuralHash, bool, HashOfHash> answers_;
};

}  // namespace thunder::fusion
