// Adam and what was made of it: AdamW, Adamax, NAdam, RAdam.
#include "modules/optimizers/rules.h"

namespace thunder {
namespace {

constexpr OptionRow kBetas{"betas", ArgKind::reals, "0.9, 0.999",
                           "How much of the running mean and of the running square is kept."};
constexpr OptionRow kAmsgrad{"amsgrad", ArgKind::boolean, "false",
                             "Divides by the root of the greatest running square so far."};
constexpr OptionRow kDecoupled{"decoupled_weight_decay", ArgKind::boolean, "false",
                               "weight_decay is a share of the parameter, times lr, as AdamW has it."};
constexpr std::array kAdam = {kLr, kBetas, kEps, kL2, kAmsgrad, kMaximize, kDecoupled};
constexpr std::array kAdamW = {
    kLr, kBetas, kEps,
    OptionRow{"weight_decay", ArgKind::real, "0.01", "The share of a parameter, times lr, taken off it at each step."},
    kAmsgrad, kMaximize};
constexpr std::array kAdamax = {lr("0.002"), kBetas, kEps, kL2, kMaximize};
constexpr std::array kNAdam = {
    lr("0.002"), kBetas, kEps, kL2,
    OptionRow{"momentum_decay", ArgKind::real, "0.004", "How fast the momentum grows to the first of betas."},
    kDecoupled, kMaximize};
constexpr std::array kRAdam = {kLr, kBetas, kEps, kL2, kDecoupled, kMaximize};

void check_adam(std::string_view who, const Settings& o) {
  check_betas(who, o);
  check_positive(who, o, {"eps", "weight_decay"});
  if (o.has("momentum_decay")) check_positive(who, o, {"momentum_decay"});
}

void move_means(OptimizerStep& s) {
  const auto& betas = s.settings.reals("betas");
  s.moments[0] = lerp(s.moments[0], s.gradient, rest_of_momentum(s));
  s.moments[1] = s.moments[1] * betas[1] + s.gradient * s.gradient * (1 - betas[1]);
}
void apply_weight_decay(OptimizerStep& s) {
  s.settings.flag("decoupled_weight_decay") ? decay_by_share(s) : decay_by_gradient(s);
}

// ---- Adam, AdamW ----

std::vector<Moment> adam_moments(const Settings& o) {
  std::vector<Moment> moments = {{"exp_avg"}, {"exp_avg_sq"}};
  if (o.flag("amsgrad")) moments.push_back({"max_exp_avg_sq"});
  return moments;
}

// lr / (1 - beta1^t) and sqrt(1 - beta2^t).
std::vector<Var> prepare_adam(const OptimizerStep& s) {
  const auto& betas = s.settings.reals("betas");
  return {s.lr / momentum_correction(s), square_root(bias_correction(s, betas[1]))};
}

void move_adam(OptimizerStep& s) {
  move_means(s);
  const bool amsgrad = s.settings.flag("amsgrad");
  if (amsgrad) s.moments[2] = op("maximum", s.moments[2], s.moments[1]);
  Var root = square_root(amsgrad ? s.moments[2] : s.moments[1]);
  s.parameter = s.parameter - s.moments[0] / (root / s.shared[1] + s.settings.real("eps")) * s.shared[0];
}

void update_adam(OptimizerStep& s) {
  apply_weight_decay(s);
  move_adam(s);
}
void update_adamw(OptimizerStep& s) {
  decay_by_share(s);
  move_adam(s);
}

// ---- Adamax ----

std::vector<Moment> adamax_moments(const Settings&) {
  return {{"exp_avg"}, {"exp_inf"}};
}
std::vector<Var> prepare_adamax(const OptimizerStep& s) {
  return {s.lr / momentum_correction(s)};
}
void update_adamax(OptimizerStep& s) {
  const auto& betas = s.settings.reals("betas");
  Var &mean = s.moments[0], &most = s.moments[1];
  decay_by_gradient(s);
  mean = lerp(mean, s.gradient, rest_of_momentum(s));
  most = op("maximum", most * betas[1], op("abs", s.gradient) + s.settings.real("eps"));
  s.parameter = s.parameter - mean / most * s.shared[0];
}

// ---- NAdam ----

std::vector<Moment> nadam_moments(const Settings&) {
  return {{"exp_avg"}, {"exp_avg_sq"}, {"mu_product", 1, true}};
}
// The momentum of this step and of the next, and 1 - beta2^t.
std::vector<Var> prepare_nadam(const OptimizerStep& s) {
  const auto& betas = s.settings.reals("betas");
  const double slowness = s.settings.real("momentum_decay");
  const auto momentum = [&](Var step) { return (power(0.96, step * slowness) * -0.5 + 1.0) * momentum_of(s); };
  return {momentum(s.step), momentum(s.step + 1.0), bias_correction(s, betas[1])};
}
void update_nadam(OptimizerStep& s) {
  Var mu = s.shared[0], next = s.shared[1], &product = s.moments[2];
  apply_weight_decay(s);
  move_means(s);
  product = as_number(product * as_number(mu));
  Var root = square_root(s.moments[1] / s.shared[2]) + s.settings.real("eps");
  Var by_gradient = s.lr * (-mu + 1.0) / (-product + 1.0), by_mean = s.lr * next / (-(product * next) + 1.0);
  s.parameter = s.parameter - s.gradient / root * by_gradient - s.moments[0] / root * by_mean;
}

// ---- RAdam ----

std::vector<Moment> radam_moments(const Settings&) {
  return {{"exp_avg"}, {"exp_avg_sq"}};
}
// lr / (1 - beta1^t), whether the variance is tractable yet, and the rectification times sqrt(1 - beta2^t).
std::vector<Var> prepare_radam(const OptimizerStep& s) {
  const auto& betas = s.settings.reals("betas");
  const double most = 2 / (1 - betas[1]) - 1;
  Var correction = bias_correction(s, betas[1]);
  Var length = -(s.step * power(betas[1], s.step) * 2.0 / correction) + most;
  Var known = op("gt", length, 5.0);
  Var share = (length - 4.0) * (length - 2.0) * (most / ((most - 4) * (most - 2))) / length;
  return {s.lr / momentum_correction(s), known, square_root(op("maximum", share, 0.0) * correction)};
}
void update_radam(OptimizerStep& s) {
  apply_weight_decay(s);
  move_means(s);
  Var adaptive = s.moments[0] * s.shared[2] / (square_root(s.moments[1]) + s.settings.real("eps"));
  s.parameter = s.parameter - op("where", s.shared[1], adaptive, s.moments[0]) * s.shared[0];
}

constexpr OptimizerRow kRows[] = {
    {"Adam", "Steps against the running mean of the gradient over the root of its running square.", kAdam, check_adam,
     adam_moments, prepare_adam, update_adam},
    {"AdamW", "Adam whose weight decay acts on the parameters, not through the moments.", kAdamW, check_adam,
     adam_moments, prepare_adam, update_adamw},
    {"Adamax", "Adam that divides by a running maximum.", kAdamax, check_adam, adamax_moments, prepare_adamax,
     update_adamax},
    {"NAdam", "Adam with Nesterov's momentum.", kNAdam, check_adam, nadam_moments, prepare_nadam, update_nadam},
    {"RAdam", "Adam that is SGD with momentum while the running square is of too few steps.", kRAdam, check_adam,
     radam_moments, prepare_radam, update_radam},
};

}  // namespace

extern const OptimizerRows adam_rows = kRows;

}  // namespace thunder
