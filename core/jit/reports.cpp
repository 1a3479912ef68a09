// Reports of a compiled function: counts, its programs, and the latest one.
#include <algorithm>

#include "jit/call.h"
#include "jit/dynamic/dynamic.h"
#include "jit/guards.h"
#include "jit/programs/signature.h"
#include "jit/segments/segment_call.h"
#include "loops/cpu/launcher.h"

namespace thunder {

std::shared_ptr<const Entry> Compiled::latest_backward() const {
  const std::lock_guard lock(taped_mutex_);
  return taped_ ? taped_->latest_backward() : nullptr;
}

namespace {

// Adds what calls on tapes did.
void add_to(CallStatistics& s, const CallStatistics& other) {
  s.calls += other.calls, s.hits += other.hits, s.misses += other.misses, s.entries += other.entries;
  s.trace_ns += other.trace_ns, s.passes_ns += other.passes_ns;
  s.compile_ns += other.compile_ns, s.plan_ns += other.plan_ns;
}

}  // namespace

CallStatistics Compiled::statistics() const {
  CallStatistics s;
  log_.add_to(s);
  s.calls = cache_.runs() + apart_.load();
  s.hits = s.calls > s.misses ? s.calls - s.misses : 0;
  s.entries = cache_.size() + (dynamic_ ? dynamic_->recent().size() : 0);
  s.eager_calls = eager_.load();
  if (segments_) s.segments = segments_->size(), s.graph_breaks = segments_->breaks().size();
  {
    const std::lock_guard lock(taped_mutex_);
    if (taped_) add_to(s, taped_->forward().statistics());
  }
  if (const auto e = latest()) s.peak_bytes = e->program->peak_bytes();
  return s;
}

void Compiled::set_last_profile(std::shared_ptr<const Profile> profile) {
  const std::lock_guard lock(reports_mutex_);
  last_profile_ = std::move(profile);
}

void Compiled::set_last_examination(std::shared_ptr<const Examination> examination) {
  const std::lock_guard lock(reports_mutex_);
  last_examination_ = std::move(examination);
}

std::shared_ptr<const Examination> Compiled::last_examination() const {
  const std::lock_guard lock(reports_mutex_);
  return last_examination_;
}

std::shared_ptr<const Profile> Compiled::last_profile() const {
  const std::lock_guard lock(reports_mutex_);
  return last_profile_;
}

std::vector<CompileRecord> Compiled::compile_records() const { return log_.compile_records(); }

std::string Compiled::last_miss() const { return log_.last_miss(); }

std::shared_ptr<const Entry> Compiled::latest() const {
  const std::lock_guard lock(taped_mutex_);
  if (taped_ && taped_->compiled_last()) return taped_->forward().latest();
  if (auto latest = log_.latest()) return latest;
  return {std::shared_ptr<const Entry>(), cache_.latest()};  // which the cache keeps
}

std::vector<SavedProgram> Compiled::programs() const {
  if (auto* saved = dynamic_cast<const SavedFunction*>(function_.get())) return saved->programs();
  require(compiler_.load(std::memory_order_relaxed) != std::this_thread::get_id(), "it is being compiled");
  std::lock_guard lock(compile_mutex_);
  std::vector<SavedProgram> out;
  // Programs compiled from a trace with symbols are reported there.
  for (const Entry* e : cache_.entries())
    if (guards_hold(*e, nullptr) && !e->of)
      out.push_back(saved_program(*e, *context_));
  if (dynamic_)
    for (SavedProgram& p : dynamic_->saved()) out.push_back(std::move(p));
  for (SavedProgram& p : out) name_symbols(*function_, p);
  return out;
}

std::vector<std::string> Compiled::kernels() const {
  require(compiler_.load(std::memory_order_relaxed) != std::this_thread::get_id(), "it is being compiled");
  std::lock_guard lock(compile_mutex_);
  std::vector<std::string> out;
  const auto add_from = [&out](const Entry& e) {
    for (const std::vector<Step>* steps : {&e.program->plan().steps, &e.program->plan().epilogues})
      for (const Step& step : *steps)
        if (auto* kernel = step.kernel ? dynamic_cast<const loops::CpuLauncher*>(step.kernel->launcher()) : nullptr)
          out.push_back(print(kernel->nest()));
  };
  for (const Entry* e : cache_.entries()) add_from(*e);
  if (dynamic_)
    for (const std::shared_ptr<const Entry>& e : dynamic_->recent().all()) add_from(*e);
  return out;
}

std::vector<CountedBreak> Compiled::graph_breaks() const {
  return segments_ ? segments_->breaks() : std::vector<CountedBreak>();
}

std::vector<Trace> Compiled::traces() const {
  const auto e = latest();
  return e ? e->traces.all() : std::vector<Trace>();
}

}  // namespace thunder
