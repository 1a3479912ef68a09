#include "loops/cpu/target.h"

#include "base/text.h"

#include "loops/cpu/launcher.h"
#include "loops/kernels.h"
#include "loops/cpu/with_sizes.h"

namespace thunder::loops {
namespace {

// Rows that exceed the L2 cache by far are summed in row order, although code that depends on the sums must read them
// again. The limit is lower if rows do not begin at cache lines, since going down a few columns then reads two lines of
// each row.
RowOrderSums row_order_sums(const Machine& machine) {
  constexpr int64_t kRows = 512, kFloat = sizeof(float);
  constexpr size_t kUsualL2 = 1 << 20;
  const auto l2 = static_cast<int64_t>(machine.l2 ? machine.l2 : kUsualL2);
  const auto line = static_cast<int64_t>(machine.line) / kFloat;
  return {.rows = kRows, .elements = 4 * l2 / kFloat, .unaligned = 2 * l2 / kFloat, .line = line};
}

// The kernel with formulas for its sizes. How the work is divided changes no code: it is decided for each size.
class CpuLauncherOfClass : public LauncherOfClass {
 public:
  CpuLauncherOfClass(const CpuKernelOf<Size>& of, KernelFn code, Formulas& formulas, const Machine& machine)
      : of_(std::make_shared<const CpuKernelOf<FormulaRef>>(
            with_sizes<FormulaRef>(of, [&](const Size& s) { return formulas.add(s.dim()); }))),
        sized_(with_sizes<int64_t>(*of_, [](const FormulaRef&) { return 0; })), machine_(machine) {
    sized_.code = code;
  }
  KernelPtr launcher_for(std::shared_ptr<const std::vector<int64_t>> values) const override {
    const auto value = [&](const FormulaRef& f) { return Formulas::value(f, *values); };
    set_sizes(of_->nest, sized_.nest, value);
    for (size_t i = 0; i < of_->region.sums.size(); i++)
      sized_.region.sums[i].elements = value(of_->region.sums[i].elements);
    for (size_t i = 0; i < of_->region.checks.size(); i++)
      sized_.region.checks[i].size = value(of_->region.checks[i].size);
    sized_.division = divide_work(sized_.nest, sized_.region.sums, machine_);
    return std::make_unique<CpuLauncher>(sized_, [of = of_, values = std::move(values)] {
      return with_sizes<int64_t>(of->nest, [&](const FormulaRef& f) { return Formulas::value(f, *values); });
    });
  }

 private:
  const std::shared_ptr<const CpuKernelOf<FormulaRef>> of_;
  mutable CpuKernel sized_;  // with the sizes that were asked for last
  const Machine& machine_;
};

class CpuTarget : public Target {
 public:
  explicit CpuTarget(const Machine& machine) : machine_(machine) {
    can_.max_arguments = kMaxArguments;
    can_.row_order_sums = row_order_sums(machine);
  }

  std::string_view name() const override { return "cpu"; }
  int32_t device_kind() const override { return kind(Device::cpu); }
  const Capabilities& capabilities() const override { return can_; }
  bool available(std::string* why) const override { return can_run(why); }

  KernelPtr launcher(LoweredRegion region) const override {
    return std::make_unique<CpuLauncher>(run_stages(std::move(region), machine_, Until::emitted));
  }

  std::unique_ptr<const LauncherOfClass> of_class(const LoweredRegionOf<Size>& region, const Kernel& first,
                                                  Formulas& formulas) const override {
    const auto* launcher = dynamic_cast<const CpuLauncher*>(&first);
    const CpuKernelOf<Size> kernel = run_stages_on_formulas(region, machine_);
    if (!launcher || print(kernel.nest) != print(launcher->nest())) return nullptr;
    return std::make_unique<CpuLauncherOfClass>(kernel, launcher->code(), formulas, machine_);
  }

  std::string explain(const LoweredRegion& region) const override {
    std::string out, before = print(region.nest);
    run_stages(region, machine_, Until::scheduled, [&](const Stage& stage, const CpuKernel& kernel) {
      std::string now = print(kernel);
      out += now == before ? cat("after ", stage.name, ": the same\n") : cat("after ", stage.name, ":\n", now);
      before = std::move(now);
    });
    return out;
  }

 private:
  const Machine& machine_;
  Capabilities can_;
};

}  // namespace

std::unique_ptr<const Target> cpu_target(const Machine& machine) { return std::make_unique<CpuTarget>(machine); }

}  // namespace thunder::loops
