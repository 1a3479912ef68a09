#include "loops/cpu/stages.h"

#include "base/text.h"
#include "loops/cpu/caches.h"
#include "loops/cpu/schedule.h"
#include "loops/hoist.h"
#include "loops/kernels.h"
#include "loops/order.h"

namespace thunder::loops {
namespace {

void hoist(CpuKernel& k, const Machine&) { hoist_from_reductions(k.region); }

void order(CpuKernel& k, const Machine&) {
  k.nest = CpuNest(std::move(k.region.nest));
  if (k.region.tiles) {
    CpuNest tiles = k.nest;
    if ((k.tiled = order_tiles(tiles, k.region))) return void(k.nest = std::move(tiles));
  }
  order_rows(k.nest, k.region.reduced);
}

// A stage that is a function of the nest. `if_tiled`: whether it also runs for kernels that run tiles.
template <auto pass, bool if_tiled = true>
void run_on_nest(CpuKernel& k, const Machine& machine) {
  if (!if_tiled && k.tiled) return;
  if constexpr (requires { pass(k.nest, machine); }) pass(k.nest, machine);
  else pass(k.nest);
}

void divide_stage(CpuKernel& k, const Machine& machine) { k.division = divide_work(k.nest, k.region.sums, machine); }

void emit(CpuKernel& k, const Machine&) { k.code = kernel(k.nest); }

constexpr Stage kStages[] = {
    {"hoist", hoist,
     "first: it may leave a pass over the rows without work, and the order of the loops depends on what is left"},
    {"order", order,
     "before all stages that depend on the vectorized axis; neighbours are merged, so that few loops are left"},
    {"tile", run_on_nest<tile_transposed, false>,
     "after order, which chooses the lane axis: operands that are contiguous along another axis are transposed"},
    {"passes", run_on_nest<find_row_passes>,
     "after order and tile, which decide the inner axes: it finds what each pass computes"},
    {"keep", run_on_nest<choose_kept_rows, false>,
     "after passes: values that two of them compute are kept in row buffers"},
    {"nontemporal", run_on_nest<choose_nontemporal_stores>,
     "before software-pipeline and prefetch, whose choices depend on which stores bypass the caches"},
    {"software-pipeline", run_on_nest<choose_software_pipeline>,
     "after keep and nontemporal: row buffers add to the working set, and nests that stream are not pipelined"},
    {"prefetch", run_on_nest<choose_prefetches>,
     "after software-pipeline: pipelined rows keep memory busy without prefetching"},
    {"divide", divide_stage,
     "after nontemporal, which allows longer blocks; after all others but emit, since it changes no code"},
    {"emit", emit, "last: the text of the finished nest is the key of its code"},
};

}  // namespace

std::span<const Stage> cpu_stages() { return kStages; }

CpuKernel run_stages(LoweredRegion region, const Machine& machine, Until until, const AfterStage& after) {
  CpuKernel kernel;
  kernel.region = std::move(region);
  for (const Stage& stage : kStages) {
    if (stage.run == emit && until == Until::scheduled) break;
    stage.run(kernel, machine);
    if (after) after(stage, kernel);
  }
  return kernel;
}

std::string print(const CpuKernel& kernel) {
  if (kernel.nest.extents.empty()) return print(kernel.region.nest);
  std::string out = print(kernel.nest);
  const Division& d = kernel.division;
  if (d.items) {
    out += cat(d.items, " work items of ", d.strip, " elements of the lane axis",
               kernel.nest.blocked ? cat(" by ", d.block) : "");
    out += cat(", at least ", d.grain, " for a thread");
    if (d.chunks) out += cat("; sums of columns in ", d.chunks, " chunks");
    out += "\n";
  }
  return out;
}

}  // namespace thunder::loops
