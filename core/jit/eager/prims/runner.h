// Eager mode: each prim is run by the first executor that claims it, as in programs.
#pragma once

#include <memory>

#include "executors/executor.h"
#include "tracer/scope.h"

namespace thunder {

// `executors` in the order in which they are asked; the last one takes everything. Those before it are asked about the
// ops that they name, if they take strided inputs. Kernels are kept by op, types and arguments. Any thread.
std::unique_ptr<OpRunner> eager_runner(Executors executors, Devices& devices, ThreadPool& threads);

}  // namespace thunder
