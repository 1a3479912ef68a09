#include "tracer/aliases.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "ir/dim_reads.h"
#include "ir/prim.h"
#include "tracer/needed.h"

namespace thunder {
namespace {

std::vector<Arg> rebase_args(const Node& view, ValueId base) {
  std::vector<Arg> args(view.args.begin(), view.args.end());
  args[0].v = base;
  return args;
}

ValueId replay_view(Builder& b, const Node& view, ValueId base) {
  return b.invoke(def(view), rebase_args(view, base))[0];
}

}  // namespace

void Aliases::add_view(const Node& node) {
  const ValueId v = node.results[0];
  if (views_.size() <= v) views_.resize(v + 1), roots_.resize(v + 1);
  views_[v] = &node;
  roots_[v] = root(node.args[0].v);
}

// What is a view of it came later, so it is among the values behind it: few, since operations are closed, and values
// written, as soon as they are made.
void Aliases::cut(ValueId v) {
  if (!view_of(v)) return;
  views_[v] = nullptr;
  for (ValueId later = v + 1; later < views_.size(); later++)
    if (views_[later]) roots_[later] = root(views_[later]->args[0].v);
}

std::vector<const Node*> Aliases::view_chain(ValueId v) const {
  std::vector<const Node*> views;
  for (const Node* n = view_of(v); n; n = view_of(n->args[0].v)) views.push_back(n);
  return views;
}

bool Aliases::close(std::span<const ValueId> results, ValueId first) {
  SmallVector<ValueId, 4> hidden, own;
  for (ValueId r : results) {
    ValueId v = r;
    bool inside = true;
    for (const Node* n = view_of(v); inside && n; n = view_of(v)) {
      v = n->args[0].v;
      inside = v >= first && std::find(results.begin(), results.end(), v) == results.end();
    }
    if (v == r || !inside) continue;
    if (std::find(hidden.begin(), hidden.end(), v) != hidden.end()) return false;
    hidden.push_back(v), own.push_back(r);
  }
  for (ValueId r : own) cut(r);
  return true;
}

void Aliases::hold(ValueId v) {
  v = root(v);
  if (held_.size() <= v) held_.resize(std::max(size_t{64}, 2 * (v + size_t{1})));
  held_[v] = true;
}

ValueId Aliases::latest(ValueId root) const {
  ValueId now = root;
  for (auto it = newest_.find(now); it != newest_.end(); it = newest_.find(now)) now = it->second;
  // Shortens the way, so that the next lookup takes one step.
  while (root != now) root = std::exchange(newest_.at(root), now);
  return now;
}

ValueId Aliases::resolve(Builder& b, ValueId v) {
  if (superseded_.empty()) return v;
  const ValueId from = root(v);
  ValueId now = latest(from);
  if (now == from) return v;
  // Handles on one chain of views share the views that are taken again.
  SmallVector<const Node*, 8> views;
  ValueId base = now;
  const DimReads::Again lines;  // each of which looks again when it is made for other sizes
  for (const Node* n = view_of(v); n; n = view_of(n->args[0].v)) {
    if (auto it = resolved_.find({taken_first(n->results[0]), now}); it != resolved_.end()) {
      base = it->second;
      break;
    }
    views.push_back(n);
  }
  for (size_t i = views.size(); i-- > 0;) {
    base = replay_view(b, *views[i], base);
    const ValueId first = taken_first(views[i]->results[0]);
    resolved_[{first, now}] = base;
    first_[base] = first;
  }
  return base;
}

ValueId Aliases::taken_first(ValueId v) const {
  const auto it = first_.find(v);
  return it == first_.end() ? v : it->second;
}

std::vector<ValueId> Aliases::history(ValueId v) const {
  std::vector<ValueId> all{root(v)};
  for (auto it = superseded_.begin(); it != superseded_.end();)
    if (it->second == all[0]) all.insert(all.begin(), it->first), it = superseded_.begin();
    else ++it;
  for (auto it = superseded_.find(all.back()); it != superseded_.end(); it = superseded_.find(all.back()))
    all.push_back(it->second);
  if (!view_of(v)) return all;
  for (ValueId& now : all) {
    const auto it = resolved_.find({taken_first(v), now});
    now = now == root(v) ? v : it == resolved_.end() ? kNoValue : it->second;
  }
  return all;
}

ValueId Aliases::write(Builder& b, ValueId x, ValueId value) {
  const auto views = view_chain(x);
  const ValueId old = latest(root(x));
  // The current base of each view.
  std::vector<ValueId> bases(views.size());
  const DimReads::Again lines;
  ValueId base = old;
  for (size_t i = views.size(); i-- > 0;) {
    bases[i] = base;
    if (i > 0) base = replay_view(b, *views[i], base);
  }
  // From the view back to the root: each view's base is updated with the written elements.
  for (size_t i = 0; i < views.size(); i++) {
    const OpDef& op = def(*views[i]);
    require(op.write_through != nullptr, "cannot write in place through ", op.name());
    const auto args = rebase_args(*views[i], bases[i]);
    Call call(b, op, args);
    value = op.write_through(call, bases[i], value);
  }
  if (value == old) return old;
  if (held(root(value))) value = b.call(Prim::clone, {b.var(value)}).id;
  // No other value has this memory, so it becomes the root's, even if a view made it.
  cut(value);
  hold(value);
  supersede(old, value);
  return value;
}

void Aliases::require_current(std::span<const Node* const> nodes, ValueId loss, ValueId wrt, ValueId v) const {
  const ValueId first = root(v), last = latest(first);
  if (first == last) return;
  std::vector<bool> used(std::max(loss, wrt) + size_t{1});
  auto mark = [&](ValueId id) {
    if (used.size() <= id) used.resize(id + size_t{1});
    used[id] = true;
  };
  auto is_used = [&](ValueId id) { return id < used.size() && used[id]; };
  mark(loss);
  for (size_t i = nodes.size(); i-- > 0;) for_each_source(*nodes[i], is_used, mark);
  if (used[wrt]) return;
  for (ValueId old = first; old != last; old = superseded_.at(old))
    require(!is_used(old), kWrittenAfterUse);
}

// After each op in eager mode, where most write nothing: clearing a map that is empty writes all of its buckets.
void Aliases::clear() {
  views_.clear();
  roots_.clear();
  held_.clear();
  if (superseded_.empty()) return;
  superseded_.clear();
  newest_.clear();
  resolved_.clear();
  first_.clear();
}

}  // namespace thunder
