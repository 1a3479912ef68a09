#include "tracer/values.h"

#include <algorithm>

#include "base/text.h"

namespace thunder {
namespace {

std::string quote_key(std::string_view key) {
  std::string out = "\"";
  for (char c : key) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

}  // namespace

void Values::fail(std::string message) {
  if (!status_) status_ = make<Status>(Code::invalid_argument, std::move(message));
}

void Values::fail(Ref<Status> status) {
  if (!status_) status_ = std::move(status);
}

std::string Values::take_key(bool in_map) {
  if (in_map && !has_key_) fail("values: a leaf or group inside a map needs a key before it");
  if (!in_map && has_key_) fail(cat("values: key '", key_, "' outside of a map"));
  has_key_ = false;
  return std::exchange(key_, {});
}

void Values::add_child(std::string structure, size_t first) {
  if (open_.empty()) {
    take_key(false);
    if (!structure_.empty()) structure_ += ',';
    structure_ += structure;
    return;
  }
  Group& group = open_.back();
  std::string key = take_key(group.map);
  for (size_t i = 1; group.map && i < group.children.size(); i++)  // behind the sentinel
    if (group.children[i].key == key) return fail(cat("values: key '", key, "' is given twice"));
  group.children.push_back({std::move(key), std::move(structure), first});
}

void Values::push(const Any& a) {
  if (status_) return;
  Leaf leaf;
  leaf.kind = a.kind;
  const size_t first = leaves_.size();
  switch (a.kind) {
    case ArgKind::values:
      open(false, {});
      for (uint32_t i = 0; i < a.count; i++) push(Ref<Tensor>(a.ts[i]));
      return close();
    case ArgKind::value: leaf.tensor = Ref<Tensor>(a.t); break;
    case ArgKind::real: leaf.f = a.f; break;
    case ArgKind::string: leaf.text.assign(a.s, a.count); break;
    case ArgKind::dims: leaf.ints.assign(a.d, a.d + a.count); break;
    case ArgKind::reals: leaf.reals.assign(a.fs, a.fs + a.count); break;
    default: leaf.i = a.i; break;
  }
  leaves_.push_back(std::move(leaf));
  add_child("*", first);
}

void Values::push(Ref<Tensor> t) {
  if (status_) return;
  Leaf& leaf = leaves_.emplace_back();
  leaf.kind = t ? ArgKind::value : ArgKind::none;
  leaf.tensor = std::move(t);
  if (!open_.empty() || has_key_) return add_child("*", leaves_.size() - 1);
  structure_ += structure_.empty() ? "*" : ",*";  // what that would do, for arguments by position
}

void Values::key(std::string_view name) {
  if (status_) return;
  if (has_key_) return fail(cat("values: key '", key_, "' names nothing before key '", name, "'"));
  key_ = name;
  has_key_ = true;
}

void Values::open(bool map, std::string_view tag) {
  if (status_) return;
  if (tag.find_first_of("[]{}*,:\"") != tag.npos)
    return fail(cat("values: type tag '", tag, "' holds a character of the structure's grammar"));
  Group group;
  group.map = map;
  group.tag = tag;
  group.own_key = has_key_ ? key_ : "";
  const bool keyed = std::exchange(has_key_, false);
  key_.clear();
  const bool in_map = !open_.empty() && open_.back().map;
  if (in_map != keyed)
    return fail(in_map ? "values: a group inside a map needs a key before it"
                       : cat("values: key '", group.own_key, "' outside of a map"));
  group.children.reserve(4);
  group.children.clear();
  open_.push_back(std::move(group));
  open_.back().children.push_back({"", "", leaves_.size()});  // a sentinel: where the group's leaves begin
}

std::string Values::join_group(Group& g) {
  const size_t begin = g.children.front().first;
  g.children.erase(g.children.begin());
  if (g.map) {
    // Leaves follow their keys into byte order.
    std::vector<size_t> order(g.children.size()), ends(g.children.size());
    for (size_t i = 0; i < order.size(); i++) {
      order[i] = i;
      ends[i] = i + 1 < order.size() ? g.children[i + 1].first : leaves_.size();
    }
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return g.children[a].key < g.children[b].key; });
    std::vector<Leaf> sorted;
    std::vector<Child> children;
    for (size_t i : order) {
      for (size_t k = g.children[i].first; k < ends[i]; k++) sorted.push_back(std::move(leaves_[k]));
      children.push_back(std::move(g.children[i]));
    }
    std::move(sorted.begin(), sorted.end(), leaves_.begin() + static_cast<ptrdiff_t>(begin));
    g.children = std::move(children);
  }
  std::string inside = join(
      g.children, ",", [&](const Child& c) { return g.map ? cat(quote_key(c.key), ":", c.structure) : c.structure; });
  return cat(g.tag, g.map ? "{" : "[", inside, g.map ? "}" : "]");
}

