#include "jit/programs/program_json.h"

#include <array>
#include <charconv>
#include <cstring>
#include <memory>
#include <new>

#include "base/json.h"
#include "base/text.h"
#include "base/utf8.h"
#include "ir/spelling.h"
#include "ir/terms.h"

namespace thunder {
namespace {

// ---- writing: numbers are strings, so that no reader rounds them ----

std::string quoted(std::string_view text) {
  require(valid_utf8(text) && text.find('\0') == text.npos,
          "a string among its constants is not UTF-8 text without zeros");
  return json_quote(text);
}

template <class List>
std::string list_json(const List& items) {
  return cat("[", join(items, ",", [](auto v) { return cat("\"", v, "\""); }), "]");
}

struct KindName {
  ArgKind kind;
  std::string_view name;
};
constexpr std::array kKinds = {
    KindName{ArgKind::none, "none"},     KindName{ArgKind::integer, "integer"}, KindName{ArgKind::real, "float"},
    KindName{ArgKind::boolean, "boolean"}, KindName{ArgKind::string, "string"},   KindName{ArgKind::dims, "integers"},
    KindName{ArgKind::reals, "floats"},  KindName{ArgKind::dtype, "dtype"},     KindName{ArgKind::device, "device"},
};

std::string value_json(const Leaf& l) {
  switch (l.kind) {
    case ArgKind::real: return cat("\"", l.f, "\"");
    case ArgKind::string: return quoted(l.text);
    case ArgKind::dims: return list_json(l.ints);
    case ArgKind::reals: return list_json(l.reals);
    default: return cat("\"", l.i, "\"");
  }
}

std::string input_json(const SavedInput& in) {
  if (in.symbol) return cat("{\"kind\":\"integer\",\"value\":\"", in.constant.i, "\",\"symbol\":\"", *in.symbol, "\"}");
  if (in.argument == SavedInput::kConstant) return leaf_json(in.constant);
  return cat("{\"kind\":\"input\",\"place\":\"", in.argument + 1, "\"",
             in.strides.empty() ? "" : cat(",\"strides\":", list_json(in.strides)),
             in.value ? cat(",\"value\":\"", *in.value, "\"") : "", "}");
}

constexpr std::array<std::string_view, 3> kComparisons = {"equal", "less", "at most"};

std::string condition_json(const DimCondition& c) {
  std::string a, b;
  spelling::append_dim(a, c.a), spelling::append_dim(b, c.b);
  return cat("{\"a\":\"", a, "\",\"is\":\"", kComparisons[static_cast<size_t>(c.is)], "\",\"b\":\"", b,
             "\",\"holds\":\"", c.holds ? 1 : 0, "\"}");
}

std::string range_json(const SizeRange& r) {
  return cat("{\"leaf\":\"", r.leaf, "\",\"dim\":\"", r.dim, "\",\"min\":\"", r.min, "\",\"max\":\"", r.max, "\"}");
}

// The fields of programs with symbols.
std::string symbols_json(const SavedProgram& p) {
  std::string out;
  if (!p.conditions.empty()) out += cat(",\"conditions\":[", join(p.conditions, ",", condition_json), "]");
  if (!p.ranges.empty()) out += cat(",\"ranges\":[", join(p.ranges, ",", range_json), "]");
  if (!p.roots.empty()) out += cat(",\"memory\":", list_json(number_memory_roots(p)));
  return out;
}

// ---- reading ----

using Json = std::unique_ptr<cJSON, void (*)(cJSON*)>;

Json parse_json(std::string_view text) {
  require(valid_utf8(text) && json_zero(text) == text.npos, "it is not UTF-8 text without zeros");
  // cJSON does not tell bad text from missing memory.
  if (const size_t at = json_error(text); at != text.npos)
    fail(Code::invalid_argument, "it is not JSON (at offset ", at, ")");
  Json root(cJSON_ParseWithLength(text.data(), text.size()), cJSON_Delete);
  if (!root) throw std::bad_alloc();
  return root;
}

// The fields of an object, each known and given once.
template <size_t n>
std::array<const cJSON*, n> read_fields(const cJSON* object, const std::array<std::string_view, n>& known) {
  require(cJSON_IsObject(object), "an object was expected");
  std::array<const cJSON*, n> found{};
  for (const cJSON* field = object->child; field; field = field->next) {
    const auto at = std::find(known.begin(), known.end(), std::string_view(field->string));
    require(at != known.end(), "'", field->string, "' is no field");
    auto& place = found[static_cast<size_t>(at - known.begin())];
    require(!place, "'", field->string, "' is given twice");
    place = field;
  }
  return found;
}

std::string_view text_of(const cJSON* item) {
  require(cJSON_IsString(item), "a string was expected");
  return item->valuestring;
}

template <class T>
T read_number(const cJSON* item) {
  const std::string_view text = text_of(item);
  T value{};
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  require(read.ec == std::errc() && read.ptr == text.data() + text.size(), "'", text.substr(0, 40),
          "' is not a number that was expected");
  return value;
}

template <class List>
void read_list(const cJSON* list, List& out) {
  require(cJSON_IsArray(list), "a list was expected");
  for (const cJSON* item = list->child; item; item = item->next)
    out.push_back(read_number<std::remove_cvref_t<decltype(out[0])>>(item));
}

Leaf read_leaf(std::string_view kind, const cJSON* value) {
  const auto row = std::find_if(kKinds.begin(), kKinds.end(), [&](auto& k) { return k.name == kind; });
  require(row != kKinds.end(), "'", kind.substr(0, 40), "' is no kind");
  Leaf l;
  l.kind = row->kind;
  switch (l.kind) {
    case ArgKind::none: break;
    case ArgKind::real: l.f = read_number<double>(value); break;
    case ArgKind::string: l.text = text_of(value); break;
    case ArgKind::dims: read_list(value, l.ints); break;
    case ArgKind::reals: read_list(value, l.reals); break;
    default: l.i = read_number<int64_t>(value); break;
  }
  require(l.kind != ArgKind::boolean || l.i == 0 || l.i == 1, "a boolean is 0 or 1");
  require(l.kind != ArgKind::dtype || (l.i == static_cast<int32_t>(l.i) && known(static_cast<DType>(l.i))),
          "there is no dtype ", l.i);
  require(l.kind != ArgKind::device || l.i == static_cast<int32_t>(l.i), "there is no device ", l.i);
  return l;
}

SavedInput read_input(const cJSON* item) {
  constexpr std::array<std::string_view, 5> kNames = {"kind", "place", "strides", "value", "symbol"};
  const auto [kind, place, strides, value, symbol] = read_fields(item, kNames);
  SavedInput in;
  require(!symbol || text_of(kind) == "integer", "a symbol is an integer's");
  if (symbol) in.symbol = read_number<int64_t>(symbol);
  if (text_of(kind) != "input") {
    require(!place && !strides, "a constant has no place and no strides");
    in.constant = read_leaf(text_of(kind), value);
    return in;
  }
  const auto number = read_number<uint32_t>(place);
  require(number >= 1, "places count from 1");
  in.argument = number - 1;
  if (strides) read_list(strides, in.strides);
  if (value) in.value = read_number<double>(value);
  return in;
}

// A size written as text; its symbols must be plain numbers.
Dim read_dim(const cJSON* item, Terms& terms) {
  Cursor c(text_of(item), 1, "condition");
  const Dim d = terms.size(c);
  require(c.done(), "'", text_of(item), "' is no size");
  return d;
}

DimCondition read_condition(const cJSON* item, Terms& terms) {
  constexpr std::array<std::string_view, 4> kNames = {"a", "is", "b", "holds"};
  const auto [a, is, b, holds] = read_fields(item, kNames);
  const auto found = std::find(kComparisons.begin(), kComparisons.end(), text_of(is));
  require(found != kComparisons.end(), "'", text_of(is), "' is no comparison");
  return {read_dim(a, terms), read_dim(b, terms), static_cast<DimCondition::Is>(found - kComparisons.begin()),
          read_number<int64_t>(holds) != 0};
}

SizeRange read_range(const cJSON* item) {
  constexpr std::array<std::string_view, 4> kNames = {"leaf", "dim", "min", "max"};
  const auto [leaf, dim, min, max] = read_fields(item, kNames);
  return {read_number<uint32_t>(leaf), read_number<uint32_t>(dim), read_number<int64_t>(min),
          read_number<int64_t>(max)};
}

// The conditions of a program whose symbols are s0 to s(most).
void read_conditions(const cJSON* list, SavedProgram& out) {
  constexpr int kMostSymbols = 64;
  const auto store = std::make_shared<Store>();
  Terms terms(*store);
  for (int k = 0; k < kMostSymbols; k++) {
    const std::string symbol = cat("s", k, " = 2");
    Cursor c(symbol, 1);
    terms.declare_symbol(c);
  }
  for (const cJSON* item = list->child; item; item = item->next) out.conditions.push_back(read_condition(item, terms));
  out.terms = store;
}

ResultLeaf read_result(const cJSON* item, uint32_t& outputs) {
  constexpr std::array<std::string_view, 2> kNames = {"kind", "value"};
  const auto [kind, value] = read_fields(item, kNames);
  ResultLeaf r;
  if (text_of(kind) == "output") r.output = outputs++;
  else r.constant = read_leaf(text_of(kind), value);
  return r;
}

}  // namespace

std::string leaf_json(const Leaf& l) {
  const auto row = std::find_if(kKinds.begin(), kKinds.end(), [&](auto& k) { return k.kind == l.kind; });
  require(row != kKinds.end(), "one of its constants is of a kind that a file does not hold");
  if (l.kind == ArgKind::none) return "{\"kind\":\"none\"}";
  return cat("{\"kind\":\"", row->name, "\",\"value\":", value_json(l), "}");
}

std::string options_json(const CompileOptions& options) {
  return cat(
      "{",
      join(options.all(), ",", [](auto& option) { return cat(quoted(option.first), ":", leaf_json(option.second)); }),
      "}");
}

std::string program_json(const SavedProgram& p, std::span<const std::string> names) {
  const auto result = [](const ResultLeaf& r) {
    return r.output == ResultLeaf::kConstant ? leaf_json(r.constant) : "{\"kind\":\"output\"}";
  };
  const auto tensor = [](const std::string& name) { return name.empty() ? "null" : quoted(name); };
  return cat("{\"structure\":", quoted(p.structure), ",\"inputs\":[", join(p.inputs, ",", input_json),
             "],\"result_structure\":", quoted(p.result_structure), ",\"results\":[", join(p.results, ",", result),
             "],\"tensors\":[", join(names, ",", tensor), "]", symbols_json(p), "}");
}

std::string names_json(std::span<const std::string> names) {
  return cat("[", join(names, ",", [](const std::string& name) { return quoted(name); }), "]");
}

std::vector<std::string> read_names(std::string_view json) {
  const Json root = parse_json(json);
  require(cJSON_IsArray(root.get()), "a list was expected");
  std::vector<std::string> names;
  for (const cJSON* item = root->child; item; item = item->next) names.emplace_back(text_of(item));
  return names;
}

void read_options(std::string_view json, CompileOptions& out) {
  const Json root = parse_json(json);
  require(cJSON_IsObject(root.get()), "an object was expected");
  for (const cJSON* item = root->child; item; item = item->next) {
    constexpr std::array<std::string_view, 2> kNames = {"kind", "value"};
    const auto [kind, value] = read_fields(item, kNames);
    const Leaf l = read_leaf(text_of(kind), value);
    require(l.kind != ArgKind::dims && l.kind != ArgKind::reals, "option '", item->string, "' is a list");
    out.set(item->string, l);
  }
}

std::vector<std::string> read_program(std::string_view json, SavedProgram& out) {
  constexpr std::array<std::string_view, 8> kNames = {"structure", "inputs",     "result_structure", "results",
                                                      "tensors",   "conditions", "ranges",           "memory"};
  const Json root = parse_json(json);
  const auto [structure, inputs, result_structure, results, tensors, conditions, ranges, memory] =
      read_fields(root.get(), kNames);
  require(cJSON_IsArray(inputs) && cJSON_IsArray(results) && cJSON_IsArray(tensors),
          "inputs, results and tensors are lists");
  out.structure = text_of(structure);
  out.result_structure = text_of(result_structure);
  for (const cJSON* item = inputs->child; item; item = item->next) out.inputs.push_back(read_input(item));
  uint32_t outputs = 0;
  for (const cJSON* item = results->child; item; item = item->next) out.results.push_back(read_result(item, outputs));
  require((!conditions || cJSON_IsArray(conditions)) && (!ranges || cJSON_IsArray(ranges)),
          "conditions and ranges are lists");
  if (conditions) read_conditions(conditions, out);
  for (const cJSON* item = ranges ? ranges->child : nullptr; item; item = item->next)
    out.ranges.push_back(read_range(item));
  if (memory) read_list(memory, out.memory);
  std::vector<std::string> names;
  for (const cJSON* item = tensors->child; item; item = item->next)
    names.emplace_back(cJSON_IsNull(item) ? std::string_view() : text_of(item));
  return names;
}

}  // namespace thunder
