// What the sizes of a trace are in the scope in which it is replayed.
#pragma once

#include "ir/symbolic/substitution.h"
#include "tracer/replay.h"

namespace thunder {

class ReplayedSizes {
 public:
  // `types`: of the inputs in the scope, null where there is none. Throws at a type that is not that of the trace.
  ReplayedSizes(const Trace& trace, std::span<const TensorType* const> types, ReplayCall& call);
  // A number, or a formula of the scope's symbols where lines are kept. Symbols that are integers are noted as read in
  // the call, since the line depends on them.
  Dim operator()(Dim d);

 private:
  ReplayCall& call_;
  Substitution symbols_;
};

}  // namespace thunder
