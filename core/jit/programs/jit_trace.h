// torch.jit.trace: the program of one call, as a function of its own, which is compared with the function it was made
// of.
#pragma once

#include "jit/call.h"

namespace thunder {

struct TraceRequest {
  Ref<Context> context;
  Ref<Function> function;
  Ref<Values> example;             // the call that is traced
  std::vector<Ref<Values>> check;  // calls on which the two are compared; empty: the example
  bool checks = true;
  double tolerance = 1e-5;         // relative, of the outputs
  bool strict = true;  // refuses lists and maps among the results, whose length may differ from call to call
};

// The options of the trace itself; those of compile are stored in `compile`.
void read_trace_options(const CompileOptions& options, TraceRequest& request, CompileOptions& compile);
std::span<const OptionRow> trace_options();

// A function of the traced program alone: what the host's language decided is in it as it was decided. Where the
// function can be traced with symbols any size of 2 and more fits. Throws what the function reports, and
// failed_precondition with all that the check found.
Ref<Function> trace_function(const TraceRequest& request);

}  // namespace thunder
