// What cuDNN runs for one convolution: the engine that its heuristics choose, and the workspace that it needs.
#pragma once

#include <array>
#include <deque>

#include "executors/cudnn/session.h"
#include "ir/type.h"

namespace thunder::cudnn {

// How one of its three tensors lies: [batch or outputs, channels, height, width], strides in elements.
struct Layout {
  std::array<int64_t, 4> sizes{}, strides{};
};

struct Problem {
  Kind operation;  // kForward, kBackwardData, kBackwardFilter
  DType dtype;     // of all tensors; sums of bf16 are f32
  Layout filter, image, result;
  std::array<int64_t, 2> stride, padding, dilation;
  int64_t alignment;  // of all addresses, in bytes

  // Equal for problems that have one plan.
  std::string key() const;
};

class Plan {
 public:
  // Throws backend where no engine computes it that gives the same bits at each run and, for f32, rounds no operand.
  Plan(const Session& session, const Problem& problem);

  size_t workspace_bytes() const { return workspace_bytes_; }
  // Requires: the session's mutex is held. Null, or an owned status.
  Status* run(const Session& session, void* filter, void* image, void* result, void* workspace) const;

 private:
  std::deque<Descriptor> kept_;  // the graph's, the configuration, the plan
  size_t workspace_bytes_ = 0;
};

}  // namespace thunder::cudnn
