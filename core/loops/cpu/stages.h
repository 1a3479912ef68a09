// How a region becomes a CPU's kernel, stage by stage: stages.cpp is the order as a table.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/machine.h"
#include "loops/cpu/division.h"
#include "loops/cpu/nest.h"
#include "loops/emitter.h"
#include "loops/region.h"

namespace thunder::loops {

// A kernel while it is made. What a stage has not decided yet is as it stands here.
struct CpuKernel {
  LoweredRegion region;  // its nest is moved to `nest` by the stage that orders the loops
  bool tiled = false;    // it runs by tiles of the argument that region.tiles names; `order` decides it
  CpuNest nest;
  Division division;
  KernelFn code = nullptr;
};

struct Stage {
  std::string_view name;
  void (*run)(CpuKernel&, const Machine&);
  std::string_view why;  // it stands where it stands
};

std::span<const Stage> cpu_stages();

// Told of each stage when it is done.
using AfterStage = std::function<void(const Stage&, const CpuKernel&)>;

// All stages, or all but `emit`. Throws where the emitter fails.
enum class Until : uint8_t { scheduled, emitted };
CpuKernel run_stages(LoweredRegion region, const Machine& machine, Until until, const AfterStage& after = {});

// What a kernel is after a stage, as text to read.
std::string print(const CpuKernel& kernel);

}  // namespace thunder::loops
