#include "jit/reports/profile.h"

#include <algorithm>
#include <chrono>
#include <map>

#include "base/text.h"
#include "base/thread_watch.h"
#include "executors/collectives.h"
#include "jit/call.h"
#include "ops/world_collectives.h"
#include "program/cost.h"
#include "program/watch.h"

namespace thunder {
namespace {

int64_t now_ns() { return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1); }

double median(std::vector<double> all) {
  if (all.empty()) return 0;
  const auto middle = all.begin() + static_cast<ptrdiff_t>(all.size() / 2);
  std::nth_element(all.begin(), middle, all.end());
  return *middle;
}

// The user's lines, each once, in order.
std::string join_source_lines(const Node& node) {
  std::vector<std::string_view> seen;
  for (const Node* n : nodes_of(node))
    if (n->where && std::find(seen.begin(), seen.end(), n->where) == seen.end()) seen.push_back(n->where);
  return join(seen, ", ", [](std::string_view s) { return s; });
}

ProfiledStep describe_step(const Program& program, size_t at) {
  const Plan& plan = program.plan();
  const Step& step = plan.steps[at];
  ProfiledStep out;
  const auto add = [&](const Step& s) {
    out.bytes += bytes_of(plan, s);
    if (s.node) out.flops += flops_of(*s.node, *program.trace().store);
  };
  add(step);
  out.ops = "copy";
  if (step.node) {
    out.ops = ops_of(*step.node);
    out.executor = step.node->executor ? step.node->executor : "";
    out.where = join_source_lines(*step.node);
  }
  if (step.epilogue < 0) return out;
  const Step& epilogue = plan.epilogues[static_cast<size_t>(step.epilogue)];
  add(epilogue);
  out.ops += ", on each tile: " + ops_of(*epilogue.node);
  if (const std::string more = join_source_lines(*epilogue.node); !more.empty() && more != out.where)
    out.where += (out.where.empty() ? "" : ", ") + more;
  return out;
}

void throw_if_failed(Status* failed) {
  if (failed) throw Error(Ref<Status>::adopt(failed));
}

bool starts_collective(const Step& step) { return step.kernel && step.kernel->has(kStarts); }

class Profiler : public StepWatch {
 public:
  void begin_run() {
    steps.clear(), spans.clear(), collectives.clear(), started_.clear();
    start_ = now_ns();
  }
  void before(const Program&, size_t, const Launch&) override { begin_ = now_ns(); }
  void after(const Program& program, size_t at, const Launch& launch) override {
    const int64_t end = now_ns();
    if (program.plan().steps[at].follows) return;  // computed by the launch before
    steps.push_back(describe_step(program, at));
    steps.back().milliseconds = double(end - begin_) * 1e-6;
    spans.push_back({steps.size() - 1, 0, double(begin_ - start_) * 1e-3, double(end - start_) * 1e-3});
    add_collective(program.plan().steps[at], launch);
  }
  // The parts of the last run as spans of the steps in whose time they lie.
  void add_parts(const std::vector<ThreadWatch::Part>& parts) {
    std::map<std::thread::id, size_t> numbers = {{std::this_thread::get_id(), 0}};
    const size_t n_steps = spans.size();
    for (const ThreadWatch::Part& p : parts) {
      const size_t thread = numbers.try_emplace(p.thread, numbers.size()).first->second;
      const double begin = double(p.begin - start_) * 1e-3, end = double(p.end - start_) * 1e-3;
      for (size_t i = 0; i < n_steps; i++)
        if (thread && begin >= spans[i].begin && begin <= spans[i].end)
          spans.push_back({spans[i].step, thread, begin, end});
    }
  }

  std::vector<ProfiledStep> steps;  // of this run
  std::vector<ProfiledSpan> spans;
  std::vector<ProfiledCollective> collectives;  // in the order in which they start

 private:
  // Of the step that was added last.
  void add_collective(const Step& step, const Launch& launch) {
    if (starts_collective(step)) {
      const auto bytes = [](const Buffer& b) { return double(b.elements()) * double(size_of(b.dtype)); };
      started_[launch.outputs[0].data] = collectives.size();
      const double most = std::max(bytes(launch.inputs[0]), bytes(launch.outputs[0]));
      collectives.push_back({.step = steps.size() - 1, .bytes = most});
    } else if (step.node && waits_for_collective(def(*step.node))) {
      if (const auto it = started_.find(launch.inputs[0].data); it != started_.end())
        collectives[it->second].wait = steps.size() - 1;
    }
  }

