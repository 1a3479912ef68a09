// The path of a call, in order: key -> cache -> (jit/miss.cpp: jit/compile.cpp: trace -> passes -> claim -> program) ->
// bind -> run -> results.
#include "jit/call.h"

#include <algorithm>
#include <optional>

#include "base/in_use.h"
#include "base/text.h"
#include "base/thrown.h"
#include "jit/asked_function.h"
#include "jit/donations.h"
#include "jit/dynamic/dynamic.h"
#include "jit/options/resolve.h"
#include "jit/reports/debug_checks.h"
#include "jit/reports/ranges.h"
#include "jit/segments/segment_call.h"

namespace thunder {

Compiled::Compiled(Ref<Context> context, Ref<Function> function, const CompileOptions* options)
    : context_(std::move(context)),
      options_(options ? resolve_options(*options, *context_) : make<CompileOptions>()),
      settings_(options_->settings()),
      function_(wrap_with_settings(std::move(function), context_, settings_)),
      sizes_(dynamic_sizes(settings_)),
      looks_up_(!settings_.disable && settings_.cache != CacheMode::no_caching),
      runner_(*context_, *function_),
      limits_(*context_, *function_, settings_) {
  if (sizes_ != DynamicSizes::no && looks_up_) dynamic_ = std::make_unique<Dynamic>();
  if (!settings_.fullgraph) segments_ = std::make_unique<Segments>(), unread_ = without_reads(function_);
  if (auto* saved = dynamic_ ? dynamic_cast<const SavedFunction*>(function_.get()) : nullptr)
    for (const SavedProgram& p : saved->programs()) dynamic_->add(saved->name(), p);
}

Compiled::~Compiled() = default;

void Compiled::destroy() const {
  if (InUse::keep_alive_if_in_use(this)) return const_cast<Compiled*>(this)->reset_count();
  delete this;
}

void Compiled::check_inputs(const Inputs& in) const {
  for (size_t i = 0; i < in.count; i++) {
    if (in.values && (*in.values)[i].kind != ArgKind::value) continue;
    const Tensor* t = in.tensor(i);
    require(t != nullptr, function_->name(), ": input ", i, " is NULL");
    if (t->kind() == Tensor::Kind::failed) throw Error(t->failure());
    require(t->kind() != Tensor::Kind::proxy, function_->name(), ": input ", i,
            " is a proxy; inside a traced function call it with thunder_function_apply");
  }
}

void Compiled::check_values(const Values& in) const {
  if (in.status()) throw Error(in.status());
  require(in.complete(), function_->name(), ": a group of the inputs was not closed");
}

// Keeps what a call works on while it runs the caller's code, which may release the last handle of any object: a copy
// of the given values, and references to every object until the call ends.
struct Compiled::Held {
  Held(Compiled& c, const Inputs& in)
      : compiled(c),
        values(in.values ? make<Values>(*in.values) : nullptr),
        tensors(in.tensors, in.tensors + (in.values ? 0 : in.count)),
        objects(in.tensors, in.tensors + tensors.size()),
        inputs{values.get(), tensors.data(), in.count} {
    objects.push_back(&c);
    in_use.emplace(objects.data(), objects.size());
  }
  ~Held() {
    const auto taken = in_use->kept_alive();
    in_use.reset();  // first, so that the handles released below are freed at once
    for (const void* object : taken)
      if (object != &compiled) static_cast<const Tensor*>(object)->release();
    if (std::find(taken.begin(), taken.end(), &compiled) != taken.end()) compiled.release();
  }
  Held(const Held&) = delete;

