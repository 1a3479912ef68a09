#include "tracer/aliases.h"

#include <algorithm>

#include "base/text.h"

namespace thunder {
namespace {

std::vector<Arg> args_on(const Node& view, ValueId base) {
  std::vector<Arg> args(view.args.begin(), view.args.end());
  args[0].v = base;
  return args;
}

ValueId view_again(Builder& b, const Node& view, ValueId base) { return b.invoke(def(view), args_on(view, base))[0]; }

}  // namespace

void Aliases::add_view(const Node& node) {
  const ValueId v = node.results[0];
  if (views_.size() <= v) views_.resize(v + 1);
  views_[v] = &node;
}

std::vector<const Node*> Aliases::path(ValueId v) const {
  std::vector<const Node*> views;
  for (const Node* n = view_of(v); n; n = view_of(n->args[0].v)) views.push_back(n);
  return views;
}

ValueId Aliases::root(ValueId v) const {
  while (const Node* n = view_of(v)) v = n->args[0].v;
  return v;
}

bool Aliases::close(std::span<const ValueId> results, ValueId first) {
  SmallVector<ValueId, 4> hidden, cut;
  for (ValueId r : results) {
    ValueId v = r;
    bool inside = true;
    for (const Node* n = view_of(v); inside && n; n = view_of(v)) {
      v = n->args[0].v;
      inside = v >= first && std::find(results.begin(), results.end(), v) == results.end();
    }
    if (v == r || !inside) continue;
    if (std::find(hidden.begin(), hidden.end(), v) != hidden.end()) return false;
    hidden.push_back(v), cut.push_back(r);
  }
  for (ValueId r : cut) views_[r] = nullptr;
  return true;
}

void Aliases::hold(ValueId v) {
  v = root(v);
  if (held_.size() <= v) held_.resize(v + 1);
  held_[v] = true;
}

ValueId Aliases::latest(ValueId root) const {
  for (auto it = superseded_.find(root); it != superseded_.end(); it = superseded_.find(root)) root = it->second;
  return root;
}

ValueId Aliases::resolve(Builder& b, ValueId v) {
  if (superseded_.empty()) return v;
  const ValueId from = root(v);
  ValueId now = latest(from);
  if (now == from) return v;
  const std::pair key(v, now);
  if (auto it = resolved_.find(key); it != resolved_.end()) return it->second;
  const auto views = path(v);
  for (size_t i = views.size(); i-- > 0;) now = view_again(b, *views[i], now);
  resolved_[key] = now;
  return now;
}

ValueId Aliases::write(Builder& b, ValueId x, ValueId value) {
  const auto views = path(x);
  const ValueId old = latest(root(x));
  // What each view is a view of, as of now.
  std::vector<ValueId> bases(views.size());
  ValueId base = old;
  for (size_t i = views.size(); i-- > 0;) {
    bases[i] = base;
    if (i > 0) base = view_again(b, *views[i], base);
  }
  // From the view back to the root: each view says what its base becomes.
  for (size_t i = 0; i < views.size(); i++) {
    const OpDef& op = def(*views[i]);
    require(op.write_through != nullptr, "cannot write in place through ", op.name());
    const auto args = args_on(*views[i], bases[i]);
    Call call(b, op, args);
    value = op.write_through(call, bases[i], value);
  }
  if (value == old) return old;
  if (held(root(value))) value = b.call("prims.clone", {b.var(value)}).id;
  // Nothing else stands for this memory, so it is the root's now, even if a view made it.
  if (value < views_.size()) views_[value] = nullptr;
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
  for (size_t i = nodes.size(); i-- > 0;) {
    bool on = false;
    for (ValueId r : nodes[i]->results) on |= is_used(r);
    if (on) for_each_value(nodes[i]->args, mark);
  }
  if (used[wrt]) return;
  for (ValueId old = first; old != last; old = superseded_.at(old))
    require(!is_used(old), "grad: a tensor in wrt was written in place after the loss had used it; take the gradient before the write");
}

void Aliases::clear() {
  views_.clear();
  held_.clear();
  superseded_.clear();
  resolved_.clear();
}

}  // namespace thunder
