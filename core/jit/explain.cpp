#include "jit/explain.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"
#include "compile/stages.h"
#include "ir/print.h"

namespace thunder {
namespace {

std::string stages_report(const Compiled& f) {
  const auto entry = f.latest();
  if (!entry) return "";
  std::string out;
  for (const StageTime& t : entry->stages) {
    const auto row = std::find_if(stages().begin(), stages().end(), [&](auto& r) { return r.name == t.name; });
    out += cat(t.name, ": ", std::round(t.milliseconds * 1000) / 1000, " ms, ",
               t.changed ? "changed the trace" : "left the trace as it was",
               row == stages().end() ? "; a pass of the caller's" : cat("; ", row->why), "\n");
  }
  return out;
}

struct Report {
  std::string_view name;
  std::string (*text)(const Compiled&);
};
constexpr std::array kReports = {
    Report{"fusion", [](const Compiled& f) { return f.fusion_report(); }},
    Report{"loops", [](const Compiled& f) { return f.loops_report(); }},
    Report{"guards", [](const Compiled& f) { return f.guards_report(); }},
    Report{"memory", [](const Compiled& f) { return f.memory_report(); }},
    Report{"breaks", [](const Compiled& f) { return f.breaks_report(); }},
    Report{"stages", stages_report},
};

// The trace after a stage that may have changed nothing: that of the last one before it which did.
std::string trace_after(const Entry& entry, std::string_view stage) {
  const Trace* latest = &entry.traces.front();
  for (const StageTime& t : entry.stages) {
    const auto made = std::find_if(entry.traces.begin(), entry.traces.end(), [&](auto& m) { return m.pass == t.name; });
    if (t.changed && made != entry.traces.end()) latest = &*made;
    if (t.name == stage) return print(*latest);
  }
  return cat("-- ", stage, " was left out\n");
}

[[noreturn]] void fail_unknown(std::string_view what, const Entry* entry) {
  std::vector<std::string_view> known;
  for (const Report& r : kReports) known.push_back(r.name);
  for (const StageRow& row : stages()) known.push_back(row.name);
  if (entry)
    for (const StageTime& t : entry->stages) known.push_back(t.name);
  fail(Code::invalid_argument, "explain: there is no report, and no stage, of the name '", what, "'",
       suggest(what, known));
}

}  // namespace

std::string explain(const Compiled& f, std::string_view what) {
  for (const Report& report : kReports)
    if (report.name == what) return report.text(f);
  const auto entry = f.latest();
  for (const StageRow& row : stages())
    if (row.name == what) return !entry ? "" : row.print ? row.print(*entry->program) : trace_after(*entry, what);
  if (entry)
    for (const StageTime& t : entry->stages)
      if (t.name == what) return trace_after(*entry, what);
  fail_unknown(what, entry.get());
}

}  // namespace thunder
