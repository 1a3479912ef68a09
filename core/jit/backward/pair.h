// A compiled function on a tape: a forward and a backward program in place of its ops.
#pragma once

#include "jit/backward/split.h"

namespace thunder {

class Pair {
 public:
  Pair(Ref<Context> context, const Ref<Function>& function, const CompileOptions& options);

  // The results, as lines of the tape. Null: the function cannot be partitioned, because it reads values, say; `why` is
  // the reason then. Throws what the function reports.
  Values* call(EagerScope& tape, const Values& in, std::string& why);

  const Compiled& forward() const { return *forward_; }
  // The backward that was run last; null: none was.
  Ref<TapedFunction> backward() const { return function_->latest_backward(); }
  // Whether the last call compiled, or the last compiled program of the function is of a pair.
  bool compiled_last() const { return compiled_last_.load(std::memory_order_relaxed); }
  void set_compiled_last(bool value) { compiled_last_.store(value, std::memory_order_relaxed); }

 private:
  Values* results(EagerScope& tape, const Values& in, const Values& made);

  const Ref<ForwardFunction> function_;
  const Ref<Compiled> forward_;
  std::atomic<bool> compiled_last_{false};
};

}  // namespace thunder
