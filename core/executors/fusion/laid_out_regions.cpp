#include "executors/fusion/laid_out_regions.h"

namespace thunder::fusion {

LaidOutRegions& LaidOutRegions::of_this_thread() {
  thread_local LaidOutRegions regions;
  return regions;
}

std::shared_ptr<LaidOutRegion> LaidOutRegions::find(const StructuralHash& of) const {
  const auto it = regions_.find(of);
  return it == regions_.end() ? nullptr : it->second.lock();
}

void LaidOutRegions::add(const StructuralHash& of, const std::shared_ptr<LaidOutRegion>& region) {
  if (regions_.size() >= kMax) std::erase_if(regions_, [](auto& r) { return r.second.expired(); });
  if (regions_.size() >= kMax) regions_.clear();
  regions_[of] = region;
}

FitAnswers& FitAnswers::of_this_thread() {
  thread_local FitAnswers answers;
  return answers;
}

const bool* FitAnswers::find(const StructuralHash& of) const {
  const auto it = answers_.find(of);
  return it == answers_.end() ? nullptr : &it->second;
}

void FitAnswers::add(const StructuralHash& of, bool fits) {
  if (answers_.size() == kMax) answers_.clear();
  answers_[of] = fits;
}

}  // namespace thunder::fusion
