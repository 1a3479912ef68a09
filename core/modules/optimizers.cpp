// The optimisers' rows. Formulas, names and defaults are PyTorch's.
#include <array>

#include "base/text.h"
#include "modules/optimizer.h"

namespace thunder {
namespace {

void check_fraction(std::string_view who, std::string_view option, double value) {
  require(value >= 0 && value < 1, who, ": ", option, " must lie in [0, 1), got ", value);
}
void check_positive(std::string_view who, std::string_view option, double value) {
  require(value >= 0, who, ": ", option, " must not be negative, got ", value);
}
Var sqrt(Var x) {
  return x.builder->call("sqrt", {x});
}
// 1 - base^step, of f64.
Var bias_correction(const OptimizerStep& s, double base) {
  return -s.step.builder->call("pow", {base, s.step}) + 1.0;
}

// ---- SGD ----

constexpr std::array kSgd = {
    OptionRow{"lr", ArgKind::real, "0.001", "The learning rate; a tensor."},
    OptionRow{"momentum", ArgKind::real, "0", "How much of the last step's direction is kept."},
    OptionRow{"dampening", ArgKind::real, "0", "How much less of the gradient enters the direction."},
    OptionRow{"weight_decay", ArgKind::real, "0", "The L2 penalty added to the gradient."},
    OptionRow{"nesterov", ArgKind::boolean, "false",
              "Looks ahead along the direction; needs momentum without dampening."},
};

void check_sgd(std::string_view who, const Settings& o) {
  check_positive(who, "momentum", o.real("momentum"));
  check_positive(who, "weight_decay", o.real("weight_decay"));
  require(!o.flag("nesterov") || (o.real("momentum") > 0 && o.real("dampening") == 0), who,
          ": nesterov needs a positive momentum and no dampening, got momentum ", o.real("momentum"), " and dampening ",
          o.real("dampening"));
}

std::vector<std::string_view> sgd_moments(const Settings& o) {
  return o.real("momentum") != 0 ? std::vector<std::string_view>{"momentum_buffer"} : std::vector<std::string_view>{};
}

void update_sgd(OptimizerStep& s) {
  const double momentum = s.settings.real("momentum"), dampening = s.settings.real("dampening"),
               decay = s.settings.real("weight_decay");
  Var direction = s.gradient;
  if (decay != 0) direction = direction + s.parameter * decay;
  if (momentum != 0) {
    Var buffer = s.moments[0] * momentum + direction * (1 - dampening);
    // The first step takes the whole gradient.
    if (dampening != 0)
      buffer = s.step.builder->call("where", {s.step.builder->call("eq", {s.step, 1.0}), direction, buffer});
    s.moments[0] = buffer;
    direction = s.settings.flag("nesterov") ? direction + buffer * momentum : buffer;
  }
  s.parameter = s.parameter - direction * s.lr;
}

// ---- Adam, AdamW ----

constexpr OptionRow kAdamLr{"lr", ArgKind::real, "0.001", "The learning rate; a tensor."};
constexpr OptionRow kBetas{"betas", ArgKind::reals, "0.9, 0.999",
                           "How much of the running mean and of the running square is kept."};
constexpr OptionRow kEps{"eps", ArgKind::real, "1e-08", "Added to the root of the running square."};
constexpr OptionRow kAmsgrad{"amsgrad", ArgKind::boolean, "false",
                             "Divides by the root of the greatest running square so far."};
constexpr std::array kAdam = {kAdamLr, kBetas, kEps,
                              OptionRow{"weight_decay", ArgKind::real, "0", "The L2 penalty added to the gradient."},
                              kAmsgrad};
constexpr std::array kAdamW = {
    kAdamLr, kBetas, kEps,
    OptionRow{"weight_decay", ArgKind::real, "0.01", "The share of a parameter, times lr, taken off it at each step."},
    kAmsgrad};

void check_adam(std::string_view who, const Settings& o) {
  const auto& betas = o.reals("betas");
  require(betas.size() == 2, who, ": betas must be two numbers, got ", betas.size());
  for (double beta : betas) check_fraction(who, "betas", beta);
  check_positive(who, "eps", o.real("eps"));
  check_positive(who, "weight_decay", o.real("weight_decay"));
}

std::vector<std::string_view> adam_moments(const Settings& o) {
  std::vector<std::string_view> names = {"exp_avg", "exp_avg_sq"};
  if (o.flag("amsgrad")) names.push_back("max_exp_avg_sq");
  return names;
}

// lr / (1 - beta1^t) and sqrt(1 - beta2^t).
std::vector<Var> prepare_adam(const OptimizerStep& s) {
  const auto& betas = s.settings.reals("betas");
  return {s.lr / bias_correction(s, betas[0]), sqrt(bias_correction(s, betas[1]))};
}

void move_adam(OptimizerStep& s) {
  const auto& betas = s.settings.reals("betas");
  Var &mean = s.moments[0], &square = s.moments[1];
  mean = mean + (s.gradient - mean) * (1 - betas[0]);
  square = square * betas[1] + s.gradient * s.gradient * (1 - betas[1]);
  if (s.settings.flag("amsgrad")) s.moments[2] = s.step.builder->call("maximum", {s.moments[2], square});
  Var root = sqrt(s.settings.flag("amsgrad") ? s.moments[2] : square);
  s.parameter = s.parameter - mean / (root / s.shared[1] + s.settings.real("eps")) * s.shared[0];
}

void update_adam(OptimizerStep& s) {
  const double decay = s.settings.real("weight_decay");
  if (decay != 0) s.gradient = s.gradient + s.parameter * decay;
  move_adam(s);
}

void update_adamw(OptimizerStep& s) {
  const double decay = s.settings.real("weight_decay");
  if (decay != 0) s.parameter = s.parameter * (s.lr * -decay + 1.0);
  move_adam(s);
}

std::vector<Var> nothing_shared(const OptimizerStep&) {
  return {};
}

constexpr std::array kRows = {
    OptimizerRow{"SGD", "Steps against the gradient, with momentum if asked for.", kSgd, check_sgd, sgd_moments,
                 nothing_shared, update_sgd},
    OptimizerRow{"Adam", "Steps against the running mean of the gradient over the root of its running square.", kAdam,
                 check_adam, adam_moments, prepare_adam, update_adam},
    OptimizerRow{"AdamW", "Adam whose weight decay acts on the parameters, not through the moments.", kAdamW,
                 check_adam, adam_moments, prepare_adam, update_adamw},
};

}  // namespace

std::span<const OptimizerRow> optimizer_rows() {
  return kRows;
}

}  // namespace thunder
