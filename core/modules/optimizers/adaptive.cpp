// RMSprop, Adagrad, Adadelta: the gradient divided by the root of an average or sum of its squares.
#include "modules/optimizers/rules.h"

namespace thunder {
namespace {

// ---- RMSprop ----

constexpr std::array kRmsprop = {
    lr("0.01"),
    OptionRow{"alpha", ArgKind::real, "0.99", "How much of the running square is kept."},
    kEps,
    kL2,
    OptionRow{"momentum", ArgKind::real, "0", "How much of the last step's direction is kept."},
    OptionRow{"centered", ArgKind::boolean, "false", "Divides by the root of the running variance."},
    kMaximize,
};
void check_rmsprop(std::string_view who, const Settings& o) {
  check_positive(who, o, {"alpha", "eps", "weight_decay", "momentum"});
}
std::vector<Moment> rmsprop_moments(const Settings& o) {
  std::vector<Moment> moments = {{"square_avg"}};
  if (o.real("momentum") > 0) moments.push_back({"momentum_buffer"});
  if (o.flag("centered")) moments.push_back({"grad_avg"});
  return moments;
}
void update_rmsprop(OptimizerStep& s) {
  const double alpha = s.settings.real("alpha");
  decay_by_gradient(s);
  Var& square = s.moments[0];
  square = square * alpha + s.gradient * s.gradient * (1 - alpha);
  Var variance = square;
  if (s.settings.flag("centered")) {
    Var& mean = s.moments.back();
    mean = lerp(mean, s.gradient, 1 - alpha);
    variance = square - mean * mean;
  }
  Var direction = s.gradient / (square_root(variance) + s.settings.real("eps"));
  if (s.settings.real("momentum") > 0) direction = s.moments[1] = s.moments[1] * momentum_of(s) + direction;
  s.parameter = s.parameter - direction * s.lr;
}

// ---- Adagrad ----

constexpr std::array kAdagrad = {
    lr("0.01"),
    OptionRow{"lr_decay", ArgKind::real, "0", "How fast the learning rate falls: over 1 + (step - 1) * lr_decay."},
    kL2,
    OptionRow{"initial_accumulator_value", ArgKind::real, "0", "What the sum of squares starts from."},
    OptionRow{"eps", ArgKind::real, "1e-10", "Added to the root of the sum of squares."},
    kMaximize,
};
void check_adagrad(std::string_view who, const Settings& o) {
  check_positive(who, o, {"lr_decay", "weight_decay", "initial_accumulator_value", "eps"});
}
std::vector<Moment> adagrad_moments(const Settings& o) {
  return {{"sum", o.real("initial_accumulator_value")}};
}
std::vector<Var> prepare_adagrad(const OptimizerStep& s) {
  return {s.lr / ((s.step - 1.0) * s.settings.real("lr_decay") + 1.0)};
}
void update_adagrad(OptimizerStep& s) {
  Var& sum = s.moments[0];
  decay_by_gradient(s);
  sum = sum + s.gradient * s.gradient;
  s.parameter = s.parameter - s.gradient / (square_root(sum) + s.settings.real("eps")) * s.shared[0];
}

// ---- Adadelta ----

constexpr std::array kAdadelta = {
    lr("1"),
    OptionRow{"rho", ArgKind::real, "0.9", "How much of the running squares is kept."},
    OptionRow{"eps", ArgKind::real, "1e-06", "Added to the running squares before their roots."},
    kL2,
    kMaximize,
};
void check_adadelta(std::string_view who, const Settings& o) {
  require(o.real("rho") >= 0 && o.real("rho") <= 1, who, ": rho must lie in [0, 1], got ", o.real("rho"));
  check_positive(who, o, {"eps", "weight_decay"});
}
std::vector<Moment> adadelta_moments(const Settings&) {
  return {{"square_avg"}, {"acc_delta"}};
}
void update_adadelta(OptimizerStep& s) {
  const double rho = s.settings.real("rho"), eps = s.settings.real("eps");
  Var &square = s.moments[0], &moved = s.moments[1];
  decay_by_gradient(s);
  square = square * rho + s.gradient * s.gradient * (1 - rho);
  Var delta = square_root(moved + eps) / square_root(square + eps) * s.gradient;
  moved = moved * rho + delta * delta * (1 - rho);
  s.parameter = s.parameter - delta * s.lr;
}

constexpr OptimizerRow kRows[] = {
    {"RMSprop", "Steps against the gradient over the root of its running square.", kRmsprop, check_rmsprop,
     rmsprop_moments, nullptr, update_rmsprop},
    {"Adagrad", "Steps against the gradient over the root of the sum of its squares.", kAdagrad, check_adagrad,
     adagrad_moments, prepare_adagrad, update_adagrad},
    {"Adadelta", "Steps as long as those before it were, over the root of the gradient's running square.", kAdadelta,
     check_adadelta, adadelta_moments, nullptr, update_adadelta},
};

}  // namespace

extern const OptimizerRows adaptive_rows = kRows;

}  // namespace thunder
