// The times of a function's steps, beside the amount of work and the machine's peak rates.
#pragma once

#include <string>
#include <vector>

#include "jit/reports/limits.h"

namespace thunder {

class Compiled;
class Values;

struct ProfiledStep {
  std::string ops, executor, where;  // where: the user's lines, in order
  double flops = 0, bytes = 0;
  double milliseconds = 0;  // the median of the runs
  double share = 0;         // of the limit: the least time that the machine needs for it, by the time that it took
  bool by_memory = false;   // whether that least time is memory's
};

// A collective that this rank started, and waited for in another step.
struct ProfiledCollective {
  size_t step = 0, wait = 0;  // of the profile's
  double bytes = 0;           // of its operand or its result, whichever is larger
  double alone = 0;           // milliseconds from its start to its result where this rank waits at once
  double exposed = 0;         // milliseconds of its wait beside all else
};

// An interval of one thread, in microseconds since the last run began. Thread 0 is that of the call.
struct ProfiledSpan {
  size_t step = 0, thread = 0;
  double begin = 0, end = 0;
};

struct Profile {
  std::string function;
  size_t runs = 0;
  double milliseconds = 0;  // of a call, the median
  std::vector<ProfiledStep> steps;
  std::vector<ProfiledSpan> spans;  // of the last run: the steps, then the parts of their loops
  std::vector<ProfiledCollective> collectives;
  MachineLimits limits;

  std::string text() const;
  std::string json() const;
  std::string chrome_trace() const;  // as chrome://tracing and Perfetto read it
};

// Calls the function once, and then `runs` times with each step timed, and so often again where it has collectives, for
// which all ranks do so: what a call does, these do. Throws what a call reports, and where no step was run because the
// call went op by op.
Profile profile(Compiled& compiled, const Values& in, size_t runs);

}  // namespace thunder
