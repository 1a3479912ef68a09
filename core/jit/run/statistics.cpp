#include "jit/run/statistics.h"

namespace thunder {
namespace {

constexpr size_t kMostRecords = 1024;

}  // namespace

void CompileLog::add_compile(const Entry& entry, std::string_view why) {
  const auto ns = [](double ms) { return static_cast<uint64_t>(ms * 1e6); };
  CompileRecord record{std::string(why), {{"trace", entry.trace_ms}}};
  for (const StageTime& t : entry.stages) record.milliseconds.emplace_back(t.name, t.milliseconds);
  const std::lock_guard lock(mutex_);
  sums_.misses++;
  sums_.trace_ns += ns(entry.trace_ms), sums_.passes_ns += ns(entry.passes_ms);
  sums_.compile_ns += ns(entry.compile_ms), sums_.plan_ns += ns(entry.plan_ms);
  last_miss_ = why;
  if (compiles_.size() == kMostRecords) compiles_.erase(compiles_.begin());
  compiles_.push_back(std::move(record));
}

void CompileLog::set_latest(std::shared_ptr<const Entry> entry) {
  const std::lock_guard lock(mutex_);
  latest_.swap(entry);
}

std::shared_ptr<const Entry> CompileLog::latest() const {
  const std::lock_guard lock(mutex_);
  return latest_;
}

std::string CompileLog::last_miss() const {
  const std::lock_guard lock(mutex_);
  return last_miss_;
}

uint64_t CompileLog::misses() const {
  const std::lock_guard lock(mutex_);
  return sums_.misses;
}

std::vector<CompileRecord> CompileLog::compile_records() const {
  const std::lock_guard lock(mutex_);
  return compiles_;
}

void CompileLog::add_to(CallStatistics& s) const {
  const std::lock_guard lock(mutex_);
  s.misses += sums_.misses, s.trace_ns += sums_.trace_ns, s.passes_ns += sums_.passes_ns;
  s.compile_ns += sums_.compile_ns, s.plan_ns += sums_.plan_ns;
}

}  // namespace thunder
