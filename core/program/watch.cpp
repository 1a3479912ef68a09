#include "program/watch.h"

namespace thunder {

Status* Program::watch_step(const Frame& frame, size_t at, StepWatch& watch, bool closely) const {
  const Step& step = plan_.steps[at];
  const Launch& launch = frame.launches[at];
  watch.before(*this, at, launch);
  if (Status* failed = step.call(&launch)) return failed;
  if (closely)
    for (Accelerator* a : accelerators())
      if (Status* failed = a->wait()) return failed;
  watch.after(*this, at, launch);
  return nullptr;
}

Status* Program::run_watched(const Frame& frame, size_t stoppable, InterruptCheck& check) const noexcept {
  check.watch()->begin({frame.arenas[0]->data(), plan_.arenas[0].bytes});
  for (size_t i = plan_.constant_steps; i < plan_.steps.size(); i++) {
    const Step& step = plan_.steps[i];
    if (i < stoppable)
      if (Status* why = check.before_step(step.bytes)) return describe_stop(why, step);
    try {
      if (Status* failed = watch_step(frame, i, *check.watch(), check.watched_closely()))
        return add_location(failed, step);
    } catch (const Error& e) {
      return Ref<Status>(e.status()).detach();
    } catch (...) {
      return add_location(status_of_thrown("it"), step);
    }
  }
  return nullptr;
}

}  // namespace thunder
