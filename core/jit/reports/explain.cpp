#include "jit/reports/explain.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"
#include "base/utf8.h"
#include "compile/stages.h"
#include "executors/fusion/explain.h"
#include "ir/print.h"
#include "jit/logs/guards.h"
#include "jit/reports/compile_stats.h"
#include "jit/reports/examine.h"
#include "jit/logs/graph.h"
#include "jit/reports/kernel_sources.h"
#include "jit/reports/option_use.h"
#include "jit/logs/perf_hints.h"
#include "jit/reports/profile.h"
#include "jit/segments/segments.h"
#include "program/cost.h"
#include "program/report.h"

namespace thunder {
namespace {

std::string stages_report(const Compiled& f) {
  const auto entry = f.reports().latest();
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

std::string transforms_report(const Compiled& f) {
  std::string out;
  const auto entry = f.reports().latest();
  for (size_t i = 0; entry && i < entry->stages.size(); i++) {
    const std::string& name = entry->stages[i].name;
    const auto is_ours = [&](const StageRow& row) { return row.name == name; };
    if (std::none_of(stages().begin(), stages().end(), is_ours)) out += name + "\n";
  }
  return out;
}

template <class F>
std::string report_latest_entry(const Compiled& f, const F& report) {
  const auto entry = f.reports().latest();
  return entry ? report(*entry) : "";
}

std::string report_latest_program(const Compiled& f, std::string (*report)(const Program&)) {
  return report_latest_entry(f, [&](const Entry& entry) { return report(*entry.program); });
}

std::string fusion_report(const Compiled& f) {
  return report_latest_entry(f,
                             [&](const Entry& e) { return fusion::explain(e.traces.back(), f.context()->targets()); });
}

std::string breaks_report(const Compiled& f) {
  std::string out;
  for (const CountedBreak& b : f.reports().graph_breaks())
    out +=
        cat(b.at.where.empty() ? "at a place that is not known" : b.at.where, ": ", b.at.reason, ", after ", b.at.lines,
            b.at.lines == 1 ? " line" : " lines", "; ", b.times, b.times == 1 ? " time" : " times", "\n");
  return out;
}

std::string graph_report(const Compiled& f) {
  return report_latest_entry(f, [](const Entry& e) { return graphviz(e.traces.back()); });
}

// The ops of each fused kernel, kernel by kernel.
std::string fusions_json(const Compiled& f) {
  const auto entry = f.reports().latest();
  if (!entry) return "";
  std::string out;
  for (const Node* n : entry->traces.back().nodes) {
    if (n->body.size() < 2 || n->op->name() != "region") continue;
    out += cat(out.empty() ? "" : ",", "[",
               join(n->body, ",", [](const Node* line) { return json_quote(line->op->name()); }), "]");
  }
  return cat("[", out, "]");
}

std::string report_kernel_sources(const Compiled& f, std::string_view form) {
  return report_latest_entry(f, [&](const Entry& e) { return kernel_sources(*e.program, form); });
}

std::string report_last_profile(const Compiled& f, std::string (Profile::*report)() const) {
  const auto profile = f.reports().last_profile();
  return profile ? (profile.get()->*report)() : "";
}

std::string report_last_examination(const Compiled& f, std::string (Examination::*report)() const) {
  const auto examination = f.reports().last_examination();
  return examination ? (examination.get()->*report)() : "";
}

struct Report : ReportRow {
  std::string (*text)(const Compiled&);
};
constexpr std::array kReports = {
    Report{{"fusion", "Why neighbours in the last trace are kernels of their own, a line for each two."},
           fusion_report},
    Report{{"fusions", "The lines that became one kernel, a list of ops a kernel, as JSON."}, fusions_json},
    Report{{"loops", "The loop nest of each kernel, as lowered and after each stage of its lowering."},
           [](const Compiled& f) { return report_latest_program(f, loops_report); }},
    Report{{"guards", "What the program is guarded by, a formula a line."},
           [](const Compiled& f) { return report_latest_entry(f, guards_report); }},
    Report{{"memory", "What a call needs of memory, and where each value lies."},
           [](const Compiled& f) { return report_latest_program(f, memory_report); }},
    Report{{"breaks", "Where and why the function was no one program."},
           breaks_report},
    Report{{"stages", "The stages of the compile, with their times and reasons."},
           stages_report},
    Report{{"hints", "What makes the program slower than it need be."},
           [](const Compiled& f) { return report_latest_program(f, perf_hints); }},
    Report{{"choices", "What `max_autotune` chose for each product."},
           [](const Compiled& f) { return report_latest_program(f, choices_report); }},
    Report{{"graph", "The last trace in the language of Graphviz."},
           graph_report},
    Report{{"llvm", "The code of each kernel for the CPU as LLVM's IR."},
           [](const Compiled& f) { return report_kernel_sources(f, "llvm"); }},
    Report{{"assembly", "The same as assembly."},
           [](const Compiled& f) { return report_kernel_sources(f, "assembly"); }},
    Report{{"cuda", "The code of each fused kernel as the CUDA target writes it, C++."},
           [](const Compiled& f) { return report_kernel_sources(f, "cuda"); }},
    Report{{"stats", "Counts of calls, and of compiles by reason and stage with histograms of their times, as JSON."},
           compile_stats},
    Report{{"profile", "What the last profile measured of each step, slowest first."},
           [](const Compiled& f) { return report_last_profile(f, &Profile::text); }},
    Report{{"profile_json", "The same as JSON."},
           [](const Compiled& f) { return report_last_profile(f, &Profile::json); }},
    Report{{"transforms", "The passes of the caller's that took part in the compile, in order, a name a line."},
           transforms_report},
    Report{{"options", "Which options made a difference, and why others made none: used, unused and unknown, as JSON."},
           option_use},
    Report{{"cost", "What a call has to do: flops, bytes, peak_bytes, result_bytes and steps, as JSON."},
           [](const Compiled& f) { return report_latest_program(f, cost_json); }},
    Report{{"examination", "What the last examination found."},
           [](const Compiled& f) { return report_last_examination(f, &Examination::text); }},
    Report{{"examination_json", "The same as JSON."},
           [](const Compiled& f) { return report_last_examination(f, &Examination::json); }},
    Report{{"chrome_trace", "The last profile as chrome://tracing and Perfetto read it, threads and all."},
           [](const Compiled& f) { return report_last_profile(f, &Profile::chrome_trace); }},
};

bool has_run(const Entry& entry, std::string_view stage) {
  return std::any_of(entry.stages.begin(), entry.stages.end(), [&](const StageTime& t) { return t.name == stage; });
}

// The trace after a stage. A stage that changed nothing has the trace of the last one before it that did.
std::string trace_after(const Entry& entry, std::string_view stage) {
  const std::vector<Trace> all = entry.traces.all();
  const Trace* latest = &all.front();
  for (const StageTime& t : entry.stages) {
    const auto made = std::find_if(all.begin(), all.end(), [&](auto& m) { return m.pass == t.name; });
    if (t.changed && made != all.end()) latest = &*made;
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

std::span<const ReportRow> report_rows() {
  static const auto rows = [] {
    std::array<ReportRow, kReports.size()> out;
    std::copy(kReports.begin(), kReports.end(), out.begin());
    return out;
  }();
  return rows;
}

std::string explain(const Compiled& f, std::string_view what) {
  for (const Report& report : kReports)
    if (report.name == what) return report.text(f);
  const auto entry = f.reports().latest();
  for (const StageRow& row : stages()) {
    if (row.name != what) continue;
    if (!entry) return "";
    return row.print && has_run(*entry, what) ? row.print(*entry->program) : trace_after(*entry, what);
  }
  if (entry)
    for (const StageTime& t : entry->stages)
      if (t.name == what) return trace_after(*entry, what);
  fail_unknown(what, entry.get());
}

}  // namespace thunder
