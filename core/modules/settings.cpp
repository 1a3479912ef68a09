#include "modules/settings.h"

#include <charconv>

#include "base/text.h"

namespace thunder {
namespace {

double number(std::string_view text) {
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  ensure(error == std::errc() && end == text.data() + text.size(), "default '", text, "' is no number");
  return value;
}

// A row's default as the table shows it.
Leaf parse_default(const OptionRow& row) {
  Leaf leaf;
  if (row.fallback == kNone) return leaf;
  leaf.kind = row.kind;
  switch (row.kind) {
    case ArgKind::boolean:
      leaf.i = row.fallback == "true";
      break;
    case ArgKind::integer:
      leaf.i = static_cast<int64_t>(number(row.fallback));
      break;
    case ArgKind::real:
      leaf.f = number(row.fallback);
      break;
    case ArgKind::reals:
      for (auto& word : split_list(row.fallback)) leaf.reals.push_back(number(word));
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
