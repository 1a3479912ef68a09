#include "loops/cuda/target.h"

#include <algorithm>
#include <array>

#include "device/cuda/compiler.h"
#include "device/cuda/device.h"
#include "ir/dim_reads.h"
#include "loops/cuda/fission.h"
#include "loops/cuda/launcher.h"
#include "loops/order.h"

namespace thunder::loops {
namespace {

// An H100 moves 3.35e12 bytes and executes 132 * 128 * 1.75e9 instructions a second: about 70 in the time that 4 bytes
// take to be written and read.
constexpr size_t kRecomputedInstructions = 64;

// The two passes of a region as two launches.
class SplitLauncher : public Kernel {
 public:
  SplitLauncher(nvidia::CudaDevice& device, Fission parts)
      : Kernel(this), arguments_(parts.sums.nest.buffers.size()), sums_(device, std::move(parts.sums)),
        rest_(device, std::move(parts.rest)) {
    for (const Fission::Kept& kept : parts.kept) {
      at_.push_back(kept_bytes_);
      kept_bytes_ += aligned(static_cast<size_t>(kept.elements) * size_of(kept.dtype));
    }
  }

  size_t scratch() const override { return kAlign + kept_bytes_ + std::max(sums_.scratch(), rest_.scratch()); }
  void finish_compiling() override { sums_.finish_compiling(), rest_.finish_compiling(); }
  const Kernel* launcher() const override { return this; }

  Status* run(const Launch* launch) const {
    std::array<Buffer, kMostCudaArguments> buffers;
    std::copy_n(launch->inputs, launch->n_inputs, buffers.begin());
    std::copy_n(launch->outputs, launch->n_outputs, buffers.begin() + static_cast<ptrdiff_t>(launch->n_inputs));
    auto* const kept = reinterpret_cast<std::byte*>(aligned(reinterpret_cast<uintptr_t>(launch->scratch)));
    const size_t own = arguments_ - at_.size();
    for (size_t i = 0; i < at_.size(); i++) buffers[own + i].data = kept + at_[i];
    Launch each = *launch;
    each.inputs = buffers.data(), each.n_inputs = arguments_, each.n_outputs = 0, each.scratch = kept + kept_bytes_;
    if (Status* failed = sums_.run(&each)) return failed;
    return rest_.run(&each);
  }

 private:
  static constexpr size_t kAlign = 256;
  static size_t aligned(size_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

  const size_t arguments_;
  CudaLauncher sums_, rest_;
  std::vector<size_t> at_;  // offsets in the scratch memory of what the one keeps for the other
  size_t kept_bytes_ = 0;
};

// The kernel of one text, for the sizes of its class that lead to the schedule's code.
class CudaLauncherOfClass : public LauncherOfClass {
 public:
  // `unordered`: as fusion lowered it; `ordered`: with its loops ordered.
  CudaLauncherOfClass(nvidia::CudaDevice& device, const LoweredRegionOf<Size>& unordered,
                      const LoweredRegionOf<Size>& ordered, Formulas& formulas)
      : device_(Ref<nvidia::CudaDevice>(&device)), unordered_(compile(unordered, formulas)),
        ordered_(compile(ordered, formulas)) {
    const DimReads::Pause at_hand;
    const LoweredRegion region = with_sizes<int64_t>(ordered, [](const Size& s) { return s.value(); });
    code_ = write_code(region.nest, schedule_on(device, region.nest, region.on_host));
  }
  KernelPtr launcher_for(std::shared_ptr<const std::vector<int64_t>> values) const override {
    const auto value = [&](const FormulaRef& f) { return Formulas::value(f, *values); };
    if (unordered_.reduced && split_passes(with_sizes<int64_t>(unordered_, value))) return nullptr;
    LoweredRegion region = with_sizes<int64_t>(ordered_, value);
    const CudaSchedule schedule = schedule_on(*device_, region.nest, region.on_host);
    if (text_key(region.nest, schedule) != code_->key) return nullptr;
    return std::make_unique<CudaLauncher>(*device_, std::move(region), schedule, code_);
  }

 private:
  static LoweredRegionOf<FormulaRef> compile(const LoweredRegionOf<Size>& region, Formulas& formulas) {
    return with_sizes<FormulaRef>(region, [&](const Size& s) { return formulas.add(s.dim()); });
  }
  const Ref<nvidia::CudaDevice> device_;
  const LoweredRegionOf<FormulaRef> unordered_, ordered_;
  std::shared_ptr<CudaCode> code_;
};

class CudaTarget : public Target {
 public:
  explicit CudaTarget(Devices& devices) : devices_(devices) {
    can_.max_arguments = kMostCudaArguments;
    can_.column_sums = false, can_.scans = false, can_.host_scalars = true, can_.any_extrema = true;
    can_.integer_divisions = true;
    can_.recomputed_instructions = kRecomputedInstructions;
  }

  std::string_view name() const override { return "cuda"; }
  int32_t device_kind() const override { return kCudaKind; }
  const Capabilities& capabilities() const override { return can_; }
  bool available(std::string* why) const override {
    std::string none;
    return nvidia::Driver::open(why ? *why : none) && nvidia::Compiler::open(why ? *why : none);
  }

  KernelPtr launcher(LoweredRegion region) const override {
    auto& device = static_cast<nvidia::CudaDevice&>(devices_.accelerator(region.device));
    if (auto parts = split_passes(region)) return std::make_unique<SplitLauncher>(device, std::move(*parts));
    return std::make_unique<CudaLauncher>(device, std::move(region));
  }

  // What the text of the ordered nest asks of sizes is noted; the schedule is made for each.
  std::unique_ptr<const LauncherOfClass> of_class(const LoweredRegionOf<Size>& region, const Kernel& first,
                                                  Formulas& formulas) const override {
    if (!dynamic_cast<const CudaLauncher*>(&first)) return nullptr;
    LoweredRegionOf<Size> ordered = region;
    order_loops(ordered.nest, ordered.reduced);
    print(ordered.nest);
    auto& device = static_cast<nvidia::CudaDevice&>(devices_.accelerator(region.device));
    return std::make_unique<CudaLauncherOfClass>(device, region, ordered, formulas);
  }

 private:
  Devices& devices_;
  Capabilities can_;
};

}  // namespace

std::unique_ptr<const Target> cuda_target(Devices& devices) { return std::make_unique<CudaTarget>(devices); }

}  // namespace thunder::loops
