#include "modules/lr_steps.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace thunder {
namespace {

double count(const Settings& o, std::string_view option) { return static_cast<double>(o.integer(option)); }

}  // namespace

double step_lr_after(const Settings& o, double step, double, double now) {
  return step == 0 || std::fmod(step, count(o, "step_size")) != 0 ? now : now * o.real("gamma");
}

double multi_step_lr_after(const Settings& o, double step, double, double now) {
  const auto& at = o.reals("milestones");
  return now * std::pow(o.real("gamma"), static_cast<double>(std::count(at.begin(), at.end(), step)));
}

double constant_lr_after(const Settings& o, double step, double base, double now) {
  const double factor = o.real("factor");
  if (step == 0) return now * factor;
  if (step != count(o, "total_iters")) return now;
  return factor == 0 ? base : now * (1 / factor);
}

double linear_lr_after(const Settings& o, double step, double base, double now) {
  const double from = o.real("start_factor"), all = count(o, "total_iters"), way = o.real("end_factor") - from;
  if (step == 0) return now * from;
  if (step > all) return now;
  const double before = all * from + (step - 1) * way;  // times `all`, the factor of the step before
  return before == 0 ? base * (from + way * step / all) : now * (1 + way / before);
}

double exponential_lr_after(const Settings& o, double, double, double now) { return now * o.real("gamma"); }

double polynomial_lr_after(const Settings& o, double step, double, double now) {
  const double all = count(o, "total_iters");
  return step > all ? now : now * std::pow((1 - step / all) / (1 - (step - 1) / all), o.real("power"));
}

double cosine_annealing_lr_after(const Settings& o, double step, double base, double now) {
  const double half = count(o, "T_max"), least = o.real("eta_min"), pi = std::numbers::pi;
  const double behind_the_least = std::fmod(step - 1 - half, 2 * half);
  if (behind_the_least == 0) return now + (base - least) * (1 - std::cos(pi / half)) / 2;
  return (1 + std::cos(pi * step / half)) / (1 + std::cos(pi * (step - 1) / half)) * (now - least) + least;
}

}  // namespace thunder
