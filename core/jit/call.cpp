// The way of a call, in order: key -> cache -> (miss: jit/compile.cpp: trace -> passes -> claim -> program) -> bind
// -> run -> results.
#include "jit/call.h"

#include <algorithm>

#include "base/text.h"
#include "base/thrown.h"
#include "executors/fusion/explain.h"
#include "jit/compile.h"
#include "jit/dynamic.h"
#include "jit/guards.h"
#include "jit/segment_call.h"
#include "loops/cpu/launcher.h"
#include "program/report.h"

namespace thunder {

Compiled::Compiled(Ref<Context> context, Ref<Function> function, const CompileOptions* options)
    : context_(std::move(context)),
      function_(std::move(function)),
      options_(options ? make<CompileOptions>(*options) : make<CompileOptions>()),
      settings_(call_settings(*options_, *context_)),
      looks_up_(!settings_.disable && settings_.cache != CacheMode::no_caching) {
  if (settings_.dynamic != DynamicSizes::no && looks_up_) dynamic_ = std::make_unique<Dynamic>();
  if (!settings_.fullgraph) segments_ = std::make_unique<Segments>(), unread_ = without_reads(function_);
  if (auto* saved = dynamic_ ? dynamic_cast<const SavedFunction*>(function_.get()) : nullptr)
    for (const SavedProgram& p : saved->programs()) dynamic_->add(saved->name(), p);
}

Compiled::~Compiled() = default;

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

const Entry* Compiled::miss(const Inputs& in, std::shared_ptr<const Entry>& own, InterruptCheck& check,
                            SegmentCall* segmented) {
  check_inputs(in);  // no key has what it refuses
  if (dynamic_ && context_->stance() != Stance::force_eager)
    if ((own = dynamic_->plans().find(in))) return apart_++, own.get();
  if (stays_eager(in)) return nullptr;
  if (settings_.cache == CacheMode::same_input)
    if (const Entry* entry = promised(in)) return entry;
  return compile(in, own, check, segmented);
}

// Whether this call, which no program fits, is not to be compiled.
bool Compiled::stays_eager(const Inputs& in) {
  if (settings_.disable) return true;
  switch (context_->stance()) {
    case Stance::normal: return false;
    case Stance::force_eager:
    case Stance::eager_on_recompile: return true;
    case Stance::eager_then_compile: return !was_eager_.exchange(true, std::memory_order_relaxed);
    case Stance::fail_on_recompile: break;
  }
  fail(Code::failed_precondition, function_->name(),
       ": the stance is fail_on_recompile, and no program fits this call: ", cache_.why_not(in, paths_of(in)));
}

std::vector<std::string> Compiled::paths_of(const Inputs& in) const {
  return in.values ? in.values->paths() : std::vector<std::string>();
}

const Entry* Compiled::promised(const Inputs& in) const {
  const Entry* entry = cache_.latest();
  if (!entry || !guards_hold(*entry, nullptr)) return nullptr;
  const std::string broken = entry->key.broken_promise(in, paths_of(in));
  require(broken.empty(), function_->name(),
          ": its option cache = \"same input\" promises that inputs stay what they are, but ", broken);
  return entry;
}

const Entry* Compiled::compile(const Inputs& in, std::shared_ptr<const Entry>& own, InterruptCheck& check,
                               SegmentCall* segmented) {
  if (in.values) return compile(*in.values, own, check, segmented);
  Values values;
  for (size_t i = 0; i < in.count; i++) values.push(Ref<Tensor>(in.tensors[i]));
  return compile(values, own, check, segmented);
}

bool Compiled::below(int64_t done, int64_t limit, std::string_view name, const std::string& why, std::string_view then,
                     bool& warned) const {
  if (done < limit) return true;
  if (warned && !settings_.fail_on_limit) return false;
  const std::string text =
      cat(function_->name(), ": compiled ", done, " times, which is the ", name, "; last miss: ", why);
  require(!settings_.fail_on_limit, text);
  context_->log(2, "cache", cat(text, "; from now on what fits none of these programs ", then));
  warned = true;
  return false;
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

std::unique_ptr<Entry> Compiled::compile_now(const Values& in, Effort effort, InterruptCheck& check,
                                             SegmentCall* segmented) {
  if (!segmented) return compile_entry(*context_, *function_, *options_, in, effort, check);
  std::unique_ptr<Entry> entry = segmented->record(in);
  if (entry) compile_recorded(*context_, *options_, in, effort, check, *entry);
  return entry;
}

const Entry* Compiled::compile(const Values& values, std::shared_ptr<const Entry>& own, InterruptCheck& check,
                               SegmentCall* segmented) {
  const Inputs in{&values, nullptr, values.size()};
  // One compile a function at a time: whoever waited finds the entry that the first one made.
  require(compiler_.load(std::memory_order_relaxed) != std::this_thread::get_id(), function_->name(),
          ": called while it compiles, by what it traces or by an executor that prepares its lines");
  std::lock_guard lock(compile_mutex_);
  const Compiling now(compiler_);
  const bool caches = settings_.cache != CacheMode::no_caching;
  if (const Entry* entry = caches ? cache_.find(in) : nullptr) return entry;
  if (dynamic_ && (own = dynamic_->plans().find(in))) return apart_++, own.get();
  const std::string why = caches ? cache_.why_not(in, values.paths()) : "nothing is cached";
  const bool full = static_cast<int64_t>(cache_.size()) >= settings_.recompile_limit;
  std::unique_ptr<Entry> entry;
  if (dynamic_)
    entry = dynamic_->compile({*context_, unread_ ? *unread_ : *function_, *options_, values},
                              full ? DynamicSizes::all : settings_.dynamic, cache_.entries(), check);
  if (!entry) {
    if (caches && !below(static_cast<int64_t>(plain_.load()), settings_.accumulated_limit,
                         "accumulated_recompile_limit", why, "runs op by op", warned_of_all_))
      return nullptr;
    if (caches)
      below(static_cast<int64_t>(cache_.size()), settings_.recompile_limit, "recompile_limit", why,
            dynamic_ ? "is kept only as long as it is among those used last"
                     : "is compiled for each call alone, without fusion",
            warned_);
    entry = compile_now(values, full && caches && !dynamic_ ? Effort::least : Effort::full, check, segmented);
    if (!entry) return nullptr;  // it read a value
    plain_++;
  }
  note_compiled(*entry, why);
  return keep(std::move(entry), in, full, own);
}

// In the cache, among the programs that were used last, or for this call alone.
const Entry* Compiled::keep(std::unique_ptr<Entry> entry, const Inputs& in, bool full,
                            std::shared_ptr<const Entry>& own) {
  std::lock_guard report(report_mutex_);
  const bool caches = settings_.cache != CacheMode::no_caching;
  std::vector<uint32_t> any;  // integers whose value does not matter
  for (const IntegerSymbol& s : entry->integers) any.push_back(s.leaf);
  if (caches) entry->key = Key(in, any);
  if (caches && !full) return last_ = nullptr, cache_.insert(std::move(entry));
  apart_++;
  own = std::move(entry);
  if (dynamic_) dynamic_->plans().insert(own);
  if (dynamic_ || !caches) last_ = own;
  return own.get();
}

void Compiled::note_compiled(const Entry& entry, const std::string& why) {
  misses_++;
  trace_ns_ += static_cast<uint64_t>(entry.trace_ms * 1e6);
  transform_ns_ += static_cast<uint64_t>(entry.transform_ms * 1e6);
  compile_ns_ += static_cast<uint64_t>(entry.compile_ms * 1e6);
  std::lock_guard report(report_mutex_);
  last_miss_ = why;
}

void Compiled::check_values(const Values& in) const {
  if (in.status()) throw Error(in.status());
  require(in.complete(), function_->name(), ": a group of the inputs was not closed");
}

// Keeps alive what a call works on while code of the caller's runs, which may release the last handle of any of it.
struct Compiled::Held {
  Held(Compiled& c, const Inputs& in) : compiled(&c), values(in.values ? make<Values>(*in.values) : nullptr) {
    for (size_t i = 0; i < in.count && !in.values; i++) tensors.push_back(in.tensors[i]);
    for (Tensor* t : tensors) Ref<Tensor>(t).detach();
    inputs = {values.get(), tensors.data(), in.count};
  }
  ~Held() {
    for (Tensor* t : tensors) Ref<Tensor>::adopt(t);
  }
  Held(const Held&) = delete;

  const Ref<Compiled> compiled;
  const Ref<Values> values;
  SmallVector<Tensor*, 8> tensors;  // each retained once
  Inputs inputs;
};

inline const Entry* Compiled::find(const Inputs& in) const {
  return looks_up_ && context_->stance() != Stance::force_eager ? cache_.find(in) : nullptr;
}

Status* Compiled::prepare(const Values& in) noexcept {
  return caught([&]() -> Status* {
    check_values(in);
    const Held held(*this, {&in, nullptr, in.size()});
    std::shared_ptr<const Entry> own;
    InterruptCheck check(context_->interrupts());
    const Entry* entry = find(held.inputs);
    if (!entry) entry = miss(held.inputs, own, check);
    if (entry && !own) apart_++;
    return nullptr;
  });
}

[[gnu::always_inline]] inline Status* Compiled::run_into(const Entry& entry, const Inputs& in, Values& out,
                                                         InterruptCheck& check, void* stream) {
  ResultTensors results;
  if (Status* failed = run(entry, in, &out, results, check, stream)) return failed;
  fill_results(entry, results, out);
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
  const Ref<Values> kept(out.lent ? nullptr : &out);  // who lent them keeps them, and notices when they are released
  std::shared_ptr<const Entry> own;
  if (!found && segments_) return call_segmented(*held.values, out, check, stream);
  if (!found) found = miss(held.inputs, own, check);
  return found ? run_into(*found, held.inputs, out, check, stream) : run_eagerly(*held.values, out);
}

Status* Compiled::call(const Values& in, Values& out, void* stream) noexcept {
  return caught([&]() -> Status* {
    check_values(in);
    const Inputs inputs{&in, nullptr, in.size()};
    InterruptCheck check(context_->interrupts());
    const Entry* const entry = find(inputs);
    if (!entry || entry->held) [[unlikely]]
      return call_held(entry, inputs, out, check, stream);
    return run_into(*entry, inputs, out, check, stream);
  });
}

[[gnu::always_inline]] inline Status* Compiled::run_into(const Entry& entry, const Inputs& in, Tensor** out,
                                                         size_t n_out, InterruptCheck& check) {
  ResultTensors results;
  const size_t tensors = entry.program->plan().outputs.size();
  require(n_out <= tensors, function_->name(), ": returns ", tensors, " tensors, ", n_out, " were asked for");
  if (Status* failed = run(entry, in, nullptr, results, check, nullptr)) return failed;
  for (size_t i = 0; i < n_out; i++) out[i] = results.take(i).detach();
  return nullptr;
}

Status* Compiled::call_tensors_held(const Entry* found, const Inputs& in, Tensor** out, size_t n_out,
                                    InterruptCheck& check) {
  const Held held(*this, in);
  std::shared_ptr<const Entry> own;
  if (!found && segments_)
    return as_values(held.inputs, out, n_out,
                     [&](const Values& given, Values& taken) { return call_segmented(given, taken, check, nullptr); });
  if (!found) found = miss(held.inputs, own, check);
  return found ? run_into(*found, held.inputs, out, n_out, check) : run_eagerly(held.inputs, out, n_out);
}

Status* Compiled::call_tensors(Tensor* const* in, size_t n_in, Tensor** out, size_t n_out) noexcept {
  return caught([&]() -> Status* {
    const Inputs inputs{nullptr, in, n_in};
    InterruptCheck check(context_->interrupts());
    const Entry* const entry = find(inputs);
    if (!entry || entry->held) [[unlikely]]
      return call_tensors_held(entry, inputs, out, n_out, check);
    return run_into(*entry, inputs, out, n_out, check);
  });
}

CallStatistics Compiled::statistics() const {
  CallStatistics s;
  s.calls = cache_.runs() + apart_.load();
  s.misses = misses_.load();
  s.hits = s.calls > s.misses ? s.calls - s.misses : 0;
  s.entries = cache_.size() + (dynamic_ ? dynamic_->plans().size() : 0);
  s.trace_ns = trace_ns_.load();
  s.transform_ns = transform_ns_.load();
  s.compile_ns = compile_ns_.load();
  s.eager_calls = eager_.load();
  if (segments_) s.segments = segments_->size(), s.graph_breaks = segments_->breaks().size();
  if (const auto e = latest()) s.peak_bytes = e->program->peak_bytes();
  return s;
}

std::string Compiled::last_miss() const {
  std::lock_guard lock(report_mutex_);
  return last_miss_;
}

std::shared_ptr<const Entry> Compiled::latest() const {
  std::lock_guard report(report_mutex_);
  if (last_) return last_;
  return {std::shared_ptr<const Entry>(), cache_.latest()};  // which the cache keeps
}

std::vector<SavedProgram> Compiled::programs() const {
  if (auto* saved = dynamic_cast<const SavedFunction*>(function_.get())) return saved->programs();
  require(compiler_.load(std::memory_order_relaxed) != std::this_thread::get_id(), "it is being compiled");
  std::lock_guard lock(compile_mutex_);
  std::vector<SavedProgram> out;
  // What was compiled of a trace with symbols is in that.
  const auto has_formula = [](const Entry& e) {
    return std::any_of(e.bindings.begin(), e.bindings.end(), [](const Binding& b) { return b.formula; });
  };
  for (const Entry* e : cache_.entries())
    if (guards_hold(*e, nullptr) && (!e->of || !e->of->in_file()) && e->integers.empty() && !has_formula(*e))
      out.push_back(saved_program(*e, *context_));
  if (dynamic_)
    for (SavedProgram& p : dynamic_->saved()) out.push_back(std::move(p));
  return out;
}

std::vector<std::string> Compiled::kernels() const {
  require(compiler_.load(std::memory_order_relaxed) != std::this_thread::get_id(), "it is being compiled");
  std::lock_guard lock(compile_mutex_);
  std::vector<std::string> out;
  const auto add_from = [&out](const Entry& e) {
    for (const std::vector<Step>* steps : {&e.program->plan().steps, &e.program->plan().epilogues})
      for (const Step& step : *steps)
        if (auto* kernel = dynamic_cast<const loops::CpuLauncher*>(e.program->launcher(step)))
          out.push_back(print(kernel->nest()));
  };
  for (const Entry* e : cache_.entries()) add_from(*e);
  if (dynamic_)
    for (const std::shared_ptr<const Entry>& e : dynamic_->plans().all()) add_from(*e);
  return out;
}

std::string Compiled::memory_report() const {
  const auto e = latest();
  return e ? thunder::memory_report(*e->program) : "";
}

std::string Compiled::fusion_report() const {
  const auto e = latest();
  return e ? fusion::explain(e->traces.back(), context_->targets()) : "";
}

std::string Compiled::guards_report() const {
  const auto e = latest();
  return e ? thunder::guards_report(*e) : "";
}

std::vector<CountedBreak> Compiled::graph_breaks() const {
  return segments_ ? segments_->breaks() : std::vector<CountedBreak>();
}

std::string Compiled::breaks_report() const {
  std::string out;
  for (const CountedBreak& b : graph_breaks())
    out +=
        cat(b.at.where.empty() ? "at a place that is not known" : b.at.where, ": ", b.at.reason, ", after ", b.at.lines,
            b.at.lines == 1 ? " line" : " lines", "; ", b.times, b.times == 1 ? " time" : " times", "\n");
  return out;
}

std::string Compiled::loops_report() const {
  const auto e = latest();
  return e ? thunder::loops_report(*e->program) : "";
}

std::vector<Trace> Compiled::traces() const {
  const auto e = latest();
  return e ? e->traces : std::vector<Trace>();
}

}  // namespace thunder
