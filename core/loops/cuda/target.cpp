#include "loops/cuda/target.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/text.h"
#include "device/cuda/compiler.h"
#include "device/cuda/device.h"
#include "loops/cuda/fission.h"
#include "loops/cuda/joined.h"
#include "loops/cuda/source.h"
#include "loops/kernel_name.h"
#include "loops/order.h"

namespace thunder::loops {
namespace {

constexpr size_t kMostArguments = 128;
// An H100 moves 3.35e12 bytes and executes 132 * 128 * 1.75e9 instructions a second: about 70 in the time that 4 bytes
// take to be written and read.
constexpr size_t kRecomputedInstructions = 64;

class CudaLauncher : public Kernel {
 public:
  CudaLauncher(nvidia::CudaDevice& device, LoweredRegion region)
      : Kernel(this), device_(Ref<nvidia::CudaDevice>(&device)), on_host_(region.on_host) {
    Nest& nest = region.nest;
    order_loops(nest, region.reduced);
    CudaSchedule schedule = cuda_schedule(nest, on_host_);
    if (shared_bytes(nest, schedule) > max_shared_bytes())
      schedule.keep = CudaSchedule::Keep::nothing;  // the results are the same bits
    const std::string name = kernel_name(nest);
    const CudaSource source = cuda_source(nest, schedule, name);
    if (!source.error.empty())
      fail(Code::internal, "a kernel that the target's capabilities allow is not written: ", source.error);
    parameters_ = loops::parameters(nest);
    parameters_.push_back(schedule.parts);
    arguments_ = nest.buffers.size();
    const auto numbers = static_cast<size_t>(std::count(on_host_.begin(), on_host_.end(), true));
    if ((arguments_ + parameters_.size() + 2 * numbers + 1) * sizeof(int64_t) > kMostParameterBytes)
      fail(Code::unimplemented, "a kernel for ", thunder::name(device.id()), " would have ", arguments_,
           " arguments and ", parameters_.size(), " sizes, which is more than its parameters hold");
    text_ = source.text, name_ = name;
    if (can_be_joined(nest)) schedule_ = schedule, nest_ = nest;
    device.begin_compiling(text_);
    const int64_t rows = count_positions(nest, 0, nest.outer);
    geometry_ = grid(count_threads(nest, schedule), schedule.threads);
    geometry_.shared_bytes = static_cast<unsigned>(shared_bytes(nest, schedule));
    splits_ = schedule.split();
    if (splits_) {
      finish_geometry_ = grid(count_finish_threads(nest));
      scratch_bytes_ = count_reductions(nest) * static_cast<size_t>(rows * schedule.parts) * kPartialBytes;
    }
    if (std::any_of(nest.exprs.begin(), nest.exprs.end(), may_fail<int64_t>))
      assertion_ = device.watch([checks = region.checks](const nvidia::DeviceAssertion& r) {
        return Ref<Status>::adopt(index_error_status(checks, {r.expr, r.index}));
      });
  }
  ~CudaLauncher() override {
    if (assertion_) device_->unwatch(assertion_);
  }

  size_t scratch() const override { return scratch_bytes_; }

  void finish_compiling() override {
    function_ = device_->function(text_, name_.c_str());
    // Set for every launch: kernels for rows of other lengths share the function.
    if (geometry_.shared_bytes) device_->allow_shared_memory(function_, static_cast<unsigned>(max_shared_bytes()));
    if (splits_) finish_ = device_->function(text_, (name_ + "_finish").c_str());
    text_.clear(), text_.shrink_to_fit();
    nest_ = {};
  }

  Joinable joinable() const override {
    if (nest_.buffers.empty()) return {};
    return {text_, joined_layout(nest_, on_host_).nests};
  }

  KernelPtr join(std::span<const Kernel* const> all) const override {
    JoinedNests nests{device_, nest_, schedule_, name_ + "_joined", {}};
    for (const Kernel* one : all) {
      const auto& other = static_cast<const CudaLauncher&>(*one->launcher());
      nests.each.push_back({other.parameters_, count_threads(other.nest_, schedule_)});
    }
    return joined_launcher(nests);
  }

  const Kernel* launcher() const override { return this; }

  Status* run(const Launch* launch) const {
    std::array<void*, kMostArguments> buffers;
    std::array<int64_t, 2 * kMostArguments> numbers{};
    size_t number = 0;
    for (size_t i = 0; i < arguments_; i++) {
      const Buffer& b = i < launch->n_inputs ? launch->inputs[i] : launch->outputs[i - launch->n_inputs];
      buffers[i] = b.data;
      if (i < on_host_.size() && on_host_[i])
        std::memcpy(&numbers[2 * number++], b.data, static_cast<size_t>(b.elements()) * size_of(b.dtype));
    }
    nvidia::DeviceAssertion* assertion = assertion_;
    void* scratch = launch->scratch;
    void* parameters[] = {buffers.data(), const_cast<int64_t*>(parameters_.data()), numbers.data(), &assertion,
                          &scratch};
    if (Status* failed = device_->launch(function_, geometry_, parameters, "a fused kernel")) return failed;
    return finish_ ? device_->launch(finish_, finish_geometry_, parameters, "a fused kernel") : nullptr;
  }

 private:
  // The dynamic shared memory that a block may have on this device.
  size_t max_shared_bytes() const {
    constexpr size_t kDeclared = 1 << 10;
    const size_t all = device_->properties().shared_bytes_of_block;
    return std::min(kMostShared, all - std::min(all, kDeclared));
  }
  // The number of blocks for these threads, at most as many as run on the device at a time.
  nvidia::Geometry grid(int64_t threads, int each = kCudaThreads) const {
    const int64_t blocks = std::clamp<int64_t>(blocks_of(threads, each), 1, max_blocks(*device_));
    return {static_cast<unsigned>(blocks), static_cast<unsigned>(each)};
  }

  const Ref<nvidia::CudaDevice> device_;
  const std::vector<bool> on_host_;
  std::string text_, name_;  // the text until it is compiled
  Nest nest_;  // until then, if others may be joined with it
  CudaSchedule schedule_;
  std::vector<int64_t> parameters_;
  size_t arguments_ = 0;
  nvidia::Function function_ = nullptr, finish_ = nullptr;  // finish: joins the parts of rows; null: they are whole
  nvidia::Geometry geometry_, finish_geometry_;
  bool splits_ = false;
  size_t scratch_bytes_ = 0;
  nvidia::DeviceAssertion* assertion_ = nullptr;
};

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
    std::array<Buffer, kMostArguments> buffers;
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

class CudaTarget : public Target {
 public:
  explicit CudaTarget(Devices& devices) : devices_(devices) {
    can_.max_arguments = kMostArguments;
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

 private:
  Devices& devices_;
  Capabilities can_;
};

}  // namespace

std::unique_ptr<const Target> cuda_target(Devices& devices) { return std::make_unique<CudaTarget>(devices); }

}  // namespace thunder::loops
