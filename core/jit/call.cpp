// The way of a call, in order: key -> cache -> (miss: jit/compile.cpp: trace -> passes -> claim -> program) -> bind
// -> run -> results.
#include "jit/call.h"

#include <array>

#include "executors/fusion/explain.h"
#include "base/text.h"
#include "jit/compile.h"
#include "jit/pipeline.h"
#include "program/report.h"

namespace thunder {

namespace {

constexpr int64_t kRecompileLimit = 8;

constexpr std::array kOptions = {
    OptionRow{"executors", ArgKind::string, "", "Executors by name, highest priority first; host always ends the list. Without it: the built-in ones."},
    OptionRow{"disable_passes", ArgKind::string, "", "Optional passes to leave out, by name."},
    OptionRow{"float32_matmul_precision", ArgKind::string, "highest",
              "What matmul and linear of float32 may do to be faster: \"highest\" keeps float32, \"high\" takes a number as the sum of two "
              "bfloat16 (16 bits of 24 count), \"medium\" as one. Sums are float32. Without the instructions for it, and beside `executors`: highest."},
    OptionRow{"freezing", ArgKind::boolean, "false",
              "Captured tensors that the function does not write are constants: what depends on them alone is computed once, and again "
              "after they were written."},
    OptionRow{"max_autotune", ArgKind::boolean, "false",
              "Each product of float32 is timed once in several ways when it is compiled, and computed in the fastest; what was found is "
              "kept on disk. Results may differ in rounding. Beside `executors`: no effect."},
    OptionRow{"verify", ArgKind::boolean, "false", "Check the trace after every pass."},
    OptionRow{"recompile_limit", ArgKind::integer, "8", 
              "Programs kept for one function, at least 1. Past it they stay, and after one warning a call that none of them fits is "
              "compiled for itself alone, without executors that fuse."},
    OptionRow{"fail_on_recompile_limit", ArgKind::boolean, "false", "An error instead, naming what differed."},
};

// The one catch of a call: what checks and compiling throw becomes the status that the call returns.
template <class F>
Status* guarded(F&& body) noexcept {
  try {
    return body();
  } catch (const Error& e) {
    return Ref<Status>(e.status()).detach();
  } catch (const std::bad_alloc&) {
    return out_of_memory_status();
  } catch (...) {
    return status_of_internal();
  }
}

}  // namespace

std::span<const OptionRow> compile_options() { return kOptions; }

Compiled::Compiled(Ref<Context> context, Ref<Function> function, const CompileOptions* options)
    : context_(std::move(context)), function_(std::move(function)), options_(options ? make<CompileOptions>(*options) : make<CompileOptions>()) {
  options_->check(kOptions, "compile");
  context_->executors(split_list(options_->text("executors", "")), {});
  check_places(context_->passes(options_->passes()));
  const std::string precision = options_->text("float32_matmul_precision", "highest");
  require(precision == "highest" || precision == "high" || precision == "medium",
          "compile: option 'float32_matmul_precision' must be \"highest\", \"high\" or \"medium\", got \"", precision, "\"");
  const int64_t limit = options_->integer("recompile_limit", kRecompileLimit);
  require(limit >= 1, "compile: option 'recompile_limit' must be at least 1, got ", limit);
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

const Entry* Compiled::compile(const Inputs& in, std::unique_ptr<Entry>& own, InterruptCheck& check) {
  check_inputs(in);  // no key has what it refuses
  if (in.values) return compile(*in.values, own, check);
  Values values;
  for (size_t i = 0; i < in.count; i++) values.push(Ref<Tensor>(in.tensors[i]));
  return compile(values, own, check);
}

// Whether one more program may be kept; else warns once, or throws.
bool Compiled::below_limit(const std::string& why) {
  const auto kept = static_cast<int64_t>(cache_.size());
  if (kept < options_->integer("recompile_limit", kRecompileLimit)) return true;
  if (warned_ && !options_->flag("fail_on_recompile_limit", false)) return false;
  const std::string text = cat(function_->name(), ": compiled ", kept, " times, which is the recompile_limit; last miss: ", why);
  require(!options_->flag("fail_on_recompile_limit", false), text);
  context_->log(2, "cache", text + "; from now on what fits none of these programs is compiled for each call alone, without fusion");
  warned_ = true;
  return false;
}

namespace {

// Says which thread compiles for as long as it does.
class Compiling {
 public:
  explicit Compiling(std::atomic<std::thread::id>& by) : by_(by) { by_.store(std::this_thread::get_id(), std::memory_order_relaxed); }
  ~Compiling() { by_.store({}, std::memory_order_relaxed); }
  Compiling(const Compiling&) = delete;

 private:
  std::atomic<std::thread::id>& by_;
};

}  // namespace

const Entry* Compiled::compile(const Values& values, std::unique_ptr<Entry>& own, InterruptCheck& check) {
  const Inputs in{&values, nullptr, values.size()};
  // One compile a function at a time: whoever waited finds the entry that the first one made.
  require(compiler_.load(std::memory_order_relaxed) != std::this_thread::get_id(), function_->name(),
          ": called while it compiles, by what it traces or by an executor that prepares its lines");
  std::lock_guard lock(compile_mutex_);
  const Compiling now(compiler_);
  if (const Entry* entry = cache_.find(in)) return entry;
  const std::string why = cache_.why_not(in, values.paths());
  const bool keep = below_limit(why);
  auto entry = compile_entry(*context_, *function_, *options_, values, keep ? Effort::full : Effort::least, check);
  misses_++;
  trace_ns_ += static_cast<uint64_t>(entry->trace_ms * 1e6);
  transform_ns_ += static_cast<uint64_t>(entry->transform_ms * 1e6);
  compile_ns_ += static_cast<uint64_t>(entry->compile_ms * 1e6);
  {
    std::lock_guard report(report_mutex_);
    last_miss_ = why;
  }
  if (!keep) {
    apart_++;
    own = std::move(entry);
    return own.get();
  }
  entry->key = Key(in);
  return cache_.insert(std::move(entry));
}

void Compiled::check_values(const Values& in) const {
  if (in.status()) throw Error(in.status());
  require(in.complete(), function_->name(), ": a group of the inputs was not closed");
}

// Keeps alive what a call works on while code of the caller's runs, which may release the last handle of any of it.
struct Compiled::Held {
  Held(Compiled& c, const Inputs& in) : compiled(&c), values(in.values ? make<Values>(*in.values) : nullptr) {
    for (size_t i = 0; i < in.count && !in.values; i++) tensors.push_back(in.tensors[i]);
    for (Tensor* t : tensors) owned.emplace_back(t);
    inputs = {values.get(), tensors.data(), in.count};
  }

  const Ref<Compiled> compiled;
  const Ref<Values> values;
  SmallVector<Tensor*, 8> tensors;
  std::vector<Ref<Tensor>> owned;
  Inputs inputs;
};

Status* Compiled::prepare(const Values& in) noexcept {
  return guarded([&]() -> Status* {
    check_values(in);
    const Held held(*this, {&in, nullptr, in.size()});
    std::unique_ptr<Entry> own;
    InterruptCheck check(context_->interrupts());
    if (!cache_.find(held.inputs)) compile(held.inputs, own, check);
    if (!own) apart_++;
    return nullptr;
  });
}

inline Status* Compiled::run_into(const Entry& entry, const Inputs& in, Values& out, InterruptCheck& check, void* stream) {
  ResultTensors results;
  if (Status* failed = run(entry, in, &out, results, check, stream)) return failed;
  fill_results(entry, results, out);
  return nullptr;
}

Status* Compiled::call_held(const Entry* found, const Inputs& in, Values& out, InterruptCheck& check, void* stream) {
  const Held held(*this, in);
  const Ref<Values> kept(out.lent ? nullptr : &out);  // who lent them keeps them, and notices when they are released
  std::unique_ptr<Entry> own;
  return run_into(found ? *found : *compile(held.inputs, own, check), held.inputs, out, check, stream);
}

Status* Compiled::call(const Values& in, Values& out, void* stream) noexcept {
  return guarded([&]() -> Status* {
    check_values(in);
    const Inputs inputs{&in, nullptr, in.size()};
    InterruptCheck check(context_->interrupts());
    const Entry* const entry = cache_.find(inputs);
    if (!entry || entry->held) [[unlikely]]
      return call_held(entry, inputs, out, check, stream);
    return run_into(*entry, inputs, out, check, stream);
  });
}

inline Status* Compiled::run_into(const Entry& entry, const Inputs& in, Tensor** out, size_t n_out, InterruptCheck& check) {
  ResultTensors results;
  const size_t tensors = entry.program->plan().outputs.size();
  require(n_out <= tensors, function_->name(), ": returns ", tensors, " tensors, ", n_out, " were asked for");
  if (Status* failed = run(entry, in, nullptr, results, check, nullptr)) return failed;
  for (size_t i = 0; i < n_out; i++) out[i] = results.take(i).detach();
  return nullptr;
}

Status* Compiled::call_tensors_held(const Entry* found, const Inputs& in, Tensor** out, size_t n_out, InterruptCheck& check) {
  const Held held(*this, in);
  std::unique_ptr<Entry> own;
  return run_into(found ? *found : *compile(held.inputs, own, check), held.inputs, out, n_out, check);
}

Status* Compiled::call_tensors(Tensor* const* in, size_t n_in, Tensor** out, size_t n_out) noexcept {
  return guarded([&]() -> Status* {
    const Inputs inputs{nullptr, in, n_in};
    InterruptCheck check(context_->interrupts());
    const Entry* const entry = cache_.find(inputs);
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
  s.entries = cache_.size();
  s.trace_ns = trace_ns_.load();
  s.transform_ns = transform_ns_.load();
  s.compile_ns = compile_ns_.load();
  if (const Entry* e = cache_.latest()) s.peak_bytes = e->program->peak_bytes();
  return s;
}

std::string Compiled::last_miss() const {
  std::lock_guard lock(report_mutex_);
  return last_miss_;
}

std::string Compiled::memory_report() const {
  const Entry* e = cache_.latest();
  return e ? thunder::memory_report(*e->program) : "";
}

std::string Compiled::fusion_report() const {
  const Entry* e = cache_.latest();
  return e ? fusion::explain(e->traces.back(), context_->targets()) : "";
}

std::string Compiled::loops_report() const {
  const Entry* e = cache_.latest();
  return e ? thunder::loops_report(*e->program) : "";
}

std::vector<Trace> Compiled::traces() const {
  const Entry* e = cache_.latest();
  return e ? e->traces : std::vector<Trace>();
}

}  // namespace thunder
