#include "tracer/compile_settings.h"

#include <algorithm>
#include <array>
#include <deque>
#include <type_traits>

#include "base/text.h"

namespace thunder {
namespace {

// The values of an option that is one of several, in the order of its type.
constexpr std::array<std::string_view, 3> value_names(Precision) { return {"highest", "high", "medium"}; }
constexpr std::array<std::string_view, 4> value_names(CacheMode) {
  return {"constant values", "symbolic values", "same input", "no caching"};
}
constexpr std::array<std::string_view, 3> value_names(SharpEdges) { return {"allow", "warn", "error"}; }
constexpr std::array<std::string_view, 4> value_names(DebugCheck) { return {"nan", "inf", "reference", "bounds"}; }
constexpr std::array<std::string_view, 10> value_names(TraceFile) {
  return {"fx_graph",      "fx_graph_transformed", "ir_pre_fusion",   "ir_post_fusion", "output_code",
          "graph_diagram", "draw_orig_fx_graph",   "compile_profile", "info_log",       "debug_log"};
}

// How an option's type is shown in the table: its kind, and the text of a value.
template <class T>
struct OptionType {
  static constexpr ArgKind kKind = ArgKind::string;
  static std::string text(T value) { return std::string(value_names(value)[static_cast<size_t>(value)]); }
};
template <>
struct OptionType<bool> {
  static constexpr ArgKind kKind = ArgKind::boolean;
  static std::string text(bool value) { return value ? "true" : "false"; }
};
template <>
struct OptionType<std::optional<bool>> {
  static constexpr ArgKind kKind = ArgKind::boolean;
  static std::string text(const std::optional<bool>&) { return "null"; }
};
template <>
struct OptionType<Count> {
  static constexpr ArgKind kKind = ArgKind::integer;
  static std::string text(Count value) { return cat(value.value); }
};
template <>
struct OptionType<std::string> {
  static constexpr ArgKind kKind = ArgKind::string;
  static std::string text(const std::string& value) { return value; }
};
template <>
struct OptionType<NameList> {
  static constexpr ArgKind kKind = ArgKind::string;
  static std::string text(const NameList& value) { return join(value, ",", [](auto& name) { return name; }); }
};
template <class E>
struct OptionType<NameSet<E>> {
  static constexpr ArgKind kKind = ArgKind::string;
  static std::string text(const NameSet<E>& value) {
    NameList all;
    for (size_t i = 0; i < value_names(E()).size(); i++)
      if (value.has(static_cast<E>(i))) all.emplace_back(value_names(E())[i]);
    return OptionType<NameList>::text(all);
  }
};
template <>
struct OptionType<Ref<Function>> {
  static constexpr ArgKind kKind = ArgKind::none;
  static std::string text(const Ref<Function>&) { return "null"; }
};

void read(std::string_view, const Leaf& leaf, bool& out) { out = leaf.i != 0; }
void read(std::string_view, const Leaf& leaf, std::optional<bool>& out) { out = leaf.i != 0; }
void read(std::string_view, const Leaf& leaf, std::string& out) { out = leaf.text; }
void read(std::string_view, const Leaf& leaf, NameList& out) { out = split_list(leaf.text); }
void read(std::string_view, const Leaf&, Ref<Function>&) {}  // no leaf
void read(std::string_view name, const Leaf& leaf, Count& out) {
  require(leaf.i >= 1, "compile: option '", name, "' must be at least 1, got ", leaf.i);
  out.value = leaf.i;
}
// Reads one of the names of E; `must` says what the option has to be.
template <class E>
E read_name(std::string_view option, std::string_view must, std::string_view text) {
  constexpr auto names = value_names(E());
  const auto found = std::find(names.begin(), names.end(), text);
  const auto quoted = [](std::string_view word) { return cat('"', word, '"'); };
  require(found != names.end(), "compile: option '", option, "' must be ", must,
          join(std::span(names).first(names.size() - 1), ", ", quoted), " or ", quoted(names.back()), ", got ",
          quoted(text));
  return static_cast<E>(found - names.begin());
}
template <class T>
  requires std::is_enum_v<T>
void read(std::string_view name, const Leaf& leaf, T& out) {
  out = read_name<T>(name, "", leaf.text);
}
template <class E>
void read(std::string_view name, const Leaf& leaf, NameSet<E>& out) {
  out = {};
  for (const std::string& word : split_list(leaf.text)) out.add(read_name<E>(name, "a list of ", word));
}

// Calls f(name, field, documentation) for each option, in the table's order.
template <class F>
void for_each_option(F&& f) {
#define OPTION(type, name, otherwise, doc) f(std::string_view(#name), &CompileSettings::name, std::string_view(doc));
#include "tracer/compile_options.def"
#undef OPTION
}

std::vector<OptionRow> rows() {
  static std::deque<std::string> defaults;
  std::vector<OptionRow> out;
  for_each_option([&]<class T>(std::string_view name, T CompileSettings::*field, std::string_view doc) {
    defaults.push_back(OptionType<T>::text(default_settings().*field));
    out.push_back({name, OptionType<T>::kKind, defaults.back(), doc, std::is_same_v<T, Ref<Function>>});
  });
  return out;
}

}  // namespace

bool CompileSettings::leaves_out(std::string_view pass) const {
  return std::find(disable_passes.begin(), disable_passes.end(), pass) != disable_passes.end();
}

std::string_view name(TraceFile file) { return value_names(file)[static_cast<size_t>(file)]; }

const CompileSettings& default_settings() {
  static const CompileSettings settings;
  return settings;
}

std::span<const OptionRow> compile_options() {
  static const std::vector<OptionRow> all = rows();
  return all;
}

void read_settings(const Options& given, CompileSettings& out) {
  given.check(compile_options(), "compile");
  for_each_option([&](std::string_view name, auto field, std::string_view) {
    if (const Leaf* leaf = given.find(name)) read(name, *leaf, out.*field);
  });
}

void read_settings(std::string_view name, Ref<Function> given, CompileSettings& out) {
  std::vector<std::string_view> known;
  for_each_option([&]<class T>(std::string_view option, T CompileSettings::*field, std::string_view) {
    if constexpr (std::is_same_v<T, Ref<Function>>) {
      known.push_back(option);
      if (option == name) out.*field = given;
    }
  });
  require(std::find(known.begin(), known.end(), name) != known.end(), "compile: option '", name,
          "' cannot be a function", suggest(name, known));
}

}  // namespace thunder
