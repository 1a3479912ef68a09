// Alias analysis: which values share memory, and which value a memory holds after writes. By it a functional trace
// keeps the meaning of in-place operations and views.
#pragma once

#include <map>
#include <unordered_map>
#include <vector>

#include "ops/builder.h"

namespace thunder {

// Why a gradient is refused by what was overwritten.
constexpr std::string_view kWrittenAfterUse =
    "grad: a tensor in wrt was written in place after the loss had used it; take the gradient before the write";

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

  // To be called at the end of a decomposition whose first value was `first`. Results that are views of a value inside
  // own their memory from here on, since no node outside may name that value. False, and nothing changes, if two
  // results share such memory: their views must then stay visible.
  bool close(std::span<const ValueId> results, ValueId first);

  // Marks a value as held by a handle, an input or a memory, so that no other memory may hold it.
  void hold(ValueId v);

  // The newest value of a root.
  ValueId latest(ValueId root) const;
  void supersede(ValueId v, ValueId by) { superseded_[v] = newest_[v] = by; }

  // The value of which a view was made again after writes; any other value itself.
  ValueId taken_first(ValueId v) const;
  // What a handle that was given `v` stood for under each value of its memory, the oldest first; kNoValue where nobody
  // asked. As long as the memory's root is superseded.
  std::vector<ValueId> history(ValueId v) const;

  // The current value of a handle that was given `v`: the same views of its root's newest value.
  ValueId resolve(Builder& b, ValueId v);
  // Stores `value` through the handle that was given `x`. Returns the newest value of x's root.
  ValueId write(Builder& b, ValueId x, ValueId value);

  // Throws for a gradient with respect to `wrt`, the current value of a handle that was given `v`, if the loss was
  // computed from an earlier value of its memory.
  void require_current(std::span<const Node* const> nodes, ValueId loss, ValueId wrt, ValueId v) const;

  void clear();

 private:
  // The views from the root to `v`, the last one first.
  std::vector<const Node*> view_chain(ValueId v) const;
  bool held(ValueId v) const { return v < held_.size() && held_[v]; }
  // Makes the value the owner of its memory; views made through it become its views.
  void cut(ValueId v);

  std::vector<const Node*> views_;
  std::vector<ValueId> roots_;  // of views, by value
  std::vector<uint8_t> held_;  // by value
  std::unordered_map<ValueId, ValueId> superseded_;
  mutable std::unordered_map<ValueId, ValueId>
      newest_;  // by value: one that superseded it, the newest when it was last looked up
  // The views that were made again, by the given value and its root's newest value, and the other way round.
  std::map<std::pair<ValueId, ValueId>, ValueId> resolved_;
  std::unordered_map<ValueId, ValueId> first_;
};

}  // namespace thunder
