#include "base/log.h"

#include <algorithm>
#include <vector>

#include "base/text.h"

namespace thunder {
namespace {

constexpr std::array<LogRow, kLogNames> kRows = {
    LogRow{"guards", "What each program that was compiled is guarded by, a formula a line.", ""},
    LogRow{"recompiles", "Why a function is compiled again: which argument, which field.", "The first compile too."},
    LogRow{"dynamic", "Which sizes stand for any, or why a trace is for these sizes alone.", ""},
    LogRow{"graph_breaks", "Where and why a function is no one program, and what runs op by op on tapes.", ""},
    LogRow{"fusion", "The lines that became one kernel, a kernel a line.", "Why neighbours were not fused."},
    LogRow{"schedule", "The steps of the program, in order, each with the executor that runs it.",
           "How the kernels were lowered: their loop nests, stage by stage."},
    LogRow{"output_code", "The program that runs, as its last trace.", "The trace after each pass."},
    LogRow{"perf_hints", "What makes a program slower than it need be: lines that the reference runs, copies.", ""},
    LogRow{"cudagraphs", "Whether steps on a CUDA device are recorded as a graph, or why not.", ""},
    LogRow{"autotuning", "What `max_autotune` chose for each product.", ""},
    LogRow{"memory", "What a call needs of memory.", "Where each value lies."},
    LogRow{"sharp_edges", "What a trace keeps that no call checks, where the option `sharp_edges` is \"warn\".", ""},
};

}  // namespace

std::span<const LogRow> log_rows() { return kRows; }

void LogLevels::reset() {
  for (auto& least : least_) least.store(static_cast<int32_t>(LogLevel::warning), std::memory_order_relaxed);
}

void LogLevels::set(std::string_view text, std::string_view who) {
  std::vector<std::string_view> known = {"all"};
  for (const LogRow& row : kRows) known.push_back(row.name);
  std::vector<std::pair<size_t, LogLevel>> asked;  // number kLogNames: all
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    while (word.starts_with(' ')) word.remove_prefix(1);
    while (word.ends_with(' ')) word.remove_suffix(1);
    if (word.empty()) continue;
    const LogLevel level = word[0] == '+' ? LogLevel::debug : word[0] == '-' ? LogLevel::error : LogLevel::info;
    if (level != LogLevel::info) word.remove_prefix(1);
    const auto row = std::find_if(kRows.begin(), kRows.end(), [&](auto& r) { return r.name == word; });
    require(row != kRows.end() || word == "all", who, ": there is no log '", word, "'", suggest(word, known));
    asked.emplace_back(row - kRows.begin(), level);
  }
  reset();
  for (const auto& [number, level] : asked)
    for (size_t i = 0; i < kLogNames; i++)
      if (i == number || number == kLogNames)
        least_[i].store(static_cast<int32_t>(level), std::memory_order_relaxed);
}

}  // namespace thunder
