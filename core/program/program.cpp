#include "program/program.h"

#include <algorithm>

#include "base/thrown.h"
#include "program/recorded.h"

namespace thunder {

std::vector<Accelerator*> accelerators_of(const Plan& plan, Devices& devices) {
  std::vector<Accelerator*> out;
  for (const DeviceArena& a : plan.arenas)
    out.push_back(a.device == Device::cpu ? nullptr : &devices.accelerator(a.device));
  return out;
}

Program::Program(StageTraces traces, Needed needed, Plan plan, std::span<void* const> fixed, Devices& devices,
                 ThreadPool& threads)
    : traces_(std::move(traces)), needed_(std::move(needed)), plan_(std::move(plan)), devices_(devices),
      accelerators_(accelerators_of(plan_, devices)), threads_(threads), fixed_(fixed.begin(), fixed.end()),
      n_given_(plan_.inputs.size() - fixed.size()) {
  find_stoppable();
  constants_ = allocate(&DeviceArena::constant_bytes);
  find_patches();
  share_arenas();
  try {
    first_ = make_frame();
    if (Status* failed = rerun_constant_steps()) throw Error(Ref<Status>::adopt(failed));
  } catch (...) {
    unshare_arenas();
    throw;
  }
}

void Program::enable_recording() {
  given_.resize(input_patches_.size()), asked_.resize(output_patches_.size());
  recorded_ = std::make_unique<Recorded>(*this);
  if (!std::exchange(first_->owns, true)) allocate_arenas(*first_);  // what is recorded has addresses
}

std::string Program::recording_report() const { return recorded_ ? recorded_->describe() : ""; }

Status* Program::run_recorded(Frame& frame, InterruptCheck& check) noexcept {
  return recorded_->run(frame, given_, asked_, check);
}

Program::~Program() {
  recorded_.reset();  // it launches what the steps prepared, in the frames' memory
  unshare_arenas();
}

std::string Program::explain(const Step& step) {
  if (!step.kernel) return "";
  if (step.follows) return "in the launch of the kernel before\n";
  return (step.joined ? step.joined->explain() : "") + step.kernel->explain();
}

// Finds the buffers that each call has to bind. The others keep their addresses.
void Program::find_patches() {
  for (uint32_t i = 0; i < plan_.buffers.size(); i++) {
    const BufferPlan& b = plan_.buffers[i];
    if (b.place == Place::output) output_patches_.push_back({i, b.index, b.offset});
    if (b.place != Place::input || b.index >= n_given_) continue;
    input_patches_.push_back({i, b.index, b.offset});
  }
}

void Program::find_stoppable() {
  constexpr uint64_t kLeastBytes = 4096;
  stoppable_ = stoppable_with_outputs_ = plan_.steps.size();
  for (size_t i = plan_.steps.size(); i-- > plan_.constant_steps;) {
    Step& step = plan_.steps[i];
    uint64_t bytes = 0;
    const auto look_at = [&](const Step& s) {
      for (uint32_t b = s.first; b < s.first + s.n_inputs + s.n_outputs; b++) {
        const BufferPlan& buffer = plan_.buffers[b];
        bytes += buffer.rank < 0 ? 0 : bytes_of(buffer);
        if (b < s.first + s.n_inputs) continue;
        const bool input = buffer.place == Place::input && !plan_.inputs[buffer.index].donated;
        if (input) stoppable_ = i + 1;
        if (input || buffer.place == Place::output) stoppable_with_outputs_ = i + 1;
      }
    };
    look_at(step);
    if (step.epilogue >= 0) look_at(plan_.epilogues[static_cast<size_t>(step.epilogue)]);
    step.bytes = static_cast<uint32_t>(std::clamp<uint64_t>(bytes, kLeastBytes, UINT32_MAX));
  }
}

uint64_t Program::bytes_of(const BufferPlan& b) const {
  uint64_t bytes = size_of(b.dtype);
  for (int32_t i = 0; i < b.rank; i++)
    bytes *= static_cast<uint64_t>(plan_.layouts[b.layout + static_cast<uint32_t>(i)]);
  return bytes;
}

size_t Program::peak_bytes(Device device) const {
  for (const DeviceArena& a : plan_.arenas)
    if (a.device == device) return a.bytes + a.constant_bytes + (device == Device::cpu ? kept_bytes_.load() : 0);
  return 0;
}

size_t Program::constant_bytes() const {
  size_t bytes = kept_bytes_.load();
  for (const DeviceArena& a : plan_.arenas) bytes += a.constant_bytes;
  return bytes;
}

size_t Program::plan_bytes() const {
  return plan_.buffers.size() * (sizeof(BufferPlan) + sizeof(Buffer)) + plan_.layouts.size() * sizeof(int64_t) +
         plan_.steps.size() * (sizeof(Step) + sizeof(Launch)) + plan_.slots.size() * sizeof(ArenaSlot);
}

Status* Program::prepack(const Frame& frame, size_t at) {
  const Step& step = plan_.steps[at];
  Launch launch = frame.launches[at];
  std::vector<Buffer> inputs(launch.inputs, launch.inputs + launch.n_inputs);
  bool any = false;
  for (size_t i = 0; i < inputs.size(); i++) {
    const BufferPlan& b = plan_.buffers[step.first + i];
    const bool stays = b.place == Place::constant || (b.place == Place::input && plan_.inputs[b.index].frozen);
    if (!stays) inputs[i].data = nullptr;
    any = any || stays;
  }
  if (!any) return nullptr;
  launch.inputs = inputs.data();
  Status* failed = catch_as_status([&]() -> Status* { return kept_bytes_ += step.kernel->prepack(&launch), nullptr; });
  return failed ? add_location(failed, step) : nullptr;
}

Status* Program::run_constant_steps(Frame& frame) {
  if (Status* failed = run_steps(frame, 0, 0, plan_.constant_steps, nullptr)) return failed;
  if (std::none_of(plan_.inputs.begin(), plan_.inputs.end(), [](const InputPlan& input) { return input.frozen; }))
    return nullptr;
  kept_bytes_ = 0;
  for (size_t i = plan_.constant_steps; i < plan_.steps.size(); i++)
    if (plan_.steps[i].kernel && plan_.steps[i].kernel->has(kPacks))
      if (Status* failed = prepack(frame, i)) return failed;
  return nullptr;
}

Status* Program::rerun_constant_steps() noexcept {
  Status* failed = nullptr;
  Frame* const frame = acquire(failed);
  if (!frame) return failed;
  failed = catch_as_status([&] { return run_constant_steps(*frame); });
  release(*frame);
  return failed;
}

}  // namespace thunder