void Values::close() {
  if (status_) return;
  if (open_.empty()) return fail("values: close without an open group");
  if (has_key_) return fail(cat("values: key '", key_, "' names nothing"));
  Group group = std::move(open_.back());
  open_.pop_back();
  const size_t first = group.children.front().first;
  std::string text = join_group(group);
  if (!open_.empty() && open_.back().map) key(group.own_key);
  add_child(std::move(text), first);
}

void Values::reset() {
  leaves_.clear();
  structure_.clear();
  open_.clear();
  key_.clear();
  has_key_ = false;
  status_ = nullptr;
  made_.clear();
}

Tensor* Values::tensor(size_t leaf) const {
  if (leaf < leaves_.size() && leaves_[leaf].tensor) return leaves_[leaf].tensor.get();
  if (status_) {
    made_.push_back(Tensor::failed(status_));
  } else if (leaf >= leaves_.size()) {
    made_.push_back(Tensor::failed(
        make<Status>(Code::invalid_argument, cat("values: there is no leaf ", leaf, ", there are ", leaves_.size()))));
  } else {
    const Leaf& l = leaves_[leaf];
    const bool whole = l.kind == ArgKind::integer || l.kind == ArgKind::boolean;
    if (!whole && l.kind != ArgKind::real)
      made_.push_back(Tensor::failed(
          make<Status>(Code::invalid_argument, cat("values: leaf ", leaf, " is neither a tensor nor a number"))));
    else
      made_.push_back(Tensor::number(whole ? (l.kind == ArgKind::integer ? Arg::integer(l.i) : Arg::boolean(l.i))
                                           : Arg::real(l.f)));
  }
  return made_.back().get();
}

void Values::assign(std::vector<Leaf> leaves, std::string_view structure) {
  reset();
  leaves_ = std::move(leaves);
  structure_ = structure;
}

void Values::set_tensor(size_t leaf, Ref<Tensor> t) {
  if (leaf >= leaves_.size()) return fail(cat("values: there is no leaf ", leaf, ", there are ", leaves_.size()));
  leaves_[leaf].kind = t ? ArgKind::value : ArgKind::none;
  leaves_[leaf].tensor = std::move(t);
}

void Values::bind(size_t leaf, Ref<Tensor> t) {
  // Results may be bound before the first call has made the leaves.
  if (leaf > 1u << 20) return fail(cat("values: leaf ", leaf, " is out of range"));
  while (leaves_.size() <= leaf && !status_) push(Any{});
  if (!status_) leaves_[leaf].bound = std::move(t);
}

std::vector<std::string> Values::paths() const {
  std::vector<std::string> out;
  struct Level {
    bool map;
    size_t index;
    std::string key;
  };
  std::vector<Level> levels{{false, 0, ""}};
  auto here = [&] {
    return join(levels, ".", [](const Level& l) { return l.map ? l.key : cat(l.index); });
  };
  const std::string& s = structure_;
  for (size_t i = 0; i < s.size(); i++) {
    switch (s[i]) {
      case '*': out.push_back(here()); break;
      case '[': levels.push_back({false, 0, ""}); break;
      case '{': levels.push_back({true, 0, ""}); break;
      case ']':
      case '}': levels.pop_back(); break;
      case ',': levels.back().index++; break;
      case '"': {
        std::string key;
        for (i++; i < s.size() && s[i] != '"'; i++) key += s[i] == '\\' ? s[++i] : s[i];
        levels.back().key = std::move(key);
        break;
      }
      default: break;
    }
  }
  return out;
}

const char* Values::path(size_t leaf) const {
  auto all = paths();
  if (leaf >= all.size()) return nullptr;
  path_ = std::move(all[leaf]);
  return path_.c_str();
}

size_t Values::find(std::string_view path) const {
  auto all = paths();
  const auto at = [&](std::string_view wanted) {
    const auto it = std::find(all.begin(), all.end(), wanted);
    return it == all.end() ? SIZE_MAX : static_cast<size_t>(it - all.begin());
  };
  // If the values are one map or list, the names of leaves within it.
  const bool alone = std::all_of(all.begin(), all.end(), [](const auto& p) { return p.starts_with("0."); });
  const size_t found = at(path);
  return found == SIZE_MAX && alone ? at("0." + std::string(path)) : found;
}

}  // namespace thunder
