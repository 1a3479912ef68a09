// Schedules and compiles a region for a CPU, stage by stage. The order of the stages is a table in stages.cpp.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/machine.h"
#include "ir/symbolic/size.h"
#include "loops/cpu/division.h"
#include "loops/cpu/nest.h"
#include "loops/emitter.h"
#include "loops/region.h"

namespace thunder::loops {

// A kernel that is being scheduled. Fields that no stage has set yet have their defaults.
template <class S>
struct CpuKernelOf {
  LoweredRegionOf<S> region;  // its nest is moved to `nest` by the stage that orders the loops
  bool tiled = false;  // it runs tiles of the argument that region.tiles names; `order` decides that
  CpuNestOf<S> nest;
  Division division;
  KernelFn code = nullptr;
};
using CpuKernel = CpuKernelOf<int64_t>;

struct Stage {
  std::string_view name;
  void (*run)(CpuKernel&, const Machine&);
  void (*run_on_formulas)(CpuKernelOf<Size>&, const Machine&);  // null: it looks at the numbers of one size
  std::string_view why;  // for its place in the order
};

std::span<const Stage> cpu_stages();

// Called after each stage.
using AfterStage = std::function<void(const Stage&, const CpuKernel&)>;

// Runs all stages, or all but `emit`. Throws if the emitter fails.
enum class Until : uint8_t { scheduled, emitted };
CpuKernel run_stages(LoweredRegion region, const Machine& machine, Until until, const AfterStage& after = {});

// The stages that decide the text of the nest, for sizes that are formulas.
CpuKernelOf<Size> run_stages_on_formulas(LoweredRegionOf<Size> region, const Machine& machine);

// The kernel after a stage, as text.
std::string print(const CpuKernel& kernel);

}  // namespace thunder::loops
