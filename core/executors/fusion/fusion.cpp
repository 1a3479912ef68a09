#include "executors/fusion/fusion.h"

#include "base/text.h"
#include "executors/fusion/grow.h"
#include "executors/fusion/laid_out_regions.h"
#include "executors/fusion/lower.h"
#include "loops/cpu/launcher.h"
#include "loops/cuda/source.h"
#include "ir/prim.h"
#include "ir/symbolic/conditions.h"
#include "loops/kernels.h"
#include "program/kernel_texts.h"

namespace thunder {
namespace {

using namespace fusion;

const Target* target_of(const Node& node, const Store& store, void* user) {
  return static_cast<const Targets*>(user)->find(store.type(node.results[0]).device);
}

bool claim(const NodeView& view, void* user) {
  const Target* target = target_of(view.node, view.store, user);
  return target && is_computable(view.node, view.store, target->capabilities()) && target->available();
}

bool begins_region(const Node& node) {
  return find_prim(*node.op)->role != Role::view;
}

// The state of a region is its group.
bool claim_region(std::span<const Node* const> nodes, const Store& store, uint8_t* taken, RegionState& state,
                  void* user) {
  std::shared_ptr<Group> group;
  const bool grows =
      grow(nodes, store, target_of(*nodes[0], store, user)->capabilities(), {taken, nodes.size()}, group);
  if (grows) state = std::move(group);
  return grows;
}

size_t recomputed_instructions(const Node& first, const Store& store, void* user) {
  return target_of(first, store, user)->capabilities().recomputed_instructions;
}

// Whether the nodes form a group. It is made only where that is not known, or `needed`.
bool form_group(std::span<const Node* const> nodes, const Store& store, const Target& target,
                std::shared_ptr<Group>& group, bool needed = false) {
  const StructuralHash of = structural_hash(nodes, store, target.capabilities());
  FitAnswers& answers = FitAnswers::of_this_thread();
  if (const bool* known = answers.find(of); known && (!needed || !*known)) return *known;
  const StructuralHash like = hash_for_any_size(nodes, store, target.capabilities());
  const bool* known = answers.find(like);
  bool fits = known && *known;
  if (!known || needed) {
    group = std::make_shared<Group>(store, target.capabilities());
    fits = group->add_all(nodes);
    answers.add(like, fits);
  }
  answers.add(of, fits);
  return fits;
}

bool can_form_region(std::span<const Node* const> nodes, const Store& store, RegionState& state, void* user) {
  std::shared_ptr<Group> group;
  if (!form_group(nodes, store, *target_of(*nodes[0], store, user), group)) return false;
  state = std::move(group);
  return true;
}

// The kernel of a node or region: a group until its layout is known; after that a launcher of the target, which other
// programs and equal layers may have too.
class FusedKernel : public Kernel, public KernelTexts {
 public:
  FusedKernel(std::shared_ptr<LaidOutRegion> region, const Target& target, bool on_cpu)
      : FusedKernel(std::shared_ptr<Group>(), target, on_cpu) {
    set_region(std::move(region));
  }
  FusedKernel(std::shared_ptr<Group> group, const Target& target, bool on_cpu)
      : Kernel(KernelCall()), group_(std::move(group)), target_(target), on_cpu_(on_cpu) {
    add_flags(kRunsTiles | kShareable);
  }

  void adapt_to_layouts(const NodeView& view) override {
    set_region(find_or_lay_out(view));
    group_.reset();
  }
  std::unique_ptr<const KernelOfClass> of_class(const LineView& line) const override;
  MemoryFormat memory_format() const override {
    return on_cpu_ ? MemoryFormat::contiguous : MemoryFormat::preserve;
  }
  size_t scratch() const override { return region_->launcher->scratch(); }
  bool runs_tiles() const override { return region_->is_epilogue; }
  void run_tile(const Launch* launch, const Tile& tile) const override { region_->launcher->run_tile(launch, tile); }
  Joinable joinable() const override { return region_->launcher->joinable(); }
  KernelPtr join(std::span<const Kernel* const> all) const override { return region_->launcher->join(all); }
  void finish_compiling() override {
    if (!region_->finished) region_->launcher->finish_compiling();
    region_->finished = true;
  }
  std::string explain() const override {
    const LoweredRegion lowered = region_->lowered();
    return cat("as lowered:\n", print(lowered.nest), target_.explain(lowered));
  }
  const Kernel* launcher() const override { return region_->launcher.get(); }
  std::string source(std::string_view form) const override {
    if (form == "cuda") return loops::cuda_text(region_->lowered());
    const auto* on_cpu = dynamic_cast<const loops::CpuLauncher*>(region_->launcher.get());
    return on_cpu ? loops::code_text(on_cpu->nest(), form == "assembly") : "";
  }

