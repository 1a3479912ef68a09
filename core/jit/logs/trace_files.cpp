#include "jit/logs/trace_files.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>

#include <sys/stat.h>

#include "base/files.h"
#include "base/text.h"
#include "cache/entry.h"
#include "ir/print.h"
#include "jit/logs/graph.h"
#include "jit/logs/logs.h"
#include "program/report.h"
#include "tracer/compile_settings.h"

namespace thunder {
namespace {

// The trace as it was before a stage; the first one where that has not changed it.
Trace trace_before(const Entry& entry, std::string_view stage) {
  const std::vector<Trace> all = entry.traces.all();
  const auto at = std::find_if(all.begin(), all.end(), [&](auto& t) { return t.pass == stage; });
  return at == all.begin() ? *at : at[-1];
}

std::string stage_times(const Entry& entry) {
  std::string out = cat("trace: ", entry.trace_ms, " ms\n");
  for (const StageTime& t : entry.stages) out += cat(t.name, ": ", t.milliseconds, " ms\n");
  return out;
}

struct FileRow {
  TraceFile file;
  std::string_view ending;
  std::string (*text)(const Context&, const Entry&);
};
constexpr FileRow kFiles[] = {
    {TraceFile::fx_graph, ".txt", [](const Context&, const Entry& e) { return print(e.traces.front()); }},
    {TraceFile::fx_graph_transformed, ".txt",
     [](const Context&, const Entry& e) { return print(trace_before(e, "claim")); }},
    {TraceFile::ir_pre_fusion, ".txt",
     [](const Context&, const Entry& e) { return print(trace_before(e, "form_regions")); }},
    {TraceFile::ir_post_fusion, ".txt", [](const Context&, const Entry& e) { return print(e.traces.back()); }},
    {TraceFile::output_code, ".txt", [](const Context&, const Entry& e) { return loops_report(*e.program); }},
    {TraceFile::graph_diagram, ".dot", [](const Context&, const Entry& e) { return graphviz(e.traces.back()); }},
    {TraceFile::draw_orig_fx_graph, ".dot", [](const Context&, const Entry& e) { return graphviz(e.traces.front()); }},
    {TraceFile::compile_profile, ".txt", [](const Context&, const Entry& e) { return stage_times(e); }},
    {TraceFile::info_log, ".txt", [](const Context& c, const Entry& e) { return log_text(c, e, LogLevel::info); }},
    {TraceFile::debug_log, ".txt", [](const Context& c, const Entry& e) { return log_text(c, e, LogLevel::debug); }},
};

// Makes a folder. Returns whether this call made it.
bool make_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0777) == 0) return true;
  if (errno == EEXIST) return false;
  fail(Code::failed_precondition, "compile: option 'trace_dir': ", path, " cannot be made: ", std::strerror(errno));
}

// Makes a new folder: FUNCTION_1 and so on.
std::string make_new_folder(const std::string& folder, std::string_view function) {
  make_folder(folder);
  std::string name(function);
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '-') c = '_';
  for (size_t number = 1;; number++)
    if (std::string path = cat(folder, "/", name, "_", number); make_folder(path)) return path;
}

}  // namespace

void write_trace_files(const Context& context, const CompileSettings& settings, const Entry& entry) {
  if (settings.trace_dir.empty()) return;
  const std::string folder = make_new_folder(settings.trace_dir, entry.traces.front().function);
  for (const FileRow& row : kFiles)
    if (settings.trace_files.has(row.file))
      write_file(cat(folder, "/", name(row.file), row.ending), row.text(context, entry));
}

}  // namespace thunder
