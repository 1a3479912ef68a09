// A cuDNN execution plan: the engine chosen by heuristics for a graph, and the workspace that it needs.
#pragma once

#include <span>

#include "executors/cuda/cudnn/graph.h"

namespace thunder::cudnn {

struct PlanOptions {
  bool tensor_cores;   // engines may use tensor cores: for bf16, f16, and f32 where TF32 is allowed
  bool down_converts;  // engines may round f32 operands: for bf16 and f16, which they leave as they are
  int64_t most_workspace = int64_t{1} << 30;  // bytes
};

class Plan {
 public:
  // Throws declined where no engine computes the graph within these options so that results are the same bits at each
  // run.
  Plan(Graph graph, const PlanOptions& options, const char* what);

  size_t workspace_bytes() const { return workspace_bytes_; }
  // Memory by tensors' ids. Requires: the session's mutex is held. Null, or an owned status.
  using Binding = std::pair<int64_t, void*>;
  Status* run(std::span<const Binding> bindings, void* workspace) const;

 private:
  Graph graph_;
  std::deque<Descriptor> kept_;  // the configuration, the plan
  size_t workspace_bytes_ = 0;
};

}  // namespace thunder::cudnn
