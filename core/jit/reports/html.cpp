#include "jit/reports/html.h"

#include <algorithm>
#include <unordered_map>

#include "base/text.h"
#include "base/utf8.h"
#include "ir/print.h"
#include "jit/reports/explain.h"
#include "jit/reports/compile_stats.h"
#include "jit/reports/examine.h"
#include "jit/reports/html_page.h"
#include "jit/reports/phases.h"
#include "jit/reports/profile.h"
#include "program/cost.h"
#include "program/report.h"

namespace thunder {
namespace {

constexpr size_t kMostText = 200'000;  // of one report: what is longer can be asked for by its name

// Interns lines by number: most lines occur in several stages.
class Lines {
 public:
  size_t intern(std::string_view line) {
    const auto [it, fresh] = numbers_.try_emplace(std::string(line), texts_.size());
    if (fresh) texts_.push_back(json_quote(line));
    return it->second;
  }
  // The lines of a trace's text that are its program, without the chunk around them.
  std::string intern_lines(const std::string& text) {
    std::vector<size_t> out;
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find('\n', at), text.size());
      std::string_view line = std::string_view(text).substr(at, end - at);
      at = end + 1;
      if (line == "  local t = {}" || line == "return function(p, c, i)" || line.empty()) continue;
      if (line.starts_with("  ")) line.remove_prefix(2);
      out.push_back(intern(line));
    }
    return cat("[", join(out, ",", [](size_t n) { return n; }), "]");
  }
  std::string json() const {
    return cat("[", join(texts_, ",", [](const std::string& s) -> std::string_view { return s; }), "]");
  }

 private:
  std::unordered_map<std::string, size_t> numbers_;
  std::vector<std::string> texts_;
};

std::string stages_json(const Entry& entry, Lines& lines) {
  const PrintOptions by_ids{.ids = true};
  const std::vector<Trace> traces = entry.traces.all();
  size_t next = 0;
  const auto trace = [&] { return lines.intern_lines(print(traces[next++], by_ids)); };
  std::string out = cat("[{\"name\":\"as written\",\"ms\":", entry.trace_ms, ",\"lines\":", trace(), "}");
  for (const StageTime& t : entry.stages) {
    const bool changed = t.changed && next < traces.size();
    out += cat(",{\"name\":", json_quote(t.name), ",\"ms\":", t.milliseconds, changed ? ",\"lines\":" : "",
               changed ? trace() : "", "}");
  }
  return out + "]";
}

// The lines of the last trace, and from which to which values go.
std::string graph_json(const Trace& written, const Trace& trace) {
  const std::vector<Phase> parts = phases(written, trace);
  std::vector<bool> constant(trace.nodes.size(), true);  // computed of nothing
  std::unordered_map<ValueId, size_t> made;
  const auto is_argument = [&](ValueId v) {
    return std::any_of(trace.inputs.begin(), trace.inputs.end(),
                       [v](const Input& in) { return in.value == v && in.source == Source::argument; });
  };
  std::string nodes, edges;
  for (size_t i = 0; i < trace.nodes.size(); i++) {
    const Node& n = *trace.nodes[i];
    std::vector<size_t> from;
    bool given = false;  // whether it reads an argument of the call
    for_each_value(n.args, [&](ValueId v) {
      given = given || is_argument(v);
      const auto it = made.find(v);
      constant[i] = constant[i] && it != made.end() && constant[it->second];
      const bool fresh = it != made.end() && std::find(from.begin(), from.end(), it->second) == from.end();
      if (fresh) from.push_back(it->second);
    });
    for (size_t f : from) edges += cat(edges.empty() ? "" : ",", "[", f, ",", i, "]");
    double bytes = 0;
    for (ValueId r : n.results) made[r] = i, bytes += static_cast<double>(dense_bytes(trace.type(r)));
    nodes += cat(i ? "," : "", "{\"ops\":", json_quote(ops_of(n)), ",\"by\":", json_quote(n.executor ? n.executor : ""),
                 ",\"at\":", json_quote(n.where ? n.where : ""), ",\"flops\":", flops_of(n, *trace.store),
                 ",\"bytes\":", bytes, given ? ",\"given\":true" : "",
                 constant[i]   ? ",\"folds\":\"constant\""
                 : def(n).view ? ",\"folds\":\"view\""
                               : "",
                 parts[i] == Phase::none ? "" : cat(",\"phase\":\"", name(parts[i]), "\""), "}");
  }
  return cat("\"nodes\":[", nodes, "],\"edges\":[", edges, "]");
}

std::string memory_json(const Program& program) {
  const auto slot = [](const ArenaSlot& s) {
    return cat("[", s.value, ",", s.offset, ",", s.bytes, ",", s.first, ",", s.last, "]");
  };
  std::vector<ArenaSlot> slots;
  for (const ArenaSlot& s : program.plan().slots)
    if (s.arena == 0) slots.push_back(s);
  const auto arena = [](const DeviceArena& a) {
    return cat("{\"device\":", json_quote(name(a.device)), ",\"bytes\":", a.bytes, ",\"constants\":", a.constant_bytes,
               "}");
  };
  size_t results = 0;
  for (const DenseType& t : program.plan().outputs) results += t.bytes;
  return cat("{\"peak\":", program.peak_bytes(), ",\"results\":", results, ",\"kept\":", program.kept_bytes(),
             ",\"donated\":", program.plan().in_donated, ",\"arenas\":[", join(program.plan().arenas, ",", arena),
             "],\"recording\":", json_quote(program.recording_report()), ",\"slots\":[", join(slots, ",", slot), "]}");
}

std::string truncate_to_json(std::string text) {
  if (text.size() > kMostText)
    text = cat(text.substr(0, text.rfind('\n', kMostText)), "\n... ", text.size(), " bytes in all\n");
  return json_quote(text);
}

std::string data_json(const Compiled& f, const Entry& entry) {
  Lines lines;
  const std::string stages = stages_json(entry, lines);
  const auto profile = f.reports().last_profile();
  const auto examination = f.reports().last_examination();
  const auto report = [&](std::string_view what) { return truncate_to_json(explain(f, what)); };
  return cat("{\"function\":", json_quote(f.function().name()), ",\"stats\":",
             compile_stats(f), ",\"lines\":", lines.json(), ",\"stages\":", stages, ",",
             graph_json(entry.traces.all().front(), entry.traces.back()),
             ",\"memory\":", memory_json(*entry.program), ",\"guards\":", report("guards"), ",\"breaks\":",
             report("breaks"), ",\"fusion\":", report("fusion"), ",\"loops\":", report("loops"), ",\"hints\":",
             report("hints"), ",\"profile\":",
             profile ? profile->json() : "null", ",\"examination\":", examination ? examination->json() : "null", "}");
}

// Escapes what would end the <script> element.
std::string escape_for_script(const std::string& json) {
  std::string out;
  out.reserve(json.size());
  for (size_t i = 0; i < json.size(); i++) out += json[i] == '<' ? std::string("\\u003c") : std::string(1, json[i]);
  return out;
}

}  // namespace

std::string html_report(const Compiled& f) {
  const auto entry = f.reports().latest();
  if (!entry)
    fail(Code::failed_precondition, f.function().name(), ": there is no program to report on: call the function first");
  return cat(kReportPageHead, escape_for_script(data_json(f, *entry)), kReportPageTail);
}

}  // namespace thunder
