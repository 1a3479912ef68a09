// A node that an executor has prepared, as an object: the state that the callbacks of its descriptor get.
#pragma once

#include "executors/executor.h"

namespace thunder {

// Each function is what the callback of that name in ExecutorDesc does. Those that return nothing may throw: finish()
// Code::declined where it finds that the executor cannot run the node, which must then be declined when it is prepared
// anew.
class PreparedOp {
 public:
  virtual ~PreparedOp() = default;
  virtual void lay_out(const NodeView&, size_t* /*scratch_bytes*/) {}
  virtual void finish(Finished&) {}
  virtual void prepack(const Launch*, size_t* /*kept_bytes*/) {}
  // Any number of threads at a time.
  virtual Status* run(const Launch*) const = 0;
};

using PreparedOpPtr = std::unique_ptr<PreparedOp>;

// Sets the callbacks of an executor whose states are PreparedOps, which `prepare` makes with `new`.
void use_prepared_ops(ExecutorDesc& desc);

}  // namespace thunder
