// Ensures that the results of ops that are no views have new memory, in which elements do not overlap.
#pragma once

#include "ops/view_tags.h"
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
    if (copied) r = b.call("prims.clone", {b.var(r)}).id;
  }
}

}  // namespace thunder
