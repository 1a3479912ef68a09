#include "compile/run_stages.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/text.h"
#include "compile/claim.h"
#include "compile/stages.h"
#include "ir/verify.h"
#include "passes/verify_types.h"
#include "passes/waits.h"

namespace thunder {
namespace {

// A row of the table of stages, or a caller's pass.
struct Stage {
  const StageRow* row = nullptr;
  const CustomPass* custom = nullptr;
  std::string_view name() const { return row ? row->name : std::string_view(custom->name()); }
  std::string_view after() const {
    return row ? "" : custom->after().empty() && custom->before().empty() ? "grad" : std::string_view(custom->after());
  }
};

std::string suggest_stage(std::string_view name, const std::vector<Stage>& stages) {
  std::vector<std::string_view> known;
  for (auto& s : stages) known.push_back(s.name());
  return suggest(name, known);
}

auto find(std::vector<Stage>& stages, std::string_view name) {
  return std::find_if(stages.begin(), stages.end(), [&](auto& s) { return s.name() == name; });
}

// The rows with the caller's passes between them; those at one place in the order added.
std::vector<Stage> stages_with(const CustomPasses& custom, std::span<const StageRow> rows) {
  std::vector<Stage> stages;
  for (const StageRow& row : rows) stages.push_back({&row, nullptr});
  for (auto& pass : custom) {
    const Stage stage{nullptr, pass.get()};
    require(find(stages, pass->name()) == stages.end(), "pass '", pass->name(), "' has the name of another one");
    const std::string_view beside = stage.after().empty() ? std::string_view(pass->before()) : stage.after();
    auto at = find(stages, beside);
    require(at != stages.end(), "pass '", pass->name(), "' stands beside the unknown pass '", beside, "'",
            at == stages.end() ? suggest_stage(beside, stages) : "");
    if (!stage.after().empty())
      for (++at; at != stages.end() && at->custom && at->after() == beside;) ++at;
    stages.insert(at, stage);
  }
  return stages;
}

void check_names(const std::vector<std::string>& disabled, std::vector<Stage>& stages) {
  for (auto& name : disabled) {
    auto it = find(stages, name);
    if (it == stages.end())
      fail(Code::invalid_argument, "disable_passes: unknown pass '", name, "'", suggest_stage(name, stages));
    require(!it->row || !it->row->required, "disable_passes: pass '", name, "' is required");
  }
}

// Runs the stages so far on the lines that a caller's pass added: decomposes them as far as executors need, and claims
// them. Lines that were added after regions were formed are in no region.
Trace repeat_stages_so_far(Trace made, Compilation& c, Level level) {
  if (level >= Level::descended) made = descend(made, c.executors, c.settings());
  if (level >= Level::claimed) made = claim(made, c.executors, c.settings());
  if (auto both = level >= Level::claimed ? waits(made, c.pass) : std::nullopt) made = std::move(*both);
  return made;
}

// Throws unless the latest trace is sound, where that is asked for. Of a class of sizes it is the one with numbers.
void check_trace(const Compilation& c) {
#ifdef THUNDER_DEV
  const bool checks = true;
#else
  const bool checks = c.settings().verify;
#endif
  if (!checks) return;
  const Trace& trace = c.of_class.traces ? c.of_class.traces->get().back() : c.trace();
  verify(trace);
  verify_types(trace, c.pass.registry);
}

class Run {
 public:
  Run(Compilation& compilation)
      : c_(compilation), stages_(stages_with(c_.custom, c_.joint ? joint_stages() : stages())) {
    if (!c_.joint) check_names(c_.settings().disable_passes, stages_);  // they are names of a program's stages
  }

  void run_all() {
    check_trace(c_);
    for (size_t i = 0; i < stages_.size(); i++) {
      const bool lowers = stages_[i].row && stages_[i].row->level == Level::lowered;
      if (lowers && c_.rows == StageRows::lines) return;
      if (!lowers && lowering_.stage == 0 && c_.rows == StageRows::kernels) continue;
      if (c_.settings().leaves_out(stages_[i].name())) continue;
      if (lowers) lowering_ = {i, c_.traces.size(), c_.times.size()};
      try {
        run(stages_[i], i);
      } catch (const Error& e) {
        if (e.code() != Code::declined) throw;
        if (++declined_ == kMostDeclined) fail(Code::backend, e.message());
        i = lower_again() - 1;
      }
    }
  }

 private:
  // As many as there are nodes of a kind that is declined late, and sizes in which they are tried.
  static constexpr int kMostDeclined = 64;

  // An executor that declined a line while it finished it declines it at once when it is asked again: then `lower` has
  // that line claimed anew, and the rows behind it run again. The stage to go on with.
  size_t lower_again() {
    ensure(lowering_.stage != 0, "a line was declined before there were kernels");
    c_.traces.resize(lowering_.traces), c_.times.resize(lowering_.times);
    c_.builder.reset(), c_.program.reset();
    return lowering_.stage;
  }

  void run(const Stage& stage, size_t number) {
    c_.check.at(stage.name(), number, stages_.size());
    const size_t before = c_.traces.size();
    const double start = now_ms();
    if (stage.row) stage.row->run(c_);
    else run_custom(*stage.custom);
    if (stage.row) level_ = std::max(level_, stage.row->level);
    const double milliseconds = now_ms() - start;
    const bool changed = c_.traces.size() > before;
    c_.times.push_back({std::string(stage.name()), milliseconds, changed, level_ == Level::lowered});
    if (!changed) return;
    c_.traces.back().pass = stage.name();
    c_.traces.back().milliseconds = milliseconds;
    check_trace(c_);
  }

  // The result of a caller's pass is always verified, so that its errors are not attributed to the library.
  void run_custom(const CustomPass& pass) {
    std::optional<Trace> made = pass.run(c_.trace(), c_.pass, c_.environment);
    if (!made) return;
    require(level_ < Level::lowered, "pass '", pass.name(),
            "' stands behind 'lower', where the trace can be read and no longer changed; let it stand before 'lower'");
    made = repeat_stages_so_far(std::move(*made), c_, level_);
    made->pass = pass.name();
    thunder::verify(*made);
    verify_types(*made, c_.pass.registry);
    c_.append_trace(std::move(made));
  }

  // Where `lower` stands, and what there was before it ran.
  struct Lowering {
    size_t stage = 0, traces = 0, times = 0;
  };

  Compilation& c_;
  std::vector<Stage> stages_;
  Level level_ = Level::recorded;
  Lowering lowering_;
  int declined_ = 0;
};

}  // namespace

double now_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void Compilation::append_trace(std::optional<Trace> made) {
  if (made) traces.push_back(std::move(*made));
}

void check_optional(std::span<const std::string> passes, std::string_view who) {
  for (auto& name : passes)
    for (const StageRow& row : stages())
      require(row.name != name || !row.required, who, " cannot leave out pass '", name, "', which is required");
}

void check_places(const CustomPasses& custom) { stages_with(custom, stages()); }

void run_stages(Compilation& compilation) { Run(compilation).run_all(); }

}  // namespace thunder
