// Traces a function inside a scope in order to differentiate it.
#pragma once

#include "transforms/inner.h"
#include "transforms/transforms.h"

namespace thunder {

// A function traced on its arguments; those at `what.wrt` are differentiated.
struct Differentiated {
  // Throws, naming `who`, if there is nothing to differentiate.
  Differentiated(const std::string& who, Scope& scope, Function& f, const Values& in, const Derivative& what);

  Inner inner;
  std::vector<Tensor*> given;    // the arguments of the trace: those by which is differentiated
  std::vector<ValueId> inputs;   // their values
  std::vector<ValueId> outputs;  // the results that are differentiated
};

}  // namespace thunder
