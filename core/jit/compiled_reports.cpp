#include "jit/compiled_reports.h"

namespace thunder {
namespace {

// Adds what calls on tapes did.
void add_to(CallStatistics& s, const CallStatistics& other) {
  s.calls += other.calls, s.hits += other.hits, s.misses += other.misses, s.entries += other.entries;
  s.trace_ns += other.trace_ns, s.passes_ns += other.passes_ns;
  s.compile_ns += other.compile_ns, s.plan_ns += other.plan_ns;
}

}  // namespace

CallStatistics CompiledReports::statistics() const {
  CallStatistics s;
  state_.log.add_to(s);
  s.calls = state_.programs.runs() + state_.apart.load();
  s.hits = s.calls > s.misses ? s.calls - s.misses : 0;
  s.entries = state_.dynamic ? state_.programs.count_all() : state_.programs.size();
  s.eager_calls = state_.eager.load();
  s.segments = state_.programs.count_segments(), s.graph_breaks = graph_breaks().size();
  {
    const std::lock_guard lock(state_.taped_mutex);
    if (state_.taped) add_to(s, state_.taped->forward().statistics());
  }
  if (const auto e = latest()) s.peak_bytes = e->program->peak_bytes();
  return s;
}

std::shared_ptr<const Entry> CompiledReports::latest() const {
  const std::lock_guard lock(state_.taped_mutex);
  if (state_.taped && state_.taped->compiled_last()) return state_.taped->forward().latest();
  if (auto latest = state_.log.latest()) return latest;
  return {std::shared_ptr<const Entry>(), state_.programs.latest()};  // which the store keeps
}

std::shared_ptr<const Entry> CompiledReports::latest_backward() const {
  const std::lock_guard lock(state_.taped_mutex);
  return state_.taped ? state_.taped->latest_backward() : nullptr;
}

std::vector<Trace> CompiledReports::traces() const {
  const auto e = latest();
  return e ? e->traces.all() : std::vector<Trace>();
}

std::vector<CountedBreak> CompiledReports::graph_breaks() const {
  return state_.segments ? state_.segments->breaks() : std::vector<CountedBreak>();
}

void CompiledReports::set_last_profile(std::shared_ptr<const Profile> profile) {
  const std::lock_guard lock(mutex_);
  last_profile_ = std::move(profile);
}

void CompiledReports::set_last_examination(std::shared_ptr<const Examination> examination) {
  const std::lock_guard lock(mutex_);
  last_examination_ = std::move(examination);
}

std::shared_ptr<const Profile> CompiledReports::last_profile() const {
  const std::lock_guard lock(mutex_);
  return last_profile_;
}

std::shared_ptr<const Examination> CompiledReports::last_examination() const {
  const std::lock_guard lock(mutex_);
  return last_examination_;
}

}  // namespace thunder
