// Eager ops through the same executors as programs: the first that accepts a prim runs it.
#pragma once

#include <memory>

#include "executors/claim.h"
#include "tracer/scope.h"

namespace thunder {

// `executors` as they are asked, the last of which takes everything. Those before it are asked about the ops that they
// name, if they take strides. What was prepared is kept by op, types and arguments. Any thread.
std::unique_ptr<OpRunner> eager_runner(Executors executors, Devices& devices, ThreadPool& threads);

}  // namespace thunder
