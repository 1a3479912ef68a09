// A compiled function on a tape: a forward and a backward program in place of its ops.
#pragma once

#include "jit/backward/split.h"

namespace thunder {

class Pair final : public TapedCalls {
 public:
  // Of the function that `of` calls.
  explicit Pair(const CompiledState& of);

  Values* call(EagerScope& tape, const Values& in, std::string& why) override;
  const CompiledReports& forward() const override { return forward_->reports(); }
  std::shared_ptr<const Entry> latest_backward() const override;

 private:
  Values* record_on_tape(EagerScope& tape, const Values& in, const Values& made);

  const Ref<ForwardFunction> function_;
  const Ref<Compiled> forward_;
};

}  // namespace thunder