  int64_t start_ = 0, begin_ = 0;
  std::map<const void*, size_t> started_;  // by where its result will be, which of the collectives
};

// Has each collective run by itself: the call waits for it at once.
class CollectivesAlone : public StepWatch {
 public:
  void begin_run() { at_ = 0; }
  void before(const Program&, size_t, const Launch&) override { begin_ = now_ns(); }
  void after(const Program& program, size_t at, const Launch& launch) override {
    const Step& step = program.plan().steps[at];
    if (!starts_collective(step)) return;
    throw_if_failed(end_started(*step.kernel, &launch, true));
    if (at_ == times.size()) times.emplace_back();
    times[at_++].push_back(double(now_ns() - begin_) * 1e-6);
  }

  std::vector<std::vector<double>> times;  // by collective: of each run

 private:
  size_t at_ = 0;
  int64_t begin_ = 0;
};

bool same_steps(const std::vector<ProfiledStep>& a, const std::vector<ProfiledStep>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](auto& x, auto& y) { return x.ops == y.ops && x.where == y.where; });
}

void compare_with_limits(ProfiledStep& step, const MachineLimits& limits) {
  const double memory = limits.gbytes > 0 ? step.bytes / limits.gbytes * 1e-6 : 0;
  const double arithmetic = limits.gflops > 0 ? step.flops / limits.gflops * 1e-6 : 0;
  step.by_memory = memory >= arithmetic;
  if (step.milliseconds > 0) step.share = std::max(memory, arithmetic) / step.milliseconds;
}

// Of the profile's runs, and of as many in which each collective runs alone.
void time_collectives(Compiled& compiled, const Values& in, Profile& out) {
  const Ref<Values> results = make<Values>();
  CollectivesAlone alone;
  for (size_t run = 0; run < out.runs; run++) {
    alone.begin_run();
    throw_if_failed(compiled.call_watched(in, *results, alone));
  }
  for (size_t i = 0; i < out.collectives.size(); i++) {
    ProfiledCollective& c = out.collectives[i];
    if (i < alone.times.size()) c.alone = median(alone.times[i]);
    if (c.wait > c.step) c.exposed = out.steps[c.wait].milliseconds;
  }
}

}  // namespace

Profile profile(Compiled& compiled, const Values& in, size_t runs) {
  require(runs > 0, "profile: the number of runs must be at least 1");
  Profile out;
  out.function = compiled.function().name();
  const Ref<Values> results = make<Values>();
  throw_if_failed(compiled.call(in, *results));
  Profiler profiler;
  ThreadWatch threads(compiled.context()->threads());
  std::vector<std::vector<double>> times;
  std::vector<double> calls;
  for (size_t run = 0; run < runs; run++) {
    profiler.begin_run(), threads.take();
    const int64_t begin = now_ns();
    throw_if_failed(compiled.call_watched(in, *results, profiler));
    const double call = double(now_ns() - begin) * 1e-6;
    if (run == 0 || !same_steps(out.steps, profiler.steps))
      out.steps = profiler.steps, times.assign(out.steps.size(), {}), calls.clear();
    for (size_t i = 0; i < times.size(); i++) times[i].push_back(profiler.steps[i].milliseconds);
    calls.push_back(call);
  }
  require(!out.steps.empty(), out.function, ": profile: no step of a program ran: the call goes op by op, or the "
          "program has no steps");
  profiler.add_parts(threads.take());
  out.spans = std::move(profiler.spans);
  out.collectives = std::move(profiler.collectives);
  out.runs = calls.size(), out.milliseconds = median(calls);
  out.limits = measure_limits(*compiled.context());
  for (size_t i = 0; i < times.size(); i++) {
    out.steps[i].milliseconds = median(times[i]);
    compare_with_limits(out.steps[i], out.limits);
  }
  if (!out.collectives.empty()) time_collectives(compiled, in, out);
  return out;
}

}  // namespace thunder
