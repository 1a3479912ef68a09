#include "jit/watches/debug_checks.h"

#include <algorithm>
#include <cstring>

#include "base/text.h"

namespace thunder {
namespace {

struct Bytes {
  const std::byte *begin, *end;
};

Bytes bytes_of(const Buffer& b) {
  const auto rank = static_cast<size_t>(b.rank);
  const Extent e = extent({b.shape, rank}, {b.strides, rank}, size_of(b.dtype));
  const auto* const data = static_cast<const std::byte*>(b.data);
  return {data + e.begin, data + e.end};
}

// The buffers that a launch may write.
void add_written_ranges(const Launch& launch, const Step& step, std::vector<Bytes>& out) {
  for (size_t i = 0; i < launch.n_outputs; i++)
    if (launch.outputs[i].present()) out.push_back(bytes_of(launch.outputs[i]));
  const auto* const scratch = static_cast<const std::byte*>(launch.scratch);
  if (scratch) out.push_back({scratch, scratch + step.scratch_bytes});
}

// All that a step may write: with its epilogue, and those that run in its launch.
std::vector<Bytes> find_written_ranges(const Plan& plan, size_t at, const Launch& launch) {
  std::vector<Bytes> out;
  add_written_ranges(launch, plan.steps[at], out);
  if (const int32_t epilogue = plan.steps[at].epilogue; epilogue >= 0)
    add_written_ranges(*launch.epilogue->launch, plan.epilogues[static_cast<size_t>(epilogue)], out);
  for (size_t i = at + 1; i < plan.steps.size() && plan.steps[i].follows; i++)
    add_written_ranges((&launch)[i - at], plan.steps[i], out);
  return out;
}

}  // namespace

DebugChecks::DebugChecks(Context& context, const CompileSettings& settings, std::string_view function)
    : function_(function), bounds_(settings.debug_checks.has(DebugCheck::bounds)) {
  const auto asked = [&](DebugCheck check) { return settings.debug_checks.has(check); };
  const ReferenceWatch::Checks checks{asked(DebugCheck::reference), asked(DebugCheck::nan), asked(DebugCheck::inf)};
  if (checks.values || checks.nan || checks.inf) reference_.emplace(context, checks, tolerance_of(settings));
}

void DebugChecks::before(const Program& program, size_t at, const Launch& launch) {
  if (reference_) reference_->before(program, at, launch);
  if (bounds_) before_.assign(arena_.begin(), arena_.end());
}

void DebugChecks::after(const Program& program, size_t at, const Launch& launch) {
  if (bounds_) check_bounds(program, at, launch);
  if (!reference_) return;
  reference_->after(program, at, launch);
  for (const std::vector<Difference>* found : {&reference_->wrong, &reference_->nans})
    if (!found->empty()) fail_at(at, found->front());
}

void DebugChecks::check_bounds(const Program& program, size_t at, const Launch& launch) const {
  const Step& step = program.plan().steps[at];
  if (step.follows || arena_.empty()) return;
  const std::vector<Bytes> may = find_written_ranges(program.plan(), at, launch);
  for (size_t i = 0; i < arena_.size(); i++) {
    if (arena_[i] == before_[i]) continue;
    const std::byte* const byte = arena_.data() + i;
    const bool its_own = std::any_of(may.begin(), may.end(), [&](auto& b) { return byte >= b.begin && byte < b.end; });
    if (its_own) continue;
    std::string what = cat("writes at byte ", i, " of the program's memory, which is no part of its results");
    if (!step.node) fail_at(at, {"copy", "", "", std::move(what)});
    fail_at(at, difference_at(program, *step.node, step.node->executor, std::move(what)));
  }
}

void DebugChecks::fail_at(size_t at, const Difference& found) const {
  fail(Code::failed_precondition, function_, ": debug_checks: step ", at + 1, ", ", found.op,
       found.where.empty() ? "" : cat(" at ", found.where),
       found.executor.empty() ? "" : cat(", run by executor '", found.executor, "'"), ": ", found.what,
       "; the function's repro of step ", at + 1, " is the step as a script");
}

}  // namespace thunder
