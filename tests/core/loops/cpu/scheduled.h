// Schedules as the table of stages makes them, up to one of its rows.
#pragma once

#include "loops/cpu/stages.h"
#include "support/machines.h"

namespace thunder::loops {

inline CpuNest scheduled(LoweredRegion region, const Machine& machine = test::this_machine(), std::string_view last = "keep") {
  CpuNest out;
  run_stages(std::move(region), machine, Until::scheduled, [&](const Stage& stage, const CpuKernel& kernel) {
    if (stage.name == last) out = kernel.nest;
  });
  return out;
}

// A nest made by hand, in place.
inline void schedule(CpuNest& nest, AxisSet reduced, const Machine& machine) {
  LoweredRegion region;
  region.nest = nest, region.reduced = reduced;
  nest = scheduled(std::move(region), machine);
}

}  // namespace thunder::loops
