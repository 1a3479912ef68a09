#include "tracer/current_trace.h"

#include <atomic>

namespace thunder {
namespace {

thread_local uint64_t t_current = 0;
std::atomic<uint64_t> traces{0};

}  // namespace

uint64_t current_trace() { return t_current; }

CurrentTrace::CurrentTrace(bool inside) : outer_(t_current) {
  if (!inside) t_current = ++traces;
}

CurrentTrace::~CurrentTrace() { t_current = outer_; }

}  // namespace thunder
