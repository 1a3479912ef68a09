// Cache misses: whether the call compiles, within which limits, and who keeps the new program.
#include "base/text.h"
#include "jit/call.h"
#include "jit/callers_hooks.h"
#include "jit/compile.h"
#include "jit/dynamic/dynamic.h"
#include "jit/reports/logs.h"
#include "jit/reports/trace_files.h"
#include "jit/segments/segment_call.h"

namespace thunder {

const Entry* Compiled::handle_miss(const Inputs& in, std::shared_ptr<const Entry>& own, InterruptCheck& check,
                                   SegmentCall* segmented) {
  check_inputs(in);  // inputs that it rejects are in no key
  if (dynamic_ && context_->stance() != Stance::force_eager)
    if ((own = dynamic_->recent().find(in))) return apart_++, own.get();
  if (must_stay_eager(in)) return nullptr;
  if (settings_.cache == CacheMode::same_input)
    if (const Entry* entry = find_promised_program(in)) return entry;
  if (in.values) return make_program(*in.values, own, check, segmented);
  Values values;
  for (size_t i = 0; i < in.count; i++) values.push(Ref<Tensor>(in.tensors[i]));
  return make_program(values, own, check, segmented);
}

// Whether this call, which no program fits, is not to be compiled.
bool Compiled::must_stay_eager(const Inputs& in) {
  if (settings_.disable) return true;
  switch (context_->stance()) {
    case Stance::normal: return false;
    case Stance::force_eager:
    case Stance::eager_on_recompile: return true;
    case Stance::eager_then_compile: return !was_eager_.exchange(true, std::memory_order_relaxed);
    case Stance::fail_on_recompile: break;
  }
  fail(Code::failed_precondition, function_->name(),
       ": the stance is fail_on_recompile, and no program fits this call: ", cache_.explain_miss(in, paths_of(in)));
}

std::vector<std::string> Compiled::paths_of(const Inputs& in) const {
  return in.values ? in.values->paths() : std::vector<std::string>();
}

const Entry* Compiled::find_promised_program(const Inputs& in) const {
  const Entry* entry = cache_.latest();
  if (!entry || !guards_hold(*entry, nullptr)) return nullptr;
  const std::string broken = entry->key.describe_change(in, paths_of(in));
  require(broken.empty(), function_->name(),
          ": its option cache = \"same input\" promises that inputs stay what they are, but ", broken);
  return entry;
}

namespace {

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

const Entry* Compiled::make_program(const Values& values, std::shared_ptr<const Entry>& own, InterruptCheck& check,
                                    SegmentCall* segmented) {
  const Inputs in{&values, nullptr, values.size()};
  // A function is compiled by one thread at a time: threads that waited find the first one's entry.
  require(compiler_.load(std::memory_order_relaxed) != std::this_thread::get_id(), function_->name(),
          ": called while it compiles, by what it traces or by an executor that prepares its lines");
  std::lock_guard lock(compile_mutex_);
  const Compiling now(compiler_);
  const bool caches = settings_.cache != CacheMode::no_caching;
  if (const Entry* entry = caches ? cache_.find(in) : nullptr) return entry;
  if (dynamic_ && (own = dynamic_->recent().find(in))) return apart_++, own.get();
  const std::string why = caches ? cache_.explain_miss(in, values.paths()) : "nothing is cached";
  const bool full = static_cast<int64_t>(cache_.size()) >= settings_.recompile_limit;
  std::unique_ptr<Entry> entry;
  if (dynamic_)
    entry = dynamic_->program_for({*context_, unread_ ? *unread_ : *function_, *options_, values},
                                  full ? DynamicSizes::all : sizes_, cache_.entries(), check);
  if (!entry) {
    using Of = RecompileLimits::Of;
    const auto plain = static_cast<int64_t>(plain_.load()), kept = static_cast<int64_t>(cache_.size());
    if (caches && !limits_.is_below_limit(Of::all, plain, why, "runs op by op", warned_of_all_)) return nullptr;
    if (caches)
      limits_.is_below_limit(Of::programs, kept, why,
                             dynamic_ ? "is kept only as long as it is among those used last"
                                      : "is compiled for each call alone, without fusion",
                             warned_);
    const RecordEntry recording = segmented ? [&] { return segmented->record(values); }
                                            : recording_of(*context_, *function_, values);
    const Effort effort = full && caches && !dynamic_ ? Effort::least : Effort::full;
    entry = compile({*context_, *options_, values, check, recording, effort});
    if (!entry) return nullptr;  // it read a value
    plain_++;
  }
  note_compiled(*entry, why);
  const Entry* const kept = keep_program(std::move(entry), in, full, own);
  log_compiled(*context_, *kept, why, log_.misses() > 1);
  write_trace_files(*context_, settings_, *kept);
  return kept;
}

// Keeps the program in the cache for good, among those that were used last, or for this call alone.
const Entry* Compiled::keep_program(std::unique_ptr<Entry> entry, const Inputs& in, bool full,
                                    std::shared_ptr<const Entry>& own) {
  const bool caches = settings_.cache != CacheMode::no_caching;
  std::vector<uint32_t> any;  // integers whose value does not matter
  for (const IntegerSymbol& s : entry->integers) any.push_back(s.leaf);
  if (Function* filter = settings_.guard_filter_fn.get(); filter && caches)
    drop_guards(*context_, *filter, in, *entry, any);
  if (caches) entry->key = Key(in, any);
  if (caches && !full) return log_.set_latest(nullptr), cache_.insert(std::move(entry));
  apart_++;
  own = std::move(entry);
  if (dynamic_) dynamic_->recent().insert(in, own);
  if (dynamic_ || !caches) log_.set_latest(own);
  return own.get();
}

void Compiled::note_compiled(const Entry& entry, const std::string& why) {
  log_.add_compile(entry, why);
  const std::lock_guard lock(taped_mutex_);
  if (taped_) taped_->set_compiled_last(false);
}

const Entry* Compiled::miss_segmented(const Values& in, Values& out, std::shared_ptr<const Entry>& own,
                                      InterruptCheck& check, void* stream, bool& done) {
  SegmentCall call({*context_, *function_, *options_, sizes_, *segments_, runner_, limits_, log_}, check, stream);
  const Inputs inputs{&in, nullptr, in.size()};
  const Entry* found = nullptr;
  if (!segments_->broken()) {
    found = handle_miss(inputs, own, check, &call);
  } else {
    check_inputs(inputs);
    const Stance stance = context_->stance();
    if (settings_.disable || stance == Stance::force_eager ||
        (stance == Stance::eager_then_compile && must_stay_eager(inputs)))
      return nullptr;
    call.record(in);
  }
  if (!call.broken()) return found;
  apart_++;
  call.take_results(out);
  done = true;
  return nullptr;
}

}  // namespace thunder
