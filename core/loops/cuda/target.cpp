#include "loops/cuda/target.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/text.h"
#include "device/cuda/compiler.h"
#include "device/cuda/device.h"
#include "loops/cuda/source.h"
#include "loops/order.h"

namespace thunder::loops {
namespace {

constexpr size_t kMostArguments = 128;
constexpr size_t kMostParameterBytes = 4096;  // of all of a kernel's parameters, on every architecture
constexpr int64_t kBlocksOfMultiprocessor = 16;
// Rows of fewer elements are reduced by a thread each: most threads of a block would have nothing to do.
constexpr int64_t kShortRow = 32;

// The elements that a map reaches from its origin, at most.
int64_t reach(const Nest& nest, const Map& map, int64_t offset) {
  int64_t far = std::abs(offset);
  for (uint32_t a = 0; a < nest.axes(); a++) far += std::abs(map[a]) * std::max<int64_t>(0, nest.extents[a] - 1);
  return far;
}

int64_t elements(const Nest& nest, uint32_t begin, uint32_t end) {
  int64_t n = 1;
  for (uint32_t a = begin; a < end; a++) n *= nest.extents[a];
  return n;
}

// Strides over a grid must not overflow either.
bool is_narrow(const Nest& nest) {
  constexpr int64_t kMost = int64_t{1} << 30;
  bool narrow = elements(nest, 0, nest.outer + nest.inner) < kMost;
  for (const Map& map : nest.maps) narrow = narrow && reach(nest, map, 0) < kMost;
  for (const Expr& e : nest.exprs) narrow = narrow && (e.fn == Fn::uniform || std::abs(e.offset) < kMost);
  for (const Output& s : nest.stores) narrow = narrow && std::abs(s.offset) < kMost;
  return narrow;
}

// Threads next to each other read next to each other along the last outer axis, where the inner ones are no such way, or are short.
CudaSchedule::Rows rows_of(const Nest& nest) {
  const Map& main = main_map(nest);
  const uint32_t last = nest.outer + nest.inner - 1;
  const bool down = nest.outer > 0 && std::abs(main[nest.outer - 1]) == 1 && std::abs(main[last]) != 1;
  return down || nest.row_elements() <= kShortRow ? CudaSchedule::Rows::thread : CudaSchedule::Rows::block;
}

// Rows that are too few to keep a device busy are cut into parts, by the shapes alone: the same bits on every device.
int64_t parts_of(const Nest& nest, CudaSchedule::Rows rows) {
  constexpr int64_t kThreads = 1 << 17, kBlocks = 1 << 10, kLeastOfThread = 16, kLeastOfBlock = 4096;
  if (!splits(nest)) return 1;
  const bool block = rows == CudaSchedule::Rows::block;
  const int64_t count = elements(nest, 0, nest.outer), least = block ? kLeastOfBlock : kLeastOfThread;
  return std::clamp<int64_t>((block ? kBlocks : kThreads) / std::max<int64_t>(1, count), 1, std::max<int64_t>(1, nest.row_elements() / least));
}

class CudaLauncher : public Launcher {
 public:
  CudaLauncher(nvidia::CudaDevice& device, LoweredRegion region) : device_(Ref<nvidia::CudaDevice>(&device)), on_host_(region.on_host) {
    Nest& nest = region.nest;
    order_loops(nest, region.reduced);
    CudaSchedule schedule{rows_of(nest), is_narrow(nest), false, region.on_host};
    const int64_t parts = parts_of(nest, schedule.rows);
    schedule.split = parts > 1;
    const CudaSource source = cuda_source(nest, schedule, "kernel");
    if (!source.error.empty()) fail(Code::internal, "a kernel that the target's capabilities allow is not written: ", source.error);
    parameters_ = loops::parameters(nest);
    parameters_.push_back(parts);
    arguments_ = nest.buffers.size();
    const auto numbers = static_cast<size_t>(std::count(on_host_.begin(), on_host_.end(), true));
    if ((arguments_ + parameters_.size() + 2 * numbers + 1) * sizeof(int64_t) > kMostParameterBytes)
      fail(Code::unimplemented, "a kernel for ", thunder::name(device.id()), " would have ", arguments_, " arguments and ", parameters_.size(),
           " sizes, which is more than its parameters hold");
    function_ = device.function(source.text, "kernel");
    const bool by_block = reduces(nest) && schedule.rows == CudaSchedule::Rows::block;
    const int64_t rows = elements(nest, 0, nest.outer);
    geometry_ = grid(reduces(nest) ? rows * parts : elements(nest, 0, nest.outer + nest.inner), by_block);
    if (schedule.split) {
      finish_ = device.function(source.text, "kernel_finish");
      finish_geometry_ = grid(rows, false);
      scratch_bytes_ = partial_results(nest) * static_cast<size_t>(rows * parts) * kPartialBytes;
    }
    if (std::any_of(nest.exprs.begin(), nest.exprs.end(), [](const Expr& e) { return e.fn == Fn::pick; }))
      refusal_ = device.watch([checks = region.checks](const nvidia::Refusal& r) {
        return Ref<Status>::adopt(out_of_range(checks, {r.expr, r.index}));
      });
  }
  ~CudaLauncher() override {
    if (refusal_) device_->unwatch(refusal_);
  }

