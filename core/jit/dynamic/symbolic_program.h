// A function traced with symbols for sizes, and what asks for a program of it.
#pragma once

#include "jit/compile/compile.h"
#include "jit/saved/saved_function.h"

namespace thunder {

// A trace with symbolic sizes. It has the guards of a program, and is compiled once its sizes are known.
struct SymbolicProgram {
  std::shared_ptr<const Entry> recorded;
  Ref<SavedFunction> function;
  bool fits(const Values& in) const;
};

// A request to compile a function for the inputs of a call.
struct Wanted {
  const CompileSetup& setup;
  Function& function;
  const Values& in;
  Context& context() const { return *setup.context; }
  const CompileOptions& options() const { return *setup.options; }
};

}  // namespace thunder
