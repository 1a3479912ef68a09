// Keeps the promise that the results of an op that is no view are new.
#pragma once

#include "ops/view_tags.h"
#include "tracer/tracing.h"

namespace thunder {

// Where nothing was to be computed, a decomposition gives an argument, or a view of one: that is copied. Scopes over
// other builders than those of eager and tracing scopes write nothing, so that it does not matter there.
inline void copy_what_was_given(const Scope& scope, Builder& b, const OpDef& op, std::span<const Arg> args,
                                Results& results) {
  if (op.prim || may_view(op) || (scope.tracing() && !dynamic_cast<TracingRecorder*>(&b))) return;
  for (ValueId& r : results) {
    if (b.type(r).weak) continue;
    bool given = false;
    for_each_value(args, [&](ValueId v) { given = given || b.aliases(r, v); });
    if (given) r = b.call("prims.clone", {b.var(r)}).id;
  }
}

}  // namespace thunder
