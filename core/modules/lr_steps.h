// How PyTorch's schedules make the learning rate of a step from that of the step before: so that several of one
// optimizer, and rates that were set by hand, count together.
#pragma once

#include "modules/settings.h"

namespace thunder {

// `step`: from 1 on, 0 where a schedule is stepped before it began; `base`: the first rate; `now`: that of the step
// before.
double step_lr_after(const Settings&, double step, double base, double now);
double multi_step_lr_after(const Settings&, double step, double base, double now);
double constant_lr_after(const Settings&, double step, double base, double now);
double linear_lr_after(const Settings&, double step, double base, double now);
double exponential_lr_after(const Settings&, double step, double base, double now);
double polynomial_lr_after(const Settings&, double step, double base, double now);
double cosine_annealing_lr_after(const Settings&, double step, double base, double now);

}  // namespace thunder
