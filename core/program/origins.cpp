#include "program/origins.h"

#include <algorithm>
#include <cstring>

#include "ops/registry.h"

namespace thunder {
namespace {

bool begins_with_op(std::string_view says, const Node& n) {
  const std::string_view name = n.op->name();
  return says.starts_with(name) && says.substr(name.size()).starts_with(": ");
}

// The node, or the first node in its body, for which that holds.
template <class Holds>
const Node* find_node(const Node& n, const Holds& holds) {
  if (holds(n)) return &n;
  for (const Node* inner : n.body)
    if (const Node* found = find_node(*inner, holds)) return found;
  return nullptr;
}

bool is_same_place(const char* a, const char* b) { return a && b && std::strcmp(a, b) == 0; }

bool checks_data(const Node& n) { return def(n).has(kChecksData); }

// The user's node that a failing one comes from: passes keep a value's id if they keep the value; otherwise the op and
// the source location are the same. A node of a gradient has another op: it comes from the node at its source location
// that can reject data, if there is exactly one.
const Node* find_written_node(const Trace& written, const Node& line) {
  const auto makes_it = [&](const Node& n) {
    return !line.results.empty() && std::find(n.results.begin(), n.results.end(), line.results[0]) != n.results.end();
  };
  const auto looks_like_it = [&](const Node& n) { return n.op == line.op && is_same_place(n.where, line.where); };
  for (const Node* n : written.nodes)
    if (find_node(*n, makes_it)) return n;
  for (const Node* n : written.nodes)
    if (find_node(*n, looks_like_it)) return n;
  const Node* only = nullptr;
  for (const Node* n : written.nodes) {
    if (!checks_data(line) || !is_same_place(n->where, line.where) || !find_node(*n, checks_data)) continue;
    if (only) return nullptr;
    only = n;
  }
  return only;
}

}  // namespace

Origin origin_of(const Trace& written, const Node& step, std::string_view says) {
  const Node* line = find_node(step, [&](const Node& n) { return begins_with_op(says, n); });
  if (!line) line = &step;
  return {line, find_written_node(written, *line)};
}

}  // namespace thunder
