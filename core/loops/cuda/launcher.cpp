#include "loops/cuda/launcher.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/text.h"
#include "loops/cuda/joined.h"
#include "loops/kernel_name.h"
#include "loops/order.h"

namespace thunder::loops {
namespace {

// The dynamic shared memory that a block may have on a device.
size_t max_shared_bytes(const nvidia::CudaDevice& device) {
  constexpr size_t kDeclared = 1 << 10;
  const size_t all = device.properties().shared_bytes_of_block;
  return std::min(kMostShared, all - std::min(all, kDeclared));
}

LoweredRegion ordered(LoweredRegion region) {
  order_loops(region.nest, region.reduced);
  return region;
}

}  // namespace

CudaSchedule schedule_on(const nvidia::CudaDevice& device, const Nest& nest, const std::vector<bool>& on_host) {
  CudaSchedule schedule = cuda_schedule(nest, on_host);
  if (shared_bytes(nest, schedule) > max_shared_bytes(device))
    schedule.keep = CudaSchedule::Keep::nothing;  // the results are the same bits
  return schedule;
}

std::shared_ptr<CudaCode> write_code(const Nest& nest, const CudaSchedule& schedule) {
  auto code = std::make_shared<CudaCode>(CudaCode{kernel_name(nest), {}, text_key(nest, schedule)});
  CudaSource source = cuda_source(nest, schedule, code->name);
  if (!source.error.empty())
    fail(Code::internal, "a kernel that the target's capabilities allow is not written: ", source.error);
  code->text = std::move(source.text);
  return code;
}

CudaLauncher::CudaLauncher(nvidia::CudaDevice& device, LoweredRegion region)
    : CudaLauncher(device, ordered(std::move(region)), {}, nullptr) {}

CudaLauncher::CudaLauncher(nvidia::CudaDevice& device, LoweredRegion region, const CudaSchedule& given,
                           std::shared_ptr<CudaCode> code)
    : Kernel(this), device_(Ref<nvidia::CudaDevice>(&device)), on_host_(region.on_host), code_(std::move(code)),
      parameters_(loops::parameters(region.nest)), arguments_(region.nest.buffers.size()) {
  Nest& nest = region.nest;
  const CudaSchedule schedule = code_ ? given : schedule_on(device, nest, on_host_);
  if (!code_) code_ = write_code(nest, schedule);
  parameters_.push_back(schedule.parts);
  const auto numbers = static_cast<size_t>(std::count(on_host_.begin(), on_host_.end(), true));
  if ((arguments_ + parameters_.size() + 2 * numbers + 1) * sizeof(int64_t) > kMostParameterBytes)
    fail(Code::unimplemented, "a kernel for ", thunder::name(device.id()), " would have ", arguments_,
         " arguments and ", parameters_.size(), " sizes, which is more than its parameters hold");
  if (!code_->function) device.begin_compiling(code_->text);
  find_geometry(nest, schedule);
  if (std::any_of(nest.exprs.begin(), nest.exprs.end(), may_fail<int64_t>))
    assertion_ = device.watch([checks = region.checks](const nvidia::DeviceAssertion& r) {
      return Ref<Status>::adopt(index_error_status(checks, {r.expr, r.index}));
    });
  if (can_be_joined(nest)) schedule_ = schedule, nest_ = std::move(nest);
}

void CudaLauncher::find_geometry(const Nest& nest, const CudaSchedule& schedule) {
  const int64_t rows = count_positions(nest, 0, nest.outer);
  geometry_ = grid(count_threads(nest, schedule), schedule.threads);
  geometry_.shared_bytes = static_cast<unsigned>(shared_bytes(nest, schedule));
  splits_ = schedule.split();
  if (!splits_) return;
  finish_geometry_ = grid(count_finish_threads(nest));
  scratch_bytes_ = count_reductions(nest) * static_cast<size_t>(rows * schedule.parts) * kPartialBytes;
}

CudaLauncher::~CudaLauncher() {
  if (assertion_) device_->unwatch(assertion_);
}

void CudaLauncher::finish_compiling() {
  if (!code_->function) {
    code_->function = device_->function(code_->text, code_->name.c_str());
    if (splits_) code_->finish = device_->function(code_->text, (code_->name + "_finish").c_str());
  }
  function_ = code_->function, finish_ = code_->finish;
  // Set for every launch: kernels for rows of other lengths share the function.
  if (geometry_.shared_bytes)
    device_->allow_shared_memory(function_, static_cast<unsigned>(max_shared_bytes(*device_)));
  code_.reset();
  nest_ = {};
}

Joinable CudaLauncher::joinable() const {
  if (nest_.buffers.empty()) return {};
  return {code_->text, joined_layout(nest_, on_host_).nests};
}

KernelPtr CudaLauncher::join(std::span<const Kernel* const> all) const {
  JoinedNests nests{device_, nest_, schedule_, code_->name + "_joined", {}};
  for (const Kernel* one : all) {
    const auto& other = static_cast<const CudaLauncher&>(*one->launcher());
    nests.each.push_back({other.parameters_, count_threads(other.nest_, schedule_)});
  }
  return joined_launcher(nests);
}

Status* CudaLauncher::run(const Launch* launch) const {
  std::array<void*, kMostCudaArguments> buffers;
  std::array<int64_t, 2 * kMostCudaArguments> numbers{};
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

nvidia::Geometry CudaLauncher::grid(int64_t threads, int each) const {
  const int64_t blocks = std::clamp<int64_t>(blocks_of(threads, each), 1, max_blocks(*device_));
  return {static_cast<unsigned>(blocks), static_cast<unsigned>(each)};
}

}  // namespace thunder::loops