  const Compiled& compiled;
  const Ref<Values> values;
  SmallVector<Tensor*, 8> tensors;  // the caller's array may change
  SmallVector<const void*, 9> objects;
  const Inputs inputs;
  std::optional<InUse> in_use;
};

namespace {

// Wraps a call that has no watch of its own in the checks, or profiler ranges, that the options ask for.
class Checked {
 public:
  Checked(Context& context, const CompileSettings& settings, const Function& function, InterruptCheck& check)
      : check_(check) {
    if (check.watch()) return;
    if (!settings.debug_checks.empty()) check.set_watch(&checks_.emplace(context, settings, function.name()));
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

}  // namespace

inline const Entry* Compiled::find(const Inputs& in) const {
  return looks_up_ && context_->stance() != Stance::force_eager ? cache_.find(in) : nullptr;
}

Status* Compiled::prepare(const Values& in) noexcept {
  return catch_as_status([&]() -> Status* {
    check_values(in);
    const Held held(*this, {&in, nullptr, in.size()});
    std::shared_ptr<const Entry> own;
    InterruptCheck check(context_->interrupts());
    const Entry* entry = find(held.inputs);
    if (!entry) entry = handle_miss(held.inputs, own, check);
    if (entry && !own) apart_++;
    return nullptr;
  });
}

[[gnu::always_inline]] inline Status* Compiled::run_into(const Entry& entry, const Inputs& in, Values& out,
                                                         InterruptCheck& check, void* stream) {
  ResultTensors results;
  if (Status* failed = runner_.run(entry, in, &out, results, check, stream)) return failed;
  ProgramRunner::fill_results(entry, results, out);
  return nullptr;
}

Status* Compiled::call_segmented(const Values& in, Values& out, InterruptCheck& check, void* stream) {
  std::shared_ptr<const Entry> own;
  bool done = false;
  const Entry* found = miss_segmented(in, out, own, check, stream, done);
  if (done) return nullptr;
  return found ? run_into(*found, {&in, nullptr, in.size()}, out, check, stream) : run_eagerly(in, out);
}

Status* Compiled::call_held(const Entry* found, const Inputs& in, Values& out, InterruptCheck& check, void* stream) {
  const Held held(*this, in);
  const Checked checked(*context_, settings_, *function_, check);
  const Ref<Values> kept(out.lent ? nullptr : &out);  // who lent them keeps them, and notices when they are released
  std::shared_ptr<const Entry> own;
  if (!found && segments_) return call_segmented(*held.values, out, check, stream);
  if (!found) found = handle_miss(held.inputs, own, check);
  if (found && !found->donated.empty()) Donations::move_donated(*found, *in.values, *held.values);
  return found ? run_into(*found, held.inputs, out, check, stream) : run_eagerly(*held.values, out);
}

Status* Compiled::call(const Values& in, Values& out, void* stream) noexcept {
  return catch_as_status([&]() -> Status* {
    check_values(in);
    const Inputs inputs{&in, nullptr, in.size()};
    InterruptCheck check(context_->interrupts());
    const Entry* const entry = find(inputs);
    if (!entry || entry->held) [[unlikely]]
      return call_held(entry, inputs, out, check, stream);
    return run_into(*entry, inputs, out, check, stream);
  });
}

Status* Compiled::call_watched(const Values& in, Values& out, StepWatch& watch) noexcept {
  return catch_as_status([&]() -> Status* {
    check_values(in);
    const Inputs inputs{&in, nullptr, in.size()};
    InterruptCheck check(context_->interrupts());
    check.set_watch(&watch);
    return call_held(find(inputs), inputs, out, check, nullptr);
  });
}

[[gnu::always_inline]] inline Status* Compiled::run_into(const Entry& entry, const Inputs& in, Tensor** out,
                                                         size_t n_out, InterruptCheck& check) {
  ResultTensors results;
  const size_t tensors = entry.program->plan().outputs.size();
  require(n_out <= tensors, function_->name(), ": returns ", tensors, " tensors, ", n_out, " were asked for");
  if (Status* failed = runner_.run(entry, in, nullptr, results, check, nullptr)) return failed;
  for (size_t i = 0; i < n_out; i++) out[i] = results.take(i).detach();
  return nullptr;
}

Status* Compiled::call_tensors_held(const Entry* found, const Inputs& in, Tensor** out, size_t n_out,
                                    InterruptCheck& check) {
  const Held held(*this, in);
  const Checked checked(*context_, settings_, *function_, check);
  std::shared_ptr<const Entry> own;
  if (!found && segments_)
    return call_with_values(held.inputs, out, n_out, [&](const Values& given, Values& taken) {
      return call_segmented(given, taken, check, nullptr);
    });
  if (!found) found = handle_miss(held.inputs, own, check);
  return found ? run_into(*found, held.inputs, out, n_out, check) : run_eagerly(held.inputs, out, n_out);
}

Status* Compiled::call_tensors(Tensor* const* in, size_t n_in, Tensor** out, size_t n_out) noexcept {
  return catch_as_status([&]() -> Status* {
    const Inputs inputs{nullptr, in, n_in};
    InterruptCheck check(context_->interrupts());
    const Entry* const entry = find(inputs);
    if (!entry || entry->held) [[unlikely]]
      return call_tensors_held(entry, inputs, out, n_out, check);
    return run_into(*entry, inputs, out, n_out, check);
  });
}

}  // namespace thunder
