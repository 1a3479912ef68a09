#include "jit/miss.h"

#include "base/text.h"
#include "jit/compile/callers_hooks.h"
#include "jit/compile/compile.h"
#include "jit/logs/logs.h"
#include "jit/logs/trace_files.h"
#include "jit/segments/segment_call.h"

namespace thunder {
namespace {

std::vector<std::string> paths_of(const Inputs& in) {
  return in.values ? in.values->paths() : std::vector<std::string>();
}

// Says which thread compiles for as long as it does.
class Compiling {
 public:
  explicit Compiling(std::atomic<std::thread::id>& by) : by_(by) {
    by_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  }
  ~Compiling() { by_.store({}, std::memory_order_relaxed); }
  Compiling(const Compiling&) = delete;

 private:
  std::atomic<std::thread::id>& by_;
};

}  // namespace

Misses::Misses(CompiledState& state)
    : state_(state), unread_(state.segments ? without_reads(state.function) : state.function) {}

void Misses::check_inputs(const Inputs& in) const {
  const std::string& function = state_.function->name();
  require(!in.values || in.values->complete(), function, ": a group of the inputs was not closed");
  for (size_t i = 0; i < in.count; i++) {
    if (in.values && (*in.values)[i].kind != ArgKind::value) continue;
    const Tensor* t = in.tensor(i);
    require(t != nullptr, function, ": input ", i, " is NULL");
    if (t->kind() == Tensor::Kind::failed) throw Error(t->failure());
    require(t->kind() != Tensor::Kind::proxy, function, ": input ", i,
            " is a proxy; inside a traced function call it with thunder_function_apply");
  }
}

ProgramOfCall Misses::program_for(const Inputs& in, InterruptCheck& check) {
  return program_for(in, check, nullptr);
}

ProgramOfCall Misses::program_for(const Inputs& in, InterruptCheck& check, SegmentCall* segmented) {
  check_inputs(in);  // inputs that it rejects are in no key
  if (state_.context.stance() != Stance::force_eager)
    if (ProgramOfCall found = find_recent(in); found.entry) return found;
  if (must_stay_eager(in)) return {};
  if (state_.settings.cache == CacheMode::same_input)
    if (const Entry* entry = find_promised_program(in)) return {entry};
  if (in.values) return make_program(*in.values, check, segmented);
  Values values;
  for (size_t i = 0; i < in.count; i++) values.push(Ref<Tensor>(in.tensors[i]));
  return make_program(values, check, segmented);
}

ProgramOfCall Misses::find_recent(const Inputs& in) const {
  std::shared_ptr<const Entry> own = state_.dynamic ? state_.programs.find_recent(in) : nullptr;
  if (!own) return {};
  state_.apart++;
  return {own.get(), own};
}

bool Misses::must_stay_eager(const Inputs& in) {
  if (state_.settings.disable) return true;
  switch (state_.context.stance()) {
    case Stance::normal: return false;
    case Stance::force_eager:
    case Stance::eager_on_recompile: return true;
    case Stance::eager_then_compile: return !was_eager_.exchange(true, std::memory_order_relaxed);
    case Stance::fail_on_recompile: break;
  }
  fail(Code::failed_precondition, state_.function->name(),
       ": the stance is fail_on_recompile, and no program fits this call: ",
       state_.programs.explain_miss(in, paths_of(in)));
}

const Entry* Misses::find_promised_program(const Inputs& in) const {
  const Entry* entry = state_.programs.latest();
  if (!entry || !guards_hold(*entry, nullptr)) return nullptr;
  const std::string broken = entry->key.describe_change(in, paths_of(in));
  require(broken.empty(), state_.function->name(),
          ": its option cache = \"same input\" promises that inputs stay what they are, but ", broken);
  return entry;
}

std::unique_lock<std::mutex> Misses::wait_for_compile() const {
  require(compiler_.load(std::memory_order_relaxed) != std::this_thread::get_id(), "it is being compiled");
  return std::unique_lock(compile_mutex_);
}

ProgramOfCall Misses::make_program(const Values& values, InterruptCheck& check, SegmentCall* segmented) {
  const Inputs in{&values, nullptr, values.size()};
  // A function is compiled by one thread at a time: threads that waited find the first one's entry.
  require(compiler_.load(std::memory_order_relaxed) != std::this_thread::get_id(), state_.function->name(),
          ": called while it compiles, by what it traces or by an executor that prepares its lines");
  std::lock_guard lock(compile_mutex_);
  const Compiling now(compiler_);
  if (const Entry* entry = state_.caches ? state_.programs.find(in) : nullptr) return {entry};
  if (ProgramOfCall found = find_recent(in); found.entry) return found;
  const std::string why = state_.caches ? state_.programs.explain_miss(in, values.paths()) : "nothing is cached";
  const bool full = static_cast<int64_t>(state_.programs.size()) >= state_.settings.recompile_limit;
  std::unique_ptr<Entry> entry;
  if (state_.dynamic)
    entry = state_.dynamic->program_for({state_.setup, *unread_, values}, full ? DynamicSizes::all : state_.sizes,
                                        state_.programs.entries(), check);
  if (!entry) entry = record_and_compile(values, why, full, check, segmented);
  if (!entry) return {};
  state_.log.add_compile(*entry, why);
  {
    const std::lock_guard taped(state_.taped_mutex);
    if (state_.taped) state_.taped->set_compiled_last(false);
  }
  ProgramOfCall kept = keep_program(std::move(entry), in, full);
  log_compiled(state_.context, *kept.entry, why, state_.log.misses() > 1);
  write_trace_files(state_.context, state_.settings, *kept.entry);
  return kept;
}

std::unique_ptr<Entry> Misses::record_and_compile(const Values& in, const std::string& why, bool full,
                                                  InterruptCheck& check, SegmentCall* segmented) {
  using Of = RecompileLimits::Of;
  const auto plain = static_cast<int64_t>(plain_), kept = static_cast<int64_t>(state_.programs.size());
  if (state_.caches && !state_.limits.is_below_limit(Of::all, plain, why, "runs op by op", warned_of_all_))
    return nullptr;
  if (state_.caches)
    state_.limits.is_below_limit(Of::programs, kept, why,
                                 state_.dynamic ? "is kept only as long as it is among those used last"
                                                : "is compiled for each call alone, without fusion",
                                 warned_);
  const RecordEntry recording = segmented ? [&] { return segmented->record(in); }
                                          : recording_of(state_.context, *state_.function, in);
  const Effort effort = full && state_.caches && !state_.dynamic ? Effort::least : Effort::full;
  std::unique_ptr<Entry> entry = compile({state_.setup, in, check, recording, effort});
  if (entry) plain_++;
  return entry;
}

ProgramOfCall Misses::keep_program(std::unique_ptr<Entry> entry, const Inputs& in, bool full) {
  std::vector<uint32_t> any;  // integers whose value does not matter
  for (const IntegerSymbol& s : entry->integers) any.push_back(s.leaf);
  if (Function* filter = state_.settings.guard_filter_fn.get(); filter && state_.caches)
    drop_guards(state_.context, *filter, in, *entry, any);
  if (state_.caches) entry->key = Key(in, any);
  if (state_.caches && !full) {
    state_.log.set_latest(nullptr);
    return {state_.programs.insert(std::move(entry))};
  }
  state_.apart++;
  std::shared_ptr<const Entry> own = std::move(entry);
  if (state_.dynamic) state_.programs.insert_recent(in, own);
  if (state_.dynamic || !state_.caches) state_.log.set_latest(own);
  return {own.get(), own};
}

ProgramOfCall Misses::program_or_results(const Values& in, Values& out, InterruptCheck& check, void* stream) {
  SegmentCall call({state_.setup, *state_.function, state_.sizes, *state_.segments, state_.programs, state_.log,
                    state_.runner, state_.limits},
                   check, stream);
  const Inputs inputs{&in, nullptr, in.size()};
  ProgramOfCall found;
  if (!state_.segments->broken()) {
    found = program_for(inputs, check, &call);
  } else {
    check_inputs(inputs);
    const Stance stance = state_.context.stance();
    if (state_.settings.disable || stance == Stance::force_eager ||
        (stance == Stance::eager_then_compile && must_stay_eager(inputs)))
      return {};
    call.record(in);
  }
  if (!call.broken()) return found;
  state_.apart++;
  call.take_results(out);
  found.is_done = true;
  return found;
}

}  // namespace thunder
