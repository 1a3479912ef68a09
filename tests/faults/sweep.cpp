// The sweep of allocations: runs each scenario again and again, and lets one allocation after another fail in it, once, and
// once and all after. Each time the call that fails must say THUNDER_OUT_OF_MEMORY, nothing may be left behind, and the
// context must serve the same scenario right away.
//
//   fault_sweep [--points N] [--seed S] [SCENARIO ...]    at most N points of each scenario and mode; 0, as without it: all
//   fault_sweep --look SCENARIO once|on POINT             one point, with the callers of what failed and of what leaked
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "allocator.h"
#include "scenario.h"
#include "support/folder.h"

namespace faults {
namespace {

using thunder::Folder;

constexpr const char* kScript = R"(
local th = require "thunder"
local x = th.tensor { { 1.0, 2.0 }, { 3.0, 4.0 } }
local y = th.softmax(x + 1, 1):sum()
assert(math.abs(y:item() - 2) < 1e-5)
local f = th.compile(function(a, b) return th.relu(a * b - 1), { sum = th.sum(a) } end, { executors = "host" })
local r, more = f(x, x)
assert(more.sum:item() == 10 and r[2][2]:item() == 15)
local net = th.nn.Sequential(th.nn.Linear(2, 3), th.nn.ReLU())
assert(net(x).shape[2] == 3)
local ok, why = pcall(th.matmul, x, th.tensor { 1.0 })
assert(not ok and tostring(why):find("matmul"))
)";

}  // namespace

bool Trial::ok(thunder_status* status, const char* call) {
  if (!status) return !failed_ && !wrong_;
  if (!failed_) {
    failed_ = true;
    code_ = thunder_status_code(status);
    std::snprintf(message_, sizeof message_, "%.80s: %.150s", call, thunder_status_message(status));
  }
  thunder_status_release(status);
  return false;
}

bool Trial::right(bool holds, const char* claim) {
  if (!holds && !wrong_) wrong_ = claim;
  return holds;
}

thunder_status* counting(thunder_context* context, size_t rank, const int64_t* shape, float scale, thunder_tensor** out) {
  float data[256];
  size_t n = 1;
  for (size_t i = 0; i < rank; i++) n *= static_cast<size_t>(shape[i]);
  for (size_t i = 0; i < n; i++) data[i] = static_cast<float>(i + 1) * scale;
  return thunder_tensor_create(context, THUNDER_F32, rank, shape, 0, data, n * sizeof *data, out);
}

thunder_status* first_of(thunder_tensor* tensor, float* to, size_t count) {
  const void* data = nullptr;
  thunder_status* failed = thunder_tensor_data(tensor, &data);
  if (!failed) std::memcpy(to, data, count * sizeof *to);
  return failed;
}

bool near(float a, float b) { return std::fabs(a - b) < 1e-3f * (1 + std::fabs(b)); }

thunder_status* own_code_only(thunder_context* context, thunder_options** out) {
  thunder_status* failed = thunder_options_create(context, out);
  if (!failed) thunder_options_set_str(*out, "executors", "host");
  return failed;
}

