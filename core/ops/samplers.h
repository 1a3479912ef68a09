// Rejection samplers. Each draw starts a generator of its own from one uniform number, so that it depends on its
// parameter and that number alone, however many tries it takes.
#pragma once

namespace thunder::samplers {

// A gamma variable of this shape and of scale 1. Requires 0 <= u < 1.
double gamma(double shape, double u);
// The derivative of a gamma variable, whose value is x, by its shape, if it is drawn by a continuous function of the
// shape: minus the derivative of the distribution function by the shape, over the density.
double gamma_slope(double shape, double x);
// A Poisson variable of this mean. Requires 0 <= u < 1.
double poisson(double rate, double u);

}  // namespace thunder::samplers
