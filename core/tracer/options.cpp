#include "tracer/options.h"

#include "base/text.h"

namespace thunder {

void Options::set(std::string_view name, const Any& value) {
  Values one;
  one.push(value);
  set(name, std::move(one[0]));
}

void Options::set(std::string_view name, Leaf value) {
  for (auto& [n, leaf] : values_)
    if (n == name) return void(leaf = std::move(value));
  values_.emplace_back(std::string(name), std::move(value));
}

const Leaf* Options::find(std::string_view name) const {
  for (auto& [n, leaf] : values_)
    if (n == name) return &leaf;
  return nullptr;
}

void Options::check(std::span<const OptionRow> rows, std::string_view who) const {
  for (auto& [name, leaf] : values_) {
    const OptionRow* row = nullptr;
    std::vector<std::string_view> known;
    for (auto& r : rows) {
      known.push_back(r.name);
      if (r.name == name) row = &r;
    }
    require(row != nullptr, who, ": unknown option '", name, "'", suggest(name, known));
    require(!row->function, who, ": option '", name, "' must be a function");
    const bool widened = row->kind == ArgKind::real && leaf.kind == ArgKind::integer;
    constexpr std::string_view kinds[] = {"None", "a tensor", "an integer", "a float", "a boolean", "a string"};
    auto kind_text = [&](ArgKind k) {
      return static_cast<size_t>(k) < std::size(kinds) ? kinds[static_cast<size_t>(k)] : "a list";
    };
    const bool open = row->fallback == kNone && leaf.kind == ArgKind::none;
    require(widened || open || row->kind == leaf.kind, who, ": option '", name, "' must be ", kind_text(row->kind),
            ", got ", kind_text(leaf.kind));
  }
}

bool Options::flag(std::string_view name, bool otherwise) const {
  const Leaf* l = find(name);
  return l ? l->i != 0 : otherwise;
}
int64_t Options::integer(std::string_view name, int64_t otherwise) const {
  const Leaf* l = find(name);
  return l ? l->i : otherwise;
}
double Options::real(std::string_view name, double otherwise) const {
  const Leaf* l = find(name);
  return !l ? otherwise : l->kind == ArgKind::integer ? static_cast<double>(l->i) : l->f;
}
std::string Options::text(std::string_view name, std::string_view otherwise) const {
  const Leaf* l = find(name);
  return l ? l->text : std::string(otherwise);
}

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> out;
  for (size_t from = 0; from < text.size();) {
    const size_t to = std::min(text.find(',', from), text.size());
    std::string_view word = text.substr(from, to - from);
    while (!word.empty() && word.front() == ' ') word.remove_prefix(1);
    while (!word.empty() && word.back() == ' ') word.remove_suffix(1);
    if (!word.empty()) out.emplace_back(word);
    from = to + 1;
  }
  return out;
}

}  // namespace thunder
