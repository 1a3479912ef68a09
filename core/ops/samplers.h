// Draws of distributions that take a number of tries not known before, each from one uniform number, which begins a
// generator of its own: so a draw depends on its parameter and that number alone.
#pragma once

namespace thunder::samplers {

// A gamma variable of that shape and of scale 1. Requires 0 <= u < 1.
double gamma(double shape, double u);
// How a gamma variable that is x changes with its shape, for any way of drawing it by a continuous function of the
// shape: minus the derivative of the distribution in the shape over the density.
double gamma_slope(double shape, double x);
// A Poisson variable of that mean. Requires 0 <= u < 1.
double poisson(double rate, double u);

}  // namespace thunder::samplers
