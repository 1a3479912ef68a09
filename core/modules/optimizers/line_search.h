// A step length along a direction by the strong Wolfe conditions: interpolation by cubics, as PyTorch's LBFGS has it.
#pragma once

#include "modules/optimizers/joint.h"

namespace thunder {

struct StepLength {
  double step = 0;
  JointStep::Point at;
  int64_t evaluations = 0;
};

// Searches from `start`, the loss and its gradient at x, along `direction`, whose scalar product with that gradient is
// `slope`, trying `step` first, with at most `most` evaluations after it. The parameters stay where the last trial left
// them; at x when this throws.
StepLength strong_wolfe(JointStep& s, const Ref<Tensor>& x, const Ref<Tensor>& direction, const JointStep::Point& start,
                        double slope, double step, int64_t most);

// The minimum, within bounds, of the cubic through two points with these values and slopes.
struct LinePoint {
  double at = 0, value = 0, slope = 0;
};
double cubic_minimum(const LinePoint& a, const LinePoint& b, double low, double high);

}  // namespace thunder
