// The handles of modules and optimisers: each keeps the context whose tables its kind is a row of.
#pragma once

#include "capi/context.h"
#include "jit/eager/steps.h"
#include "modules/lr_scheduler.h"
#include "modules/optimizer.h"

namespace thunder::capi {

class ModuleHandle : public Counted<ModuleHandle> {
 public:
  ModuleHandle(Ref<Context> context, Ref<Module> module) : context(std::move(context)), module(std::move(module)) {}
  const Ref<Context> context;
  const Ref<Module> module;
};
THUNDER_COUNTED_HANDLE(module, ModuleHandle)

class OptimizerHandle : public Counted<OptimizerHandle> {
 public:
  OptimizerHandle(Ref<Context> context, Ref<Optimizer> optimizer)
      : context(context),
        optimizer(std::move(optimizer)),
        state(make<ModuleHandle>(context, this->optimizer->state())),
        steps(context, *this->optimizer) {}
  const Ref<Context> context;
  const Ref<Optimizer> optimizer;
  const Ref<ModuleHandle> state;
  EagerSteps steps;
};
THUNDER_COUNTED_HANDLE(optimizer, OptimizerHandle)

class ScheduleHandle : public Counted<ScheduleHandle> {
 public:
  ScheduleHandle(Ref<Context> context, Ref<LrScheduler> schedule)
      : context(context), schedule(std::move(schedule)), state(make<ModuleHandle>(context, this->schedule->state())) {}
  const Ref<Context> context;
  const Ref<LrScheduler> schedule;
  const Ref<ModuleHandle> state;
};
THUNDER_COUNTED_HANDLE(schedule, ScheduleHandle)

}  // namespace thunder::capi
