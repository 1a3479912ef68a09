// A function partitioned into a forward, which also gives what its backward needs, and that backward.
#pragma once

#include "jit/backward/taped_function.h"
#include "passes/partition.h"

namespace thunder {

// Where an input of the forward comes from when it is called.
struct SplitInput {
  static constexpr uint32_t kCaptured = 0xffffffff;
  uint32_t leaf = kCaptured;  // a leaf of the call's values
  Ref<Tensor> captured;       // or a tensor that the trace holds; null: the random state
  bool number = false;        // the leaf is a plain number
};

// The backward that a tape ran last, of all that one function was partitioned into.
struct LatestBackward {
  std::mutex mutex;
  Ref<TapedFunction> function;
};

// The forward and the backwards into which one trace of a function was partitioned. Any thread.
class Split : public Auxiliary {
 public:
  // The results of the forward: tensors of the function's results, the new values of `written`, and the saved values.
  struct Outputs {
    std::vector<size_t> results;   // by tensor of the results: its leaf
    std::vector<size_t> written;   // inputs
    size_t saved = 0;
    size_t differentiable() const { return results.size() + written.size(); }
  };
  struct Parts {
    Partition partition;
    std::vector<SplitInput> inputs;  // of the forward
    std::vector<size_t> wrt;         // by gradient: which input
    std::vector<size_t> cotangents;  // by cotangent: which output
    Outputs outputs;
    std::vector<std::vector<bool>> reaches;  // by output but what is saved: the inputs to which gradients flow from it
    size_t leaves = 0;  // of the function's results
    std::string structure;
  };
  Split(CompileSetup setup, std::shared_ptr<LatestBackward> latest, Parts parts);

  const Parts& parts() const { return parts_; }
  // Whether no call has used it before.
  bool claim_first_use() { return is_new_.exchange(false, std::memory_order_relaxed); }
  // The place of a saved value: an input, or, from the number of inputs on, an output of the forward.
  const std::vector<size_t>& saved() const { return saved_; }

  struct Backward {
    Ref<TapedFunction> function;
    std::vector<size_t> saved;  // which of what is saved it reads
    std::vector<size_t> wrt;    // by result: the input of the forward whose gradient it is
  };
  // Makes the backward from the saved values and cotangents in use. `wanted`: by input of the forward.
  const Backward& backward(const std::vector<bool>& reached, const std::vector<bool>& wanted);
  // The forward as a function of all its inputs, for gradients through what is saved. Throws where it draws random
  // numbers, which would be others.
  Ref<TapedFunction> taped_forward();

 private:
  const CompileSetup setup_;
  const std::shared_ptr<LatestBackward> latest_;
  const Parts parts_;
  const std::vector<size_t> saved_;
  std::atomic<bool> is_new_{true};
  std::mutex mutex_;
  std::map<std::pair<std::vector<bool>, std::vector<bool>>, Backward> backwards_;
  Ref<TapedFunction> whole_;
};

// The forward of a function, traced and partitioned anew inside each scope that records it. Its results are those of
// the function, a list of what else the forward gives, and a leaf whose auxiliary is the Split.
class ForwardFunction : public Function {
 public:
  // `setup`: of the forward and of its gradients.
  ForwardFunction(CompileSetup setup, Ref<Function> f);

  Ref<Status> call(Scope& scope, const Values& in, Values& out) override;
  Ref<TapedFunction> latest_backward() const;

 private:
  const CompileSetup setup_;
  const Ref<Function> f_;
  const std::shared_ptr<LatestBackward> latest_ = std::make_shared<LatestBackward>();
};

}  // namespace thunder
