#include "loops/cpu/stages.h"

#include "base/text.h"
#include "loops/cpu/caches.h"
#include "loops/cpu/schedule.h"
#include "loops/hoist.h"
#include "loops/kernels.h"
#include "loops/order.h"

namespace thunder::loops {
namespace {

template <class S>
void hoist(CpuKernelOf<S>& k, const Machine&) { hoist_from_reductions(k.region); }

template <class S>
void order(CpuKernelOf<S>& k, const Machine&) {
  k.nest = CpuNestOf<S>(std::move(k.region.nest));
  if (k.region.tiles) {
    CpuNestOf<S> tiles = k.nest;
    if ((k.tiled = order_tiles(tiles, k.region))) return void(k.nest = std::move(tiles));
  }
  order_rows(k.nest, k.region.reduced);
}

// A stage that is a function of the nest; some leave out kernels that run tiles.
enum class If : uint8_t { any, not_tiled };
template <auto pass, If runs, class S>
void run_on_nest(CpuKernelOf<S>& k, const Machine& machine) {
  if (runs == If::not_tiled && k.tiled) return;
  if constexpr (requires { pass(k.nest, machine); }) pass(k.nest, machine);
  else pass(k.nest);
}
template <auto pass, auto on_formulas, If runs = If::any>
constexpr Stage on_nest(std::string_view name, std::string_view why) {
  return {name, run_on_nest<pass, runs, int64_t>, run_on_nest<on_formulas, runs, Size>, why};
}

void divide_stage(CpuKernel& k, const Machine& machine) { k.division = divide_work(k.nest, k.region.sums, machine); }

void emit(CpuKernel& k, const Machine&) { k.code = kernel(k.nest); }

constexpr Stage kStages[] = {
    {"hoist", hoist<int64_t>, hoist<Size>,
     "first: it may leave a pass over the rows without work, and the order of the loops depends on what is left"},
    {"order", order<int64_t>, order<Size>,
     "before all stages that depend on the vectorized axis; neighbours are merged, so that few loops are left"},
    on_nest<tile_transposed<int64_t>, tile_transposed<Size>, If::not_tiled>(
        "tile",
        "after order, which chooses the lane axis: operands that are contiguous along another axis are transposed"),
    on_nest<find_row_passes<int64_t>, find_row_passes<Size>>(
        "passes", "after order and tile, which decide the inner axes: it finds what each pass computes"),
    on_nest<choose_kept_rows<int64_t>, choose_kept_rows<Size>, If::not_tiled>(
        "keep", "after passes: values that two of them compute are kept in row buffers"),
    on_nest<choose_nontemporal_stores<int64_t>, choose_nontemporal_stores<Size>>(
        "nontemporal", "before software-pipeline and prefetch, whose choices depend on which stores bypass the caches"),
    on_nest<choose_software_pipeline<int64_t>, choose_software_pipeline<Size>>(
        "software-pipeline",
        "after keep and nontemporal: row buffers add to the working set, and nests that stream are not pipelined"),
    on_nest<choose_prefetches<int64_t>, choose_prefetches<Size>>(
        "prefetch", "after software-pipeline: pipelined rows keep memory busy without prefetching"),
    {"divide", divide_stage, nullptr,
     "after nontemporal, which allows longer blocks; after all others but emit, since it changes no code"},
    {"emit", emit, nullptr, "last: the text of the finished nest is the key of its code"},
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

CpuKernelOf<Size> run_stages_on_formulas(LoweredRegionOf<Size> region, const Machine& machine) {
  CpuKernelOf<Size> kernel;
  kernel.region = std::move(region);
  for (const Stage& stage : kStages)
    if (stage.run_on_formulas) stage.run_on_formulas(kernel, machine);
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