  size_t scratch_bytes() const override { return scratch_bytes_; }

  Status* run(const Launch& launch) const override {
    std::array<void*, kMostArguments> buffers;
    std::array<int64_t, 2 * kMostArguments> numbers{};
    size_t number = 0;
    for (size_t i = 0; i < arguments_; i++) {
      const Buffer& b = i < launch.n_inputs ? launch.inputs[i] : launch.outputs[i - launch.n_inputs];
      buffers[i] = b.data;
      if (i < on_host_.size() && on_host_[i]) std::memcpy(&numbers[2 * number++], b.data, static_cast<size_t>(b.elements()) * size_of(b.dtype));
    }
    nvidia::Refusal* refusal = refusal_;
    void* scratch = launch.scratch;
    void* parameters[] = {buffers.data(), const_cast<int64_t*>(parameters_.data()), numbers.data(), &refusal, &scratch};
    if (Status* failed = device_->launch(function_, geometry_, parameters, "a fused kernel")) return failed;
    return finish_ ? device_->launch(finish_, finish_geometry_, parameters, "a fused kernel") : nullptr;
  }

 private:
  // A block, or a thread, for each piece of work, as far as the device runs them at a time.
  nvidia::Geometry grid(int64_t work, bool by_block) const {
    const int64_t blocks = by_block ? work : (work + kCudaThreads - 1) / kCudaThreads;
    const int64_t most = kBlocksOfMultiprocessor * std::max(1, device_->properties().multiprocessors);
    return {static_cast<unsigned>(std::clamp<int64_t>(blocks, 1, most)), kCudaThreads};
  }

  const Ref<nvidia::CudaDevice> device_;
  const std::vector<bool> on_host_;
  std::vector<int64_t> parameters_;
  size_t arguments_ = 0;
  nvidia::Function function_ = nullptr, finish_ = nullptr;  // finish: joins the parts of rows; null: they are whole
  nvidia::Geometry geometry_, finish_geometry_;
  size_t scratch_bytes_ = 0;
  nvidia::Refusal* refusal_ = nullptr;
};

class CudaTarget : public Target {
 public:
  explicit CudaTarget(Devices& devices) : devices_(devices) {
    can_.max_arguments = kMostArguments;
    can_.column_sums = false, can_.scans = false, can_.host_scalars = true;
  }

  std::string_view name() const override { return "cuda"; }
  int32_t device_kind() const override { return kCudaKind; }
  const Capabilities& capabilities() const override { return can_; }
  bool available(std::string* why) const override {
    std::string none;
    return nvidia::Driver::open(why ? *why : none) && nvidia::Compiler::open(why ? *why : none);
  }

  std::unique_ptr<Launcher> launcher(LoweredRegion region) const override {
    auto& device = static_cast<nvidia::CudaDevice&>(devices_.accelerator(region.device));
    return std::make_unique<CudaLauncher>(device, std::move(region));
  }

 private:
  Devices& devices_;
  Capabilities can_;
};

}  // namespace

std::unique_ptr<const Target> cuda_target(Devices& devices) { return std::make_unique<CudaTarget>(devices); }

}  // namespace thunder::loops