namespace {

// What the process that sweeps tells the one that waits for it, and survives it.
struct Progress {
  size_t next, point, tried, absorbed, wrong;
  bool done;
};

struct Sweep {
  Scenario scenario;
  Mode mode;
  std::string folder;
  Progress* progress;
};

const char* name_of(Mode mode) { return mode == Mode::once ? "once" : "on"; }

thunder_context* fresh_context() {
  thunder_context* made = nullptr;
  thunder_status* failed = thunder_context_create(nullptr, &made);
  if (!failed) failed = thunder_context_set_num_threads(made, 1);
  if (failed) {
    std::fprintf(stderr, "no context: %s\n", thunder_status_message(failed));
    std::exit(2);
  }
  return made;
}

// The scenario in a context of its own, with the fault and once more without one. Returns how many allocations it made.
Seen run_point(const Sweep& sweep, size_t point, std::string& complaint) {
  Trial trial, again;
  trial.folder = sweep.folder.c_str();
  if (!sweep.scenario.own_context) trial.context = fresh_context();
  watch(point, sweep.mode);
  sweep.scenario.run(trial);
  if (sweep.scenario.own_context) trial.context = nullptr;
  const Seen seen = stop();
  again.folder = trial.folder, again.context = trial.context, again.round = 1;
  sweep.scenario.run(again);
  thunder_context_release(trial.context);
  auto complain = [&](const std::string& text) { complaint += (complaint.empty() ? "" : "; ") + text; };
  if (trial.failed() && (!seen.failed || trial.code() != THUNDER_OUT_OF_MEMORY))
    complain("code " + std::to_string(trial.code()) + ": " + trial.message());
  if (trial.wrong()) complain(std::string("wrong: ") + trial.wrong());
  if (again.failed()) complain(std::string("afterwards: ") + again.message());
  if (again.wrong()) complain(std::string("wrong afterwards: ") + again.wrong());
  if (trial.given != trial.destroyed || again.given != again.destroyed)
    complain("destroy(user) ran " + std::to_string(trial.destroyed) + " times for " + std::to_string(trial.given) + " users");
  if (const size_t left = live_blocks()) complain(std::to_string(left) + " blocks leaked");
  if (complaint.empty() && seen.failed && !trial.failed()) sweep.progress->absorbed++;
  return seen;
}

// What is made once in a process is made before, so that it is no leak of a point. Returns the allocations of a run.
size_t warm_up(const Sweep& sweep) {
  size_t allocations = 0;
  for (int i = 0; i < 3; i++) {
    std::string complaint;
    allocations = run_point(sweep, 0, complaint).allocations;
    forget_live_blocks();
    if (i == 2 && !complaint.empty()) {
      std::fprintf(stderr, "%s fails without any fault: %s\n", sweep.scenario.name, complaint.c_str());
      std::exit(2);
    }
  }
  return allocations;
}

std::vector<size_t> points_of(size_t allocations, size_t wanted, uint32_t seed) {
  std::vector<size_t> points;
  const size_t count = wanted ? std::min(wanted, allocations) : allocations;
  std::mt19937 random(seed);
  // One of each of `count` equal parts.
  for (size_t i = 0; i < count; i++) {
    const size_t begin = allocations * i / count, end = allocations * (i + 1) / count;
    points.push_back(1 + begin + random() % (end - begin));
  }
  return points;
}

// The part of one process: from point `next` on.
void sweep_points(const Sweep& sweep, size_t wanted, uint32_t seed) {
  const std::vector<size_t> points = points_of(warm_up(sweep), wanted, seed);
  Progress& p = *sweep.progress;
  while (p.next < points.size()) {
    const size_t point = p.point = points[p.next++];
    p.tried++;
    std::string complaint;
    alarm(30);
    run_point(sweep, point, complaint);
    alarm(0);
    if (complaint.empty()) continue;
    p.wrong++;
    std::printf("%s %s %zu: %s\n", sweep.scenario.name, name_of(sweep.mode), point, complaint.c_str());
    std::fflush(stdout);
    forget_live_blocks();
  }
  p.done = true;
}

// A process that dies is a point that failed; the next one goes on behind it.
void sweep_all(const Sweep& sweep, size_t wanted, uint32_t seed) {
  while (!sweep.progress->done) {
    const size_t before = sweep.progress->tried;
    const pid_t child = fork();
    if (child < 0) std::exit(2);
    if (child == 0) {
      sweep_points(sweep, wanted, seed);
      std::_Exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (sweep.progress->done) return;
    if (sweep.progress->tried == before) std::exit(2);
    sweep.progress->wrong++;
    std::printf("%s %s %zu: the process ended by signal %d\n", sweep.scenario.name, name_of(sweep.mode),
                sweep.progress->point, WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    std::fflush(stdout);
  }
}

int look(const Sweep& sweep, size_t point) {
  warm_up(sweep);
  trace_callers(true);
  std::string complaint;
  run_point(sweep, point, complaint);
  print_live_blocks();
  std::fprintf(stderr, "%s\n", complaint.empty() ? "nothing to complain of" : complaint.c_str());
  return complaint.empty() ? 0 : 1;
}

// The files that scenarios read.
void write_inputs(const Folder& folder) {
  for (const auto& [name, text] : {std::pair{"x.csv", "a,b\n1.5,2.5\n3.5,4.5\n"}, {"script.lua", kScript}})
    if (!(std::ofstream(folder / name) << text)) std::exit(2);
}

struct Wanted {
  size_t points = 0, look_at = 0;
  uint32_t seed = 1;
  Mode mode = Mode::once;
  std::vector<std::string> names;

  Wanted(int argc, char** argv) {
    for (int i = 1; i < argc; i++) {
      const std::string_view word = argv[i];
      if (word == "--points" && i + 1 < argc) points = std::strtoul(argv[++i], nullptr, 10);
      else if (word == "--seed" && i + 1 < argc) seed = static_cast<uint32_t>(std::strtoul(argv[++i], nullptr, 10));
      else if (word == "--look" && i + 3 < argc) {
        names.emplace_back(argv[++i]);
        mode = std::strcmp(argv[++i], "on") ? Mode::once : Mode::from_then_on;
        look_at = std::strtoul(argv[++i], nullptr, 10);
      } else names.emplace_back(word);
    }
  }
  bool wants(const char* name) const {
    return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
  }
};

int run(const Wanted& wanted) {
  const Folder folder;
  write_inputs(folder);
  auto* progress = static_cast<Progress*>(
      mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  if (progress == MAP_FAILED) return 2;
  Progress all{};
  size_t scenarios = 0;
  for (const Scenarios& some : {basic_scenarios(), compile_scenarios(), module_scenarios(), setter_scenarios(), extend_scenarios()})
    for (size_t i = 0; i < some.count; i++) {
      if (!wanted.wants(some.first[i].name)) continue;
      scenarios++;
      if (wanted.look_at) return look({some.first[i], wanted.mode, folder.path(), progress}, wanted.look_at);
      for (Mode mode : {Mode::once, Mode::from_then_on}) {
        *progress = Progress{};
        sweep_all({some.first[i], mode, folder.path(), progress}, wanted.points, wanted.seed);
        std::printf("%-15s %-5s %6zu tried %6zu absorbed %6zu failed\n", some.first[i].name, name_of(mode), progress->tried,
                    progress->absorbed, progress->wrong);
        std::fflush(stdout);
        all.tried += progress->tried, all.absorbed += progress->absorbed, all.wrong += progress->wrong;
      }
    }
  std::printf("%zu scenarios, %zu points tried, %zu absorbed, %zu failed\n", scenarios, all.tried, all.absorbed, all.wrong);
  return scenarios && !all.wrong ? 0 : 1;
}

}  // namespace
}  // namespace faults

int main(int argc, char** argv) { return faults::run(faults::Wanted(argc, argv)); }
