#include "executors/fusion/growth_cache.h"

namespace thunder::fusion {

GrowthCache& GrowthCache::of_this_thread() {
  thread_local GrowthCache cache;
  return cache;
}

const GrowthCache::Answer* GrowthCache::find(const StructuralHash& of) const {
  const auto it = answers_.find(of);
  return it == answers_.end() ? nullptr : &it->second;
}

void GrowthCache::add(const StructuralHash& of, Answer answer) {
  if (answers_.size() == kMax) answers_.clear();
  answers_[of] = std::move(answer);
}

}  // namespace thunder::fusion
