#include "modules/settings.h"

#include <charconv>
#include <cmath>
#include <optional>

#include "base/text.h"

namespace thunder {
namespace {

double parse_number(std::string_view text) {
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  ensure(error == std::errc() && end == text.data() + text.size(), "default '", text, "' is no number");
  return value;
}

// Parses a row's default.
Leaf parse_default(const OptionRow& row) {
  Leaf leaf;
  if (row.fallback == kNone) return leaf;
  leaf.kind = row.kind;
  switch (row.kind) {
    case ArgKind::boolean:
      leaf.i = row.fallback == "true";
      break;
    case ArgKind::integer:
      leaf.i = static_cast<int64_t>(parse_number(row.fallback));
      break;
    case ArgKind::real:
      leaf.f = parse_number(row.fallback);
      break;
    case ArgKind::reals:
      for (auto& word : split_list(row.fallback)) leaf.reals.push_back(parse_number(word));
      break;
    default:
      leaf.text = row.fallback;
      break;
  }
  return leaf;
}

}  // namespace

Settings::Settings(std::span<const OptionRow> rows, const Options* given, std::string_view who,
                   const Settings* otherwise) {
  if (given) given->check(rows, who);
  for (const OptionRow& row : rows) {
    const Leaf* set = given ? given->find(row.name) : nullptr;
    if (!set && otherwise) set = &otherwise->leaf(row.name);
    require(set || !row.fallback.empty(), who, ": option '", row.name, "' is missing: ", row.doc);
    Leaf leaf = set ? *set : parse_default(row);
    if (row.kind == ArgKind::real && leaf.kind == ArgKind::integer) {
      leaf.kind = ArgKind::real;
      leaf.f = static_cast<double>(leaf.i);
    }
    values_.emplace_back(row.name, std::move(leaf));
  }
}

bool Settings::has(std::string_view name) const {
  for (auto& [n, leaf] : values_)
    if (n == name) return true;
  return false;
}

namespace {

// "betas.1" as the name of a list and a place in it; nullopt: it is one number's.
std::optional<size_t> split_list_index(std::string_view& name) {
  const size_t dot = name.find('.');
  size_t at = 0;
  if (dot == name.npos) return std::nullopt;
  const auto [end, error] = std::from_chars(name.data() + dot + 1, name.data() + name.size(), at);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  name = name.substr(0, dot);
  return at;
}

}  // namespace

double Settings::number(std::string_view who, std::string_view name) const {
  const auto at = split_list_index(name);
  const Leaf& l = leaf(name);
  require(at.has_value() == (l.kind == ArgKind::reals), who, ": '", name,
          at ? "' is one number" : "' is a list of numbers", at ? "" : cat(", of which '", name, ".0' is the first"));
  if (at)
    require(*at < l.reals.size(), who, ": '", name, "' has ", l.reals.size(), " numbers, there is no number ", *at);
  return at ? l.reals[*at] : l.kind == ArgKind::real ? l.f : static_cast<double>(l.i);
}

void Settings::set_number(std::string_view who, std::string_view name, double value) {
  number(who, name);  // which throws where there is none
  const auto at = split_list_index(name);
  for (auto& [n, l] : values_) {
    if (n != name) continue;
    const bool flag = l.kind == ArgKind::boolean, whole = l.kind == ArgKind::integer;
    require(l.kind == ArgKind::real || l.kind == ArgKind::reals || (flag && (value == 0 || value == 1)) ||
                (whole && value == std::floor(value)),
            who, ": '", name, "' must be ", flag ? "0 or 1" : whole ? "an integer" : "no number", ", got ", value);
    (at ? l.reals[*at] : l.f) = value;
    if (whole || flag) l.i = static_cast<int64_t>(value), l.f = 0;
  }
}

void Settings::set_integer(std::string_view name, int64_t value) {
  for (auto& [n, leaf] : values_) {
    if (n != name) continue;
    leaf.kind = ArgKind::integer;
    leaf.i = value;
  }
}

void Settings::set_real(std::string_view name, double value) {
  for (auto& [n, leaf] : values_) {
    if (n != name) continue;
    leaf.kind = ArgKind::real;
    leaf.f = value;
  }
}

const Leaf& Settings::leaf(std::string_view name) const {
  for (auto& [n, leaf] : values_)
    if (n == name) return leaf;
  fail(Code::internal, "internal error, please report it: no option '", name, "'");
}

}  // namespace thunder
