// Special functions over doubles that the C library lacks, to about fifteen digits.
#pragma once

namespace thunder::special {

double lgamma(double x);   // the C library's, without its global sign
double digamma(double x);  // the derivative of lgamma
double zeta(double s, double q);
double polygamma(double n, double x);  // the n-th derivative of digamma
double ndtri(double p);                // the quantile of the normal distribution
double erfinv(double x);
double erfcx(double x);    // exp(x * x) * erfc(x), without its overflow
double log_ndtr(double x); // the logarithm of the normal distribution
double i0(double x);       // modified Bessel functions of the first kind
double i1(double x);
double i0e(double x);      // times exp(-|x|)
double i1e(double x);

}  // namespace thunder::special
