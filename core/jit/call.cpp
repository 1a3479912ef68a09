// The path of a call, in order: key -> store -> (miss.cpp: compile/compile.cpp: trace -> passes -> claim -> program) ->
// bind -> run -> results.
#include "jit/call.h"

#include <algorithm>
#include <optional>

#include "base/in_use.h"
#include "base/text.h"
#include "base/thrown.h"
#include "jit/run/donations.h"
#include "jit/run/op_by_op.h"
#include "jit/context/resolve.h"
#include "jit/watches/debug_checks.h"
#include "jit/watches/ranges.h"

namespace thunder {

Compiled::Compiled(const CompileSetup& setup, Ref<Function> function)
    : state_(setup, std::move(function)), misses_(state_), reports_(state_) {}

Compiled::Compiled(Ref<Context> context, Ref<Function> function, const CompileOptions* options)
    : Compiled(CompileSetup{context, options ? resolve_options(*options, *context) : make<CompileOptions>()},
               std::move(function)) {}

Compiled::~Compiled() = default;

void Compiled::destroy() const {
  if (InUse::keep_alive_if_in_use(this)) return const_cast<Compiled*>(this)->reset_count();
  delete this;
}

namespace {

void check_values(const Function& function, const Values& in) {
  if (in.status()) throw Error(in.status());
  require(in.complete(), function.name(), ": a group of the inputs was not closed");
}

// Keeps what a call works on while it runs the caller's code, which may release the last handle of any object: a copy
// of the given values, and references to every object until the call ends.
class HeldInputs {
 public:
  HeldInputs(const Compiled& c, const Inputs& in)
      : compiled_(c),
        values_(in.values ? make<Values>(*in.values) : nullptr),
        tensors_(in.tensors, in.tensors + (in.values ? 0 : in.count)),
        objects_(in.tensors, in.tensors + tensors_.size()),
        inputs_{values_.get(), tensors_.data(), in.count} {
    objects_.push_back(&c);
    in_use_.emplace(objects_.data(), objects_.size());
  }
  ~HeldInputs() {
    const auto taken = in_use_->kept_alive();
    in_use_.reset();  // first, so that the handles released below are freed at once
    for (const void* object : taken)
      if (object != &compiled_) static_cast<const Tensor*>(object)->release();
    if (std::find(taken.begin(), taken.end(), &compiled_) != taken.end()) compiled_.release();
  }
  HeldInputs(const HeldInputs&) = delete;

  const Inputs& inputs() const { return inputs_; }
  Values& values() const { return *values_; }

 private:
  const Compiled& compiled_;
  const Ref<Values> values_;
  SmallVector<Tensor*, 8> tensors_;  // the caller's array may change
  SmallVector<const void*, 9> objects_;
  const Inputs inputs_;
  std::optional<InUse> in_use_;
};

// Wraps a call that has no watch of its own in the checks, or profiler ranges, that the options ask for.
class Checked {
 public:
  Checked(const CompiledState& state, InterruptCheck& check) : check_(check) {
    if (check.watch()) return;
    if (!state.settings.debug_checks.empty())
      check.set_watch(&checks_.emplace(state.context, state.settings, state.function->name()));
    else if (ranges_are_wanted()) check.set_watch(&ranges_.emplace(), false);
  }
  ~Checked() {
    if (checks_ || ranges_) check_.set_watch(nullptr);
  }
  Checked(const Checked&) = delete;

