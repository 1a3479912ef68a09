#include "jit/eager/steps.h"

#include <algorithm>

#include "jit/context/context.h"

namespace thunder {
namespace {

class StepFunction final : public Function {
 public:
  explicit StepFunction(Optimizer& optimizer) : Function("step"), optimizer_(optimizer) {}
  Ref<Status> call(Scope& scope, const Values& grads, Values&) override {
    optimizer_.step(scope, grads);
    return nullptr;
  }

 private:
  Optimizer& optimizer_;
};

}  // namespace

bool EagerSteps::is_one_program(const Scope& scope, const Values& grads) const {
  if (scope.tracing() || scope.taped() || scope.status() || scope.autocast != DType::none) return false;
  if (context_->stance() == Stance::force_eager) return false;
  for (size_t i = 0; i < grads.size(); i++)
    if (grads[i].tensor && grads[i].tensor->type().device != Device::cpu) return true;
  return false;
}

const Ref<Compiled>& EagerSteps::program() {
  std::call_once(once_, [this] {
    program_ = make<Compiled>(context_, Ref<Function>::adopt(new StepFunction(optimizer_)), nullptr);
  });
  return program_;
}

// A program refuses data before it writes anything; running op by op then gives the op's own error.
void EagerSteps::step(Scope& scope, const Values& grads) {
  if (is_one_program(scope, grads)) {
    Values none;
    const Ref<Status> failed = Ref<Status>::adopt(program()->call(grads, none));
    if (!failed) return;
    if (failed->code() == kCancelled) throw Error(failed);
  }
  optimizer_.step(scope, grads);
}

}  // namespace thunder
