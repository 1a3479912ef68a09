#include "jit/reports/compile_stats.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "base/utf8.h"

namespace thunder {
namespace {

constexpr std::array kEdges = {0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0};  // milliseconds

struct StageStatistics {
  std::string name;
  size_t times = 0;
  double total = 0, least = 0, most = 0;
  std::array<size_t, kEdges.size() + 1> histogram{};

  void add(double ms) {
    least = times ? std::min(least, ms) : ms, most = std::max(most, ms);
    times++, total += ms;
    histogram[static_cast<size_t>(std::upper_bound(kEdges.begin(), kEdges.end(), ms) - kEdges.begin())]++;
  }
  std::string json() const {
    return cat("{\"name\":", json_quote(name), ",\"times\":", times, ",\"total_ms\":", total, ",\"least_ms\":", least,
               ",\"most_ms\":", most, ",\"histogram\":[", join(histogram, ",", [](size_t n) { return n; }), "]}");
  }
};

template <class Row>
Row& row_of(std::vector<Row>& rows, const std::string& name) {
  const auto it = std::find_if(rows.begin(), rows.end(), [&](auto& row) { return row.name == name; });
  return it == rows.end() ? (rows.push_back({name}), rows.back()) : *it;
}

struct Reason {
  std::string name;
  size_t times = 0;
  std::string json() const { return cat("{\"why\":", json_quote(name), ",\"times\":", times, "}"); }
};

template <class Row>
std::string rows_json(const std::vector<Row>& rows) {
  return cat("[", join(rows, ",", [](const Row& row) { return row.json(); }), "]");
}

}  // namespace

std::string compile_stats(const Compiled& f) {
  const CallStatistics s = f.reports().statistics();
  std::vector<StageStatistics> stages;
  std::vector<Reason> reasons;
  for (const CompileRecord& record : f.reports().compile_records()) {
    row_of(reasons, record.why).times++;
    for (auto& [name, ms] : record.milliseconds) row_of(stages, name).add(ms);
  }
  return cat("{\"calls\":", s.calls, ",\"hits\":", s.hits, ",\"misses\":", s.misses, ",\"entries\":", s.entries,
             ",\"eager_calls\":", s.eager_calls, ",\"segments\":", s.segments, ",\"graph_breaks\":", s.graph_breaks,
             ",\"peak_bytes\":", s.peak_bytes, ",\"last_miss\":", json_quote(f.reports().last_miss()),
             ",\"reasons\":", rows_json(reasons), ",\"edges_ms\":[",
             join(kEdges, ",", [](double edge) { return edge; }), "],\"stages\":", rows_json(stages), "}");
}

}  // namespace thunder
