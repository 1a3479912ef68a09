#include "jit/logs/logs.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "base/text.h"
#include "cache/entry.h"
#include "executors/fusion/explain.h"
#include "ir/print.h"
#include "jit/logs/guards.h"
#include "jit/logs/perf_hints.h"
#include "program/report.h"

namespace thunder {
namespace {

// The first of the user's lines that are known.
std::string_view first_source_line(std::span<const Node* const> nodes) {
  for (const Node* n : nodes)
    if (n->where) return n->where;
  return "";
}

std::string time_of_day() {
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  std::tm local{};
  localtime_r(&seconds, &local);
  char text[32];
  std::snprintf(text, sizeof text, "%02d:%02d:%02d.%03d", local.tm_hour, local.tm_min, local.tm_sec,
                static_cast<int>(ms));
  return text;
}

// Logs each kernel that was fused from several lines, at its place in the trace.
void log_kernels(const Context& context, const Trace& claimed) {
  for (const Node* n : claimed.nodes) {
    if (n->body.size() < 2 || n->op->name() != "region") continue;
    context.log(LogLevel::info, LogName::fusion, claimed.function, first_source_line(n->body),
                cat("one kernel of ", n->body.size(), " lines: ",
                    join(n->body, ", ", [](const Node* line) { return line->op->name(); })));
  }
}

void log_traces(const Context& context, const Entry& entry, std::string_view function, std::string_view where) {
  if (context.logs(LogName::output_code, LogLevel::debug))
    for (const Trace& t : entry.traces.all())
      context.log(LogLevel::debug, LogName::output_code, function, where, print(t));
  else
    context.log(LogLevel::info, LogName::output_code, function, where, print(entry.traces.back()));
}

struct ProgramLog {
  LogName name;
  LogLevel level;
  std::string (*text)(const Entry&);
};
// The first lines of the memory report, which have the totals.
std::string memory_summary(const Entry& e) {
  const std::string all = memory_report(*e.program);
  return all.substr(0, all.find('\n'));
}
constexpr ProgramLog kProgramLogs[] = {
    {LogName::guards, LogLevel::info, guards_report},
    {LogName::schedule, LogLevel::info, [](const Entry& e) { return kernels_report(*e.program); }},
    {LogName::schedule, LogLevel::debug, [](const Entry& e) { return loops_report(*e.program); }},
    {LogName::perf_hints, LogLevel::info, [](const Entry& e) { return perf_hints(*e.program); }},
    {LogName::cudagraphs, LogLevel::info, [](const Entry& e) { return e.program->recording_report(); }},
    {LogName::autotuning, LogLevel::info, [](const Entry& e) { return choices_report(*e.program); }},
    {LogName::memory, LogLevel::info, memory_summary},
    {LogName::memory, LogLevel::debug, [](const Entry& e) { return memory_report(*e.program); }},
};

}  // namespace

void log_compiled(const Context& context, const Entry& entry, std::string_view why, bool again) {
  const auto is_on = [&](auto& log) { return context.logs(log.name, log.level); };
  if (!context.logs(LogName::recompiles, again ? LogLevel::info : LogLevel::debug) &&
      !context.logs(LogName::fusion, LogLevel::info) && !context.logs(LogName::output_code, LogLevel::info) &&
      std::none_of(std::begin(kProgramLogs), std::end(kProgramLogs), is_on))
    return;  // traces that are made when they are looked at stay unmade
  const Trace& made = entry.traces.made().empty() ? entry.program->trace() : entry.traces.made().front();
  const std::string_view function = made.function, where = first_source_line(made.nodes);
  context.log(again ? LogLevel::info : LogLevel::debug, LogName::recompiles, function, where,
              cat(again ? "compiled again: " : "compiled: ", why));
  for (const ProgramLog& log : kProgramLogs)
    if (context.logs(log.name, log.level)) context.log(log.level, log.name, function, where, log.text(entry));
  if (context.logs(LogName::fusion, LogLevel::info)) log_kernels(context, entry.traces.back());
  if (context.logs(LogName::fusion, LogLevel::debug))
    context.log(LogLevel::debug, LogName::fusion, function, where,
                fusion::explain(entry.traces.back(), context.targets()));
  if (context.logs(LogName::output_code, LogLevel::info)) log_traces(context, entry, function, where);
}

std::string log_text(const Context& context, const Entry& entry, LogLevel level) {
  std::string out;
  const auto add = [&](LogName log, std::string_view text) {
    for (; !text.empty(); text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1))
      out += cat(thunder::name(log), ": ", text.substr(0, text.find('\n')), "\n");
  };
  for (const ProgramLog& log : kProgramLogs)
    if (log.level >= level) add(log.name, log.text(entry));
  if (level == LogLevel::debug) add(LogName::fusion, fusion::explain(entry.traces.back(), context.targets()));
  return out;
}

void Context::read_logs() {
  const char* const told = std::getenv("THUNDER_LOGS");
  if (!told || !*told) return;
  log_levels_.set(told, "THUNDER_LOGS");
  logs_from_environment_ = true;
}

void Context::set_logs(std::string_view text) {
  LogLevels checked;
  checked.set(text, "set_logs");
  if (!logs_from_environment_) log_levels_.set(text, "set_logs");
}

void Context::log(LogLevel level, LogName name, std::string_view text) const {
  if (!logs(name, level)) return;
  const char* const component = thunder::name(name).data();  // a literal
  const std::string line(text);
  if (hooks_.log && (!logs_from_environment_ || level >= LogLevel::warning))
    hooks_.log(static_cast<int32_t>(level), component, line.c_str(), line.size(), hooks_.user);
  else if (logs_from_environment_)
    std::fprintf(stderr, "thunder: %s: %s\n", component, line.c_str());
}

void Context::log(LogLevel level, LogName name, std::string_view function, std::string_view where,
                  std::string_view text) const {
  if (!logs(name, level)) return;
  const bool known = where.empty() || function == where;
  const std::string head = cat(time_of_day(), " ", function, known ? "" : " at ", known ? "" : where, ": ");
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (end) log(level, name, cat(head, text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace thunder
