// Which values lie in the memory of which, and what a memory holds after writes: how a functional record keeps the
// meaning of in-place operations and views.
#pragma once

#include <map>
#include <unordered_map>
#include <vector>

#include "ops/builder.h"

namespace thunder {

// A value made by view prims is a path of views from its root, the value that owns the memory. A write makes the root
// stand for a newer value; handles keep the value that they were given, and ask for what it stands for now.
class Aliases {
 public:
  // Requires: a recorded view prim whose result lies in its first argument's memory.
  void add_view(const Node& node);
  // The view prim that made this value, or null.
  const Node* view_of(ValueId v) const { return v < views_.size() ? views_[v] : nullptr; }
  // Constant time: chains of views may be long.
  ValueId root(ValueId v) const { return view_of(v) ? roots_[v] : v; }

  // A decomposition ends whose inside began with value `first`. Its results that are views of a value inside own their
  // memory from here on, since no line outside may name that value. False, and nothing happens, when two results share
  // such memory: then they are related by views that must stay in sight.
  bool close(std::span<const ValueId> results, ValueId first);

  // Some handle, input or memory stands for this value, so that no other memory may.
  void hold(ValueId v);

  // The newest value of a root.
  ValueId latest(ValueId root) const;
  void supersede(ValueId v, ValueId by) { superseded_[v] = newest_[v] = by; }

  // What a handle that was given `v` stands for now: the same views of what its root stands for.
  ValueId resolve(Builder& b, ValueId v);
  // Stores `value` through the handle that was given `x`. Gives what x's root stands for from now on.
  ValueId write(Builder& b, ValueId x, ValueId value);

  // Refuses a gradient by `wrt`, what a handle that was given `v` stands for now, if the loss was computed from what
  // the memory held before.
  void require_current(std::span<const Node* const> nodes, ValueId loss, ValueId wrt, ValueId v) const;

  void clear();

 private:
  // The views from the root to `v`, the last one first.
  std::vector<const Node*> path(ValueId v) const;
  bool held(ValueId v) const { return v < held_.size() && held_[v]; }
  // The value owns its memory from here on, and what was seen through it since is a view of it.
  void cut(ValueId v);

  std::vector<const Node*> views_;
  std::vector<ValueId> roots_;  // of views, by value
  std::vector<bool> held_;
  std::unordered_map<ValueId, ValueId> superseded_;
  mutable std::unordered_map<ValueId, ValueId>
      newest_;  // a value that superseded it, as new as was known when last asked
  std::map<std::pair<ValueId, ValueId>, ValueId> resolved_;  // by the value given and what its root stands for
};

}  // namespace thunder
