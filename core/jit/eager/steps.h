// Steps of an optimizer outside of programs: on a device one program moves all parameters, as in compiled functions.
#pragma once

#include <mutex>

#include "jit/call.h"
#include "modules/optimizer.h"

namespace thunder {

class EagerSteps {
 public:
  // The optimizer outlives this.
  EagerSteps(Ref<Context> context, Optimizer& optimizer) : context_(std::move(context)), optimizer_(optimizer) {}

  // Optimizer::step. Any thread, as far as its parameters are not those of another step.
  void step(Scope& scope, const Values& grads);

 private:
  bool is_one_program(const Scope& scope, const Values& grads) const;
  const Ref<Compiled>& program();

  const Ref<Context> context_;
  Optimizer& optimizer_;
  std::once_flag once_;
  Ref<Compiled> program_;
};

}  // namespace thunder