 private:
  void set_region(std::shared_ptr<LaidOutRegion> region) {
    region_ = std::move(region);
    set_call(region_->launcher->call());
  }
  std::shared_ptr<LaidOutRegion> find_or_lay_out(const NodeView& view) {
    const std::vector<const Node*> nodes = nodes_of(view.node);
    const StructuralHash of = laid_out_hash(view, nodes, target_);
    LaidOutRegions& regions = LaidOutRegions::of_this_thread();
    if (auto known = regions.find(of)) return known;
    if (!group_) ensure(form_group(nodes, view.store, target_, group_, true), "a region fits no more");
    auto made = std::make_shared<LaidOutRegion>();
    LoweredRegion lowered = lower(view, *group_);
    made->launcher = target_.launcher(lowered);
    made->lowered = [kept = std::move(lowered)] { return kept; };
    made->is_epilogue = view.epilogue_input >= 0 && made->launcher->runs_tiles();
    regions.add(of, made);
    return made;
  }

  std::shared_ptr<Group> group_;
  const Target& target_;
  const bool on_cpu_;
  std::shared_ptr<LaidOutRegion> region_;
};

// A region whose sizes are formulas, and the kernel that was made of it for some of them.
class FusedKernelOfClass : public KernelOfClass {
 public:
  FusedKernelOfClass(const Target& target, bool on_cpu, bool is_epilogue, LoweredRegionOf<FormulaRef> lowered,
                     Formulas formulas, std::unique_ptr<const loops::LauncherOfClass> launchers,
                     std::span<const DimCondition> conditions)
      : target_(target), on_cpu_(on_cpu), is_epilogue_(is_epilogue), formulas_(std::move(formulas)),
        lowered_(std::make_shared<const LoweredRegionOf<FormulaRef>>(std::move(lowered))),
        launchers_(std::move(launchers)), conditions_(conditions) {}

  KernelPtr kernel_for(const SizedLine& line) const override {
    if (!conditions_.hold_for(line.symbols)) return nullptr;
    const auto values = std::make_shared<const std::vector<int64_t>>(formulas_.evaluate(line.symbols));
    auto region = std::make_shared<LaidOutRegion>();
    region->launcher = launchers_->launcher_for(values);
    if (!region->launcher) return nullptr;
    region->lowered = [lowered = lowered_, values] {
      return loops::with_sizes<int64_t>(*lowered, [&](const FormulaRef& f) { return Formulas::value(f, *values); });
    };
    region->is_epilogue = is_epilogue_;
    return std::make_unique<FusedKernel>(std::move(region), target_, on_cpu_);
  }

 private:
  const Target& target_;
  const bool on_cpu_, is_epilogue_;
  const Formulas formulas_;
  const std::shared_ptr<const LoweredRegionOf<FormulaRef>> lowered_;
  const std::unique_ptr<const loops::LauncherOfClass> launchers_;
  const Conditions conditions_;
};

std::unique_ptr<const KernelOfClass> FusedKernel::of_class(const LineView& line) const {
  const DimReads reads(DimReads::Of::lines);
  Group group(line.store, target_.capabilities());
  if (!group.add_all(nodes_of(line.node))) return nullptr;
  const LoweredRegionOf<Size> lowered = lower(line, group);
  Formulas formulas;
  auto launchers = target_.of_class(lowered, *region_->launcher, formulas);
  auto compiled = loops::with_sizes<FormulaRef>(lowered, [&](const Size& s) { return formulas.add(s.dim()); });
  if (!launchers || !reads.noted().empty()) return nullptr;
  return std::make_unique<FusedKernelOfClass>(target_, on_cpu_, region_->is_epilogue, std::move(compiled),
                                              std::move(formulas), std::move(launchers), reads.conditions());
}

KernelPtr prepare(const NodeView& view, void* user) {
  const std::vector<const Node*> nodes = nodes_of(view.node);
  const Target* target = target_of(*nodes[0], view.store, user);
  if (!target) fail(Code::declined, "nothing runs kernels on its device");
  auto group = std::static_pointer_cast<Group>(view.state);
  if (!group && !form_group(nodes, view.store, *target, group))
    fail(Code::declined, "its nodes do not fit into one loop nest");
  const bool on_cpu = view.store.type(nodes[0]->results[0]).device == Device::cpu;
  return std::make_unique<FusedKernel>(std::move(group), *target, on_cpu);
}

}  // namespace

ExecutorDesc fusion_executor(const Targets& targets) {
  std::vector<std::string> ops;
  for (const PrimRow& row : prim_rows()) ops.emplace_back(name(row.prim));
  return {.name = "fusion",
          .ops = std::move(ops),
          .flags = kStrided | kInPlace,
          .any_device = true,
          .user = const_cast<Targets*>(&targets),
          .claim = claim,
          .claim_region = claim_region,
          .begins_region = begins_region,
          .fits = can_form_region,
          .recomputed_instructions = recomputed_instructions,
          .prepare = prepare};
}

}  // namespace thunder
