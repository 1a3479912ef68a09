// thunder_context_describe: what a context offers, as JSON for documentation, bindings and curious people.
#include "base/log.h"
#include "capi/describe_json.h"
#include "capi/describe_ops.h"
#include "capi/options.h"
#include "compile/stages.h"
#include "executors/engines.h"
#include "jit/reports/doctor.h"
#include "jit/reports/explain.h"
#include "jit/options/inductor_options.h"
#include "jit/options/modes.h"
#include "loops/target.h"
#include "modules/lr_scheduler.h"
#include "modules/optimizer.h"

using namespace thunder;
using namespace thunder::capi;

namespace {

std::string_view kind_text(ArgKind kind) {
  switch (kind) {
    case ArgKind::boolean:
      return "bool";
    case ArgKind::integer:
      return "int";
    case ArgKind::real:
      return "float";
    case ArgKind::reals:
      return "float[]";
    default:
      return "str";
  }
}

void describe_options(std::span<const OptionRow> rows, cJSON* array) {
  for (const OptionRow& row : rows)
    add_row(array, {{"name", row.name},
                    {"kind", row.function ? "function" : kind_text(row.kind)},
                    {"default", row.fallback},
                    {"doc", row.doc}});
}

// Describes the print options with their current values in the context.
void describe_printoptions(Context& context, cJSON* array) {
  describe_options(print_option_rows(), array);
  const TensorPrintOptions now = context.printing();
  int i = 0;
  for (const OptionRow& row : print_option_rows())
    add_text(cJSON_GetArrayItem(array, i++), "value", print_option_text(now, row.name));
}

void describe_executors(Context& context, cJSON* array) {
  std::vector<std::string> names = context.executor_names();
  const std::vector<std::string> defaults = context.default_executor_names();
  const auto place = [](const std::vector<std::string>& list, const std::string& name) {
    return std::find(list.begin(), list.end(), name) - list.begin();
  };
  for (auto& name : defaults)  // an engine's is not listed before somebody wants it
    if (place(names, name) == std::ssize(names)) names.insert(names.end() - 1, name);
  for (auto& name : names) {
    cJSON* o = add_row(array, {{"name", name}});
    const auto at = place(defaults, name);
    if (!cJSON_AddNumberToObject(o, "default", at == std::ssize(defaults) ? 0 : double(at + 1))) throw std::bad_alloc();
    add_flag(o, "always", name == defaults.back());
  }
}

void describe_unavailable(Context& context, cJSON* array) {
  auto all = context.missing_executors();
  // The executor is always listed. It claims nothing for a kind of device whose compiler is missing, which is looked
  // for only when this is asked.
  for (auto& target : context.targets())
    if (std::string why; !target->available(&why))
      all.emplace_back(target->device_kind() == kind(Device::cpu) ? "fusion" : cat("fusion on ", target->name()), why);
  for (auto& [name, why] : all) add_row(array, {{"name", name}, {"why", why}});
}

// Sizes in bytes; 0 if the system does not tell.
void describe_machine(Context& context, cJSON* array) {
  const Machine& m = context.machine();
  cJSON* o = add_row(array, {{"processor", m.processor}, {"instructions", name(m.instructions)}});
  add_flag(o, "bf16_dot_products", m.bf16_dot_products);
  add_flag(o, "tile_registers", m.tile_registers);
  for (auto [name, value] : {std::pair{"vector_bytes", m.vector_bytes},
                             {"vector_registers", m.vector_registers},
                             {"line_bytes", m.line},
                             {"l1_bytes", m.l1},
                             {"l2_bytes", m.l2},
                             {"last_level_bytes", m.last_level},
                             {"conflict_stride_bytes", m.conflict_stride},
                             {"page_bytes", m.page},
                             {"threads", m.threads}})
    add_text(o, name, cat(uint64_t{value}));
}

void describe_installation(Context& context, cJSON* array) {
  constexpr std::string_view states[] = {"works", "missing", "fails"};
  for (const Finding& f : examine(context))
    add_row(array, {{"name", f.name}, {"state", states[static_cast<size_t>(f.state)]}, {"text", f.text}});
}

void add_words(cJSON* o, const char* key, std::span<const std::string> words) {
  add_text(o, key, join(words, ",", [](auto& word) -> std::string_view { return word; }));
}

void describe_backends(Context& context, cJSON* array) {
  for (auto& b : context.backends().all()) {
    cJSON* o = add_row(array, {{"name", b->name}, {"doc", b->doc}});
    std::vector<std::string> executors = b->executors, missing;
    std::string engine;  // its version and file, or every name that was looked for
    for (const std::string& name : executors)
      if (const EngineRow* row = find_engine(name); row ? !row->open("", engine) : !context.find_executor(name))
        missing.push_back(name);
    for (auto it = b->own.rbegin(); it != b->own.rend(); ++it) executors.insert(executors.begin(), (*it)->name());
    add_words(o, "executors", executors);
    add_words(o, "disable_passes", b->disabled_passes);
    add_words(o, "tags", b->tags);
    add_flag(o, "fusion", b->fuses);
    add_words(o, "missing_executors", missing);
    add_text(o, "engine", engine);
  }
}

void describe_modes(cJSON* array) {
  for (const ModeRow& mode : modes()) {
    cJSON* sets = add_object_in(add_row(array, {{"name", mode.name}}), "options");
    if (mode.max_autotune) add_flag(sets, "max_autotune", true);
    if (mode.use_cudagraphs) add_flag(sets, "use_cudagraphs", true);
    if (!mode.backend.empty()) add_text(sets, "backend", mode.backend);
  }
}

void describe_inductor_options(cJSON* array) {
  for (const InductorOption& row : inductor_options())
    add_row(array, {{"name", row.name}, {"state", name(row.state)}, {"ours", row.ours}, {"why", row.why}});
}

void describe_passes(Context& context, cJSON* array) {
  for (const StageRow& row : stages())
    add_flag(add_row(array, {{"name", row.name}, {"doc", row.why}}), "required", row.required);
  for (auto& pass : context.passes_with({})) {
    cJSON* o = add_row(array, {{"name", pass->name()}});
    if (!pass->before().empty()) add_text(o, "before", pass->before());
    if (!pass->after().empty()) add_text(o, "after", pass->after());
  }
}

void describe_modules(Context& context, cJSON* array) {
  for (auto& kind : context.module_kinds().all()) {
    cJSON* o = add_row(array, {{"name", kind->name()}});
    describe_schema(kind->schema(), o);
    add_text(o, "doc", kind->doc());
    add_flag(o, "forward", kind->forward != nullptr);
    add_text(o, "inputs", kind->inputs().text);
  }
}

// Optimisers and schedules: rows with a name, a sentence and options.
template <class Row>
void describe_rows(std::span<const Row> rows, cJSON* array) {
  for (const Row& row : rows)
    describe_options(row.options, add_array(add_row(array, {{"name", row.name}, {"doc", row.doc}}), "options"));
}

void describe_schedules(cJSON* array) {
  describe_rows(lr_scheduler_rows, array);
  int i = 0;
  for (const LrSchedulerRow& row : lr_scheduler_rows) {
    cJSON* o = cJSON_GetArrayItem(array, i++);
    add_flag(o, "of_schedules", row.of_schedules);
    add_flag(o, "by_metric", row.by_metric());
  }
}

void describe_memory(Context& context, cJSON* array) {
  const BlockCache* cache = context.block_cache();
  if (!cache) return;  // the host's own
  const MemoryStatistics s = cache->statistics();
  cJSON* o = add_row(array, {{"name", "blocks"}});
  // Integers of 64 bits do not fit in JSON's numbers.
  for (auto [name, value] : {std::pair{"used_bytes", uint64_t{s.used}},
                             {"kept_bytes", uint64_t{s.kept}},
                             {"limit_bytes", uint64_t{cache->limit()}},
                             {"hits", s.hits},
                             {"misses", s.misses}})
    add_text(o, name, cat(value));
}

void describe_logs(cJSON* array) {
  for (const LogRow& row : log_rows()) add_row(array, {{"name", row.name}, {"doc", row.doc}, {"more", row.more}});
}

void describe_reports(cJSON* array) {
  for (const ReportRow& row : report_rows()) add_row(array, {{"name", row.name}, {"doc", row.doc}});
}

struct Subject {
  std::string_view name;
  void (*describe)(Context&, cJSON*);
};
constexpr Subject kSubjects[] = {
    {"ops", describe_ops},
    {"modules", describe_modules},
    {"optimizers", [](Context&, cJSON* array) { describe_rows(optimizer_rows(), array); }},
    {"schedules", [](Context&, cJSON* array) { describe_schedules(array); }},
    {"options", [](Context&, cJSON* array) { describe_options(compile_options(), array); }},
    {"inductor_options", [](Context&, cJSON* array) { describe_inductor_options(array); }},
    {"modes", [](Context&, cJSON* array) { describe_modes(array); }},
    {"backends", describe_backends},
    {"printoptions", describe_printoptions},
    {"executors", describe_executors},
    {"unavailable_executors", describe_unavailable},
    {"machine", describe_machine},
    {"installation", describe_installation},
    {"passes", describe_passes},
    {"memory", describe_memory},
    {"reports", [](Context&, cJSON* array) { describe_reports(array); }},
    {"logs", [](Context&, cJSON* array) { describe_logs(array); }},
};

std::string describe(Context& context, std::string_view what) {
  std::vector<std::string_view> known;
  for (const Subject& s : kSubjects) {
    known.push_back(s.name);
    if (s.name != what) continue;
    Json array(cJSON_CreateArray());
    s.describe(context, array.item);
    std::unique_ptr<char, void (*)(void*)> text(cJSON_PrintUnformatted(array.item), cJSON_free);
    if (!text) throw std::bad_alloc();
    return text.get();
  }
  throw Refusal{Code::not_found, cat("cannot describe '", what, "'", suggest(what, known))};
}

}  // namespace

extern "C" thunder_status* thunder_context_describe(thunder_context* context, const char* what,
                                                    thunder_values* out) noexcept {
  return given(guarded(__func__, [&] {
    need(context, "context"), need(what, "what"), need(out, "out");
    core(out)->push(Any::string(describe(*core(context), what)));
  }));
}

extern "C" thunder_status* thunder_suggest(const char* name, const char* const* names, size_t n_names,
                                           thunder_values* out) noexcept {
  return given(guarded(__func__, [&] {
    need(name, "name"), need(out, "out");
    check(names || !n_names, "names is NULL");
    std::vector<std::string_view> known;
    for (size_t i = 0; i < n_names; i++) {
      check(names[i], "names[", i, "] is NULL");
      known.push_back(names[i]);
    }
    core(out)->push(Any::string(suggest(name, known)));
  }));
}
