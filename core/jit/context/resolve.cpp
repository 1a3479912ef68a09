#include "jit/context/resolve.h"

#include <algorithm>

#include "base/text.h"
#include "compile/run_stages.h"
#include "executors/engines.h"
#include "jit/context/context.h"
#include "jit/options/executor_names.h"
#include "jit/options/inductor_options.h"
#include "jit/options/modes.h"

namespace thunder {
namespace {

// What a name among the values of an option of lightning-thunder's is here: nothing that must be asked for, the option
// `ours` = true, or not there.
struct LightningName {
  std::string_view option, name, ours, why_not;
};
constexpr LightningName kLightningNames[] = {
    {"recipe", "auto", "", ""},
    {"recipe", "default", "", ""},
    {"recipe", "hf-transformers", "",
     "models of the package transformers go through torch.compile(model, backend=\"thunder\") as they are"},
    {"plugins", "reduce-overhead", "use_cudagraphs", ""},
    {"plugins", "fp8", "",
     "products of 8-bit floats are not there; float32_matmul_precision and autocast come nearest"},
    {"plugins", "quantize-int4", "", "weights of 4 bits are not there"},
    {"plugins", "ddp", "", "a program runs on one device"},
    {"plugins", "fsdp", "", "a program runs on one device"},
    {"debug_options", "check_traces", "verify", ""},
    {"debug_options", "record_interpreter_history", "",
     "no interpreter runs the function; explain(f, \"stages\") says what was done to its trace"},
    {"debug_options", "show_interpreter_progress", "",
     "no interpreter runs the function; the option progress takes a function that each compile calls"},
};

std::string text_of(const Leaf& leaf) {
  switch (leaf.kind) {
    case ArgKind::boolean: return leaf.i ? "true" : "false";
    case ArgKind::integer: return cat(leaf.i);
    case ArgKind::real: return cat(leaf.f);
    case ArgKind::string: return leaf.text;
    default: return "None";
  }
}

std::string join_words(std::span<const std::string> words, std::string_view separator) {
  return join(words, separator, [](auto& word) -> std::string_view { return word; });
}

// `by` asks for a value of an option that may have been given otherwise.
void set_unless_conflicting(CompileOptions& out, std::string_view name, const Leaf& value, std::string_view by) {
  const Leaf* before = out.find(name);
  const std::string wanted = text_of(value);
  require(!before || text_of(*before) == wanted, "compile: ", by, " asks for ", name, " = ", wanted, ", and option '",
          name, "' says ", before ? text_of(*before) : "");
  out.set(name, value);
}
void set_unless_conflicting(CompileOptions& out, std::string_view name, std::string_view by) {
  Leaf yes;
  yes.kind = ArgKind::boolean, yes.i = 1;
  set_unless_conflicting(out, name, yes, by);
}

void set_unless_conflicting(CompileOptions& out, std::string_view name, std::string_view value, std::string_view by) {
  Leaf text;
  text.kind = ArgKind::string, text.text = value;
  set_unless_conflicting(out, name, text, by);
}

void add_disabled_passes(CompileOptions& out, std::span<const std::string> passes) {
  std::vector<std::string> all = split_list(out.text("disable_passes", ""));
  for (const std::string& pass : passes)
    if (std::find(all.begin(), all.end(), pass) == all.end()) all.push_back(pass);
  if (!all.empty()) out.set("disable_passes", Any::string(join_words(all, ",")));
}

std::pair<std::string_view, std::string_view> split_at(std::string_view text, char between) {
  const size_t at = text.find(between);
  return {text.substr(0, at), text.substr(at + 1)};
}

// Adds words to the list of an option, or takes them away. `which`: "option:word,word".
void change_words(CompileOptions& out, std::string_view which, bool add) {
  const auto [name, words] = split_at(which, ':');
  const auto rows = compile_options();
  const auto row = std::find_if(rows.begin(), rows.end(), [name = name](auto& r) { return r.name == name; });
  std::vector<std::string> all = split_list(out.text(name, row->fallback));
  for (const std::string& word : split_list(words)) {
    std::erase(all, word);
    if (add) all.push_back(word);
  }
  out.set(name, Any::string(join_words(all, ",")));
}

void replace_inductor_option(CompileOptions& out, const InductorOption& row, const Leaf& given) {
  const std::string value = text_of(given);
  const auto flag = [&] {
    require(given.kind == ArgKind::boolean, "compile: option '", row.name, "' must be a boolean, got ", value);
    return given.i != 0;
  };
  switch (row.state) {
    case InductorState::option:
      return set_unless_conflicting(out, row.ours, given, cat("option '", row.name, "'"));
    case InductorState::sets: {
      const auto [name, text] = split_at(row.ours, '=');
      if (!flag()) out.set(name, Any::string(""));
      else if (!out.find(name)) set_unless_conflicting(out, name, text, cat("option '", row.name, "'"));
      return;
    }
    case InductorState::words:
      return change_words(out, row.ours, flag());
    case InductorState::passes:
      if (!flag()) add_disabled_passes(out, split_list(row.ours));
      return;
    case InductorState::always:
      require(value == row.ours, "compile: option '", row.name, "' can only be ", row.ours, " here, got ", value, ": ",
              row.why);
      return;
    case InductorState::refused:
      fail(Code::unimplemented, "compile: option '", row.name, "' of PyTorch's Inductor is not there: ", row.why,
           row.ours.empty() ? "" : cat(" The option '", row.ours, "' comes nearest."));
  }
}

void apply_mode(CompileOptions& out) {
  const Leaf* given = out.find("mode");
  if (!given || given->kind != ArgKind::string) return;
  const std::string name = given->text;
  const auto mode = std::ranges::find_if(modes(), [&](auto& m) { return m.name == name; });
  std::vector<std::string> known;
  for (const ModeRow& m : modes()) known.push_back(cat('"', m.name, '"'));
  require(mode != modes().end(), "compile: option 'mode' must be one of ", join_words(known, ", "), ", got \"", name,
          "\"");
  const std::string by = cat("option 'mode' = \"", name, "\"");
  if (mode->max_autotune) set_unless_conflicting(out, "max_autotune", by);
  if (mode->use_cudagraphs) set_unless_conflicting(out, "use_cudagraphs", by);
  if (mode->backend.empty()) return;
  set_unless_conflicting(out, "backend", mode->backend, by);
}

// Older names of the values of `cache`.
void apply_cache_names(CompileOptions& out) {
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {{"use_static_caching", "constant values"},
                                                                      {"use_last_executed", "same input"},
                                                                      {"always_trace", "no caching"}};
  for (const auto& [name, value] : kNames)
    if (out.flag(name, false)) set_unless_conflicting(out, "cache", value, cat("option '", name, "'"));
}

void apply_lightning_name(CompileOptions& out, std::string_view option, std::string_view name) {
  std::vector<std::string_view> known;
  for (const LightningName& row : kLightningNames) {
    if (row.option != option) continue;
    known.push_back(row.name);
    if (row.name != name) continue;
    const std::string by = cat("option '", option, "' = \"", name, "\"");
    if (!row.why_not.empty()) fail(Code::unimplemented, "compile: ", by, " is not there: ", row.why_not);
    if (!row.ours.empty()) set_unless_conflicting(out, row.ours, by);
    return;
  }
  fail(Code::invalid_argument, "compile: option '", option, "' names ",
       join(known, ", ", [](auto word) { return cat('"', word, '"'); }), ", got \"", name, "\"", suggest(name, known));
}

void apply_lightning_names(CompileOptions& out) {
  for (const std::string_view option : {"recipe", "plugins", "debug_options"})
    if (const Leaf* given = out.find(option); given && given->kind == ArgKind::string)
      for (const std::string& name : split_list(given->text)) apply_lightning_name(out, option, name);
}

// Refuses options by which a measurement, or another library, would decide how results are rounded.
void apply_deterministic(CompileOptions& out, const Context& context) {
  if (!out.settings().deterministic) return;
  constexpr std::string_view kBy = "option 'deterministic'";
  Leaf no;
  no.kind = ArgKind::boolean;
  set_unless_conflicting(out, "max_autotune", no, kBy);
  NameList names;
  if (const Backend* backend = out.backend()) names = backend->executors;
  for (const Ref<Executor>& e : context.executors(out.settings().executors, {})) names.push_back(e->name());
  for (const std::string& name : names)
    require(!find_engine(name), "compile: ", kBy, " leaves no place for the executor '", name,
            "', whose library promises no bits; leave one of the two out");
}

void apply_executor_names(CompileOptions& out, std::span<const std::string> names) {
  for (const std::string& name : names) {
    const ExecutorName* row = find_product_name(name);
    if (!row) continue;
    const std::string by = cat("executor '", name, "'");
    if (!row->precision.empty()) set_unless_conflicting(out, "float32_matmul_precision", row->precision, by);
    if (row->max_autotune) set_unless_conflicting(out, "max_autotune", by);
  }
}

void apply_backend(CompileOptions& out, const Context& context) {
  const Leaf* given = out.find("backend");
  if (!given || given->kind != ArgKind::string) return;
  const auto backend = context.backends().get(given->text);
  out.use_backend(backend);
  add_disabled_passes(out, backend->disabled_passes);
  apply_executor_names(out, backend->executors);
  if (backend->use_cudagraphs)
    set_unless_conflicting(out, "use_cudagraphs", cat("option 'backend' = \"", backend->name, "\""));
}

}  // namespace


Ref<CompileOptions> resolve_options(const CompileOptions& given, const Context& context) {
  auto out = make<CompileOptions>(given);
  out->clear();
  const auto is_own = [](std::string_view name) {
    const auto rows = compile_options();
    return std::any_of(rows.begin(), rows.end(), [&](auto& row) { return row.name == name; });
  };
  std::vector<std::pair<const InductorOption*, const Leaf*>> others;
  for (auto& [name, leaf] : given.all()) {
    const InductorOption* row = is_own(name) ? nullptr : find_inductor_option(name);
    if (row) others.emplace_back(row, &leaf);
    else out->set(name, leaf);
  }
  // Options that set a value come before options that change one.
  std::stable_sort(others.begin(), others.end(), [](auto& a, auto& b) { return a.first->state < b.first->state; });
  for (auto& [row, leaf] : others) replace_inductor_option(*out, *row, *leaf);
  apply_mode(*out);
  apply_backend(*out, context);
  apply_cache_names(*out);
  apply_lightning_names(*out);
  out->update_settings();
  apply_executor_names(*out, out->settings().executors);
  apply_deterministic(*out, context);
  out->update_settings();
  context.executors(out->settings().executors, {});
  check_places(context.passes_with(out->passes()));
  return out;
}

}  // namespace thunder
