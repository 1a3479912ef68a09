// Kernels of functions, for the executors of tests.
#pragma once

#include "executors/executor.h"

namespace thunder::test {

class FunctionKernel : public Kernel {
 public:
  explicit FunctionKernel(KernelCall call, size_t scratch = 0, void (*drop)(void*) = nullptr)
      : Kernel(call), scratch_(scratch), drop_(drop) {}
  ~FunctionKernel() override {
    if (drop_) drop_(call().state);
  }
  size_t scratch() const override { return scratch_; }

 private:
  const size_t scratch_;
  void (*const drop_)(void*);
};

// What an executor prepares whose kernels run a function on its `user`, or on the node.
template <auto kRun>
KernelPtr runs_on_user(const NodeView&, void* user) {
  return std::make_unique<FunctionKernel>(KernelCall{kRun, user});
}
template <auto kRun>
KernelPtr runs_on_node(const NodeView& view, void*) {
  return std::make_unique<FunctionKernel>(KernelCall{kRun, const_cast<Node*>(&view.node)});
}

}  // namespace thunder::test
