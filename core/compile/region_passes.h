// The passes over regions, in order: as stages of a compile, and of what is claimed anew where an executor declines.
#pragma once

#include <string_view>

#include "regions/regions.h"
#include "regions/rematerialize.h"
#include "regions/siblings.h"

namespace thunder {

struct RegionPass {
  std::string_view name;  // of its stage
  void (*run)(Trace&, const Executors&, const Op& region, RegionStates&);
};

inline constexpr RegionPass kFormRegions = {"form_regions", form_regions};
inline constexpr RegionPass kRematerialize = {"rematerialize", rematerialize};
inline constexpr RegionPass kMergeSiblings = {"merge_siblings", merge_siblings};
inline constexpr RegionPass kRegionPasses[] = {kFormRegions, kRematerialize, kMergeSiblings};

}  // namespace thunder