 private:
  InterruptCheck& check_;
  std::optional<DebugChecks> checks_;
  std::optional<Ranges> ranges_;
};

Status* run_op_by_op(CompiledState& state, const Values& in, Values& out) {
  Status* const failed = run_op_by_op(state.context, *state.function, in, out);
  if (!failed) state.eager++;
  return failed;
}

// The first tensors among the results.
void detach_results(const Function& function, const Values& taken, Tensor** out, size_t n_out) {
  std::vector<Ref<Tensor>> tensors;
  for (size_t i = 0; i < taken.size(); i++)
    if (taken[i].tensor) tensors.push_back(taken[i].tensor);
  require(n_out <= tensors.size(), function.name(), ": returns ", tensors.size(), " tensors, ", n_out,
          " were asked for");
  for (size_t i = 0; i < n_out; i++) out[i] = tensors[i].detach();
}

}  // namespace

inline const Entry* Compiled::find(const Inputs& in) const {
  return state_.looks_up && state_.context.stance() != Stance::force_eager ? state_.programs.find(in) : nullptr;
}

Status* Compiled::prepare(const Values& in) noexcept {
  return catch_as_status([&]() -> Status* {
    check_values(function(), in);
    const HeldInputs held(*this, {&in, nullptr, in.size()});
    InterruptCheck check(state_.context.interrupts());
    ProgramOfCall found{find(held.inputs())};
    if (!found.entry) found = misses_.program_for(held.inputs(), check);
    if (found.entry && !found.own) state_.apart++;
    return nullptr;
  });
}

[[gnu::always_inline]] inline Status* Compiled::run_into(const Entry& entry, const Inputs& in, Values& out,
                                                         InterruptCheck& check, void* stream) {
  ResultTensors results;
  if (Status* failed = state_.runner.run(entry, in, &out, results, check, stream)) return failed;
  ProgramRunner::fill_results(entry, results, out);
  return nullptr;
}

Status* Compiled::call_held(const Entry* entry, const Inputs& in, Values& out, InterruptCheck& check, void* stream) {
  const HeldInputs held(*this, in);
  const Checked checked(state_, check);
  const Ref<Values> kept(out.lent ? nullptr : &out);  // who lent them keeps them, and notices when they are released
  ProgramOfCall found{entry};
  if (!entry && state_.segments) found = misses_.program_or_results(held.values(), out, check, stream);
  else if (!entry) found = misses_.program_for(held.inputs(), check);
  if (found.is_done) return nullptr;
  if (!found.entry) return run_op_by_op(state_, held.values(), out);
  if (!found.entry->donated.empty()) Donations::move_donated(*found.entry, *in.values, held.values());
  return run_into(*found.entry, held.inputs(), out, check, stream);
}

Status* Compiled::call(const Values& in, Values& out, void* stream) noexcept {
  return catch_as_status([&]() -> Status* {
    check_values(function(), in);
    const Inputs inputs{&in, nullptr, in.size()};
    InterruptCheck check(state_.context.interrupts());
    const Entry* const entry = find(inputs);
    if (!entry || entry->held) [[unlikely]]
      return call_held(entry, inputs, out, check, stream);
    return run_into(*entry, inputs, out, check, stream);
  });
}

Status* Compiled::call_watched(const Values& in, Values& out, StepWatch& watch) noexcept {
  return catch_as_status([&]() -> Status* {
    check_values(function(), in);
    const Inputs inputs{&in, nullptr, in.size()};
    InterruptCheck check(state_.context.interrupts());
    check.set_watch(&watch);
    return call_held(find(inputs), inputs, out, check, nullptr);
  });
}

[[gnu::always_inline]] inline Status* Compiled::run_into(const Entry& entry, const Inputs& in, Tensor** out,
                                                         size_t n_out, InterruptCheck& check) {
  ResultTensors results;
  const size_t tensors = entry.program->plan().outputs.size();
  require(n_out <= tensors, function().name(), ": returns ", tensors, " tensors, ", n_out, " were asked for");
  if (Status* failed = state_.runner.run(entry, in, nullptr, results, check, nullptr)) return failed;
  for (size_t i = 0; i < n_out; i++) out[i] = results.take(i).detach();
  return nullptr;
}

Status* Compiled::call_tensors_held(const Entry* entry, const Inputs& in, Tensor** out, size_t n_out,
                                    InterruptCheck& check) {
  const HeldInputs held(*this, in);
  const Checked checked(state_, check);
  if (entry) return run_into(*entry, held.inputs(), out, n_out, check);
  const auto given = make<Values>(), taken = make<Values>();
  for (size_t i = 0; i < in.count; i++) given->push(Ref<Tensor>(in.tensors[i]));
  const ProgramOfCall found = state_.segments ? misses_.program_or_results(*given, *taken, check, nullptr)
                                              : misses_.program_for(held.inputs(), check);
  if (found.entry) return run_into(*found.entry, held.inputs(), out, n_out, check);
  if (!found.is_done)
    if (Status* failed = run_op_by_op(state_, *given, *taken)) return failed;
  detach_results(function(), *taken, out, n_out);
  return nullptr;
}

Status* Compiled::call_tensors(Tensor* const* in, size_t n_in, Tensor** out, size_t n_out) noexcept {
  return catch_as_status([&]() -> Status* {
    const Inputs inputs{nullptr, in, n_in};
    InterruptCheck check(state_.context.interrupts());
    const Entry* const entry = find(inputs);
    if (!entry || entry->held) [[unlikely]]
      return call_tensors_held(entry, inputs, out, n_out, check);
    return run_into(*entry, inputs, out, n_out, check);
  });
}

}  // namespace thunder
