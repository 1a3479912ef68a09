// Algorithms for one product, timed on the device.
#pragma once

#include <optional>
#include <vector>

#include "executors/cuda/cublaslt/problem.h"

namespace thunder::cublaslt {

// The index of the fastest: the first, unless another one takes at most 97 % of its time. Runs of a choice are recorded
// as one graph, so that the host's part of a launch is not measured. None: the device has no memory for the operands,
// or no choice could be run.
std::optional<size_t> find_fastest(const Session& session, const Problem& problem, const std::vector<Choice>& choices);

}  // namespace thunder::cublaslt
