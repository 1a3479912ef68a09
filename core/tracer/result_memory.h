// Ensures that the results of ops that are no views have new memory, in which elements do not overlap, and that views
// are new tensors.
#pragma once

#include "ir/prim.h"
#include "tracer/eager.h"
#include "tracer/tracing.h"

namespace thunder {

// For a symbolic size it is assumed, since reading the size would make it a constant.
inline bool repeats_elements(const TracingRecorder& recorder, ValueId v) {
  const Sizes strides = recorder.strides(v);
  const Shape& shape = recorder.type(v).shape;
  for (size_t i = 0; i < strides.size(); i++)
    if (strides[i] == 0 && shape[i] != Dim(1)) return true;
  return false;
}

// Where nothing was to be computed, a decomposition gives an argument, a view of one, or a number in many places: that
// is copied. Scopes over other builders than those of eager and tracing scopes write nothing, so that it does not
// matter there.
inline void copy_what_was_given(const Scope& scope, Builder& b, const OpDef& op, std::span<const Arg> args,
                                Results& results) {
  if (op.prim || may_view(op)) return;
  const auto* recorder = scope.tracing() ? dynamic_cast<TracingRecorder*>(&b) : nullptr;
  if (scope.tracing() && !recorder) return;
  for (ValueId& r : results) {
    if (b.type(r).weak) continue;
    bool copied = recorder ? repeats_elements(*recorder, r)
                           : repeats_elements(*static_cast<EagerBuilder&>(b).tensor(r));
    for_each_value(args, [&](ValueId v) { copied = copied || b.aliases(r, v); });
    if (copied) r = b.call(Prim::clone, {b.var(r)}).id;
  }
}

// A view that leaves all as it is would be the input itself, whose gradient, flags and attributes are not the view's.
inline void view_what_was_given(Builder& b, const OpDef& op, std::span<const Arg> args, Results& results) {
  if (op.prim || !may_view(op) || op.tags & kReturnsSelf) return;
  for (ValueId& r : results) {
    bool given = false;
    for_each_value(args, [&](ValueId v) { given = given || v == r; });
    if (given && !b.type(r).weak) r = b.call(Prim::alias, {b.var(r)}).id;
  }
}

// Whether an op that returns its input where it has nothing to do did so. In an eager scope where the result lies says
// it, too: an op that copies what is not dense has seen that it is.
inline bool returns_input(const Scope& scope, Builder& b, const OpDef& op, std::span<const Arg> args,
                          const Results& results) {
  if (!(op.tags & kReturnsSelf) || args[0].kind != ArgKind::value) return false;
  if (results[0] == args[0].v || scope.tracing()) return results[0] == args[0].v;
  const auto& eager = static_cast<EagerBuilder&>(b);
  const Tensor &one = *eager.tensor(results[0]), &other = *eager.tensor(args[0].v);
  return one.storage() == other.storage() && one.offset() == other.offset() && one.type() == other.type() &&
         one.strides() == other.strides();
}

}  // namespace thunder
