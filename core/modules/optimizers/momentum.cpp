// SGD and ASGD: steps against the gradient itself, or against its running direction.
#include "modules/optimizers/rules.h"

namespace thunder {
namespace {

// ---- SGD ----

constexpr std::array kSgd = {
    kLr,
    OptionRow{"momentum", ArgKind::real, "0", "How much of the last step's direction is kept."},
    OptionRow{"dampening", ArgKind::real, "0", "How much less of the gradient enters the direction."},
    kL2,
    OptionRow{"nesterov", ArgKind::boolean, "false",
              "Looks ahead along the direction; needs momentum without dampening."},
    kMaximize,
};

void check_sgd(std::string_view who, const Settings& o) {
  check_positive(who, o, {"momentum", "weight_decay"});
  require(!o.flag("nesterov") || (o.real("momentum") > 0 && o.real("dampening") == 0), who,
          ": nesterov needs a positive momentum and no dampening, got momentum ", o.real("momentum"), " and dampening ",
          o.real("dampening"));
}

std::vector<Moment> sgd_moments(const Settings& o) {
  return o.real("momentum") != 0 ? std::vector<Moment>{{"momentum_buffer"}} : std::vector<Moment>{};
}

// Whether it is the first step, which takes the whole gradient.
std::vector<Var> prepare_sgd(const OptimizerStep& s) {
  return s.settings.real("momentum") != 0 ? std::vector<Var>{op("eq", s.step, 1.0)} : std::vector<Var>{};
}

void update_sgd(OptimizerStep& s) {
  const double dampening = s.settings.real("dampening");
  decay_by_gradient(s);
  Var direction = s.gradient;
  if (!s.moments.empty()) {
    const In momentum = momentum_of(s);
    Var buffer = s.moments[0] * momentum + direction * (1 - dampening);
    if (dampening != 0) buffer = op("where", s.shared[0], direction, buffer);
    s.moments[0] = buffer;
    direction = s.settings.flag("nesterov") ? direction + buffer * momentum : buffer;
  }
  s.parameter = s.parameter - direction * s.lr;
}

// ---- ASGD ----

constexpr std::array kAsgd = {
    lr("0.01"),
    OptionRow{"lambd", ArgKind::real, "0.0001", "The share of a parameter, times eta, taken off it at each step."},
    OptionRow{"alpha", ArgKind::real, "0.75", "The power by which eta falls."},
    OptionRow{"t0", ArgKind::real, "1000000", "The step from which on parameters are averaged."},
    kL2,
    kMaximize,
};

void check_asgd(std::string_view who, const Settings& o) {
  check_positive(who, o, {"weight_decay"});
}

std::vector<Moment> asgd_moments(const Settings& o) {
  return {{"eta", static_cast<float>(o.real("lr")), true}, {"mu", 1, true}, {"ax"}};
}

// eta and mu of the next step.
std::vector<Var> prepare_asgd(const OptimizerStep& s) {
  const Settings& o = s.settings;
  Var slope = s.lr * o.real("lambd") * s.step + 1.0;
  return {as_number(s.lr / op("pow", slope, o.real("alpha"))),
          as_number(op("reciprocal", op("maximum", s.step - o.real("t0"), 1.0)))};
}

void update_asgd(OptimizerStep& s) {
  Var &eta = s.moments[0], &mu = s.moments[1], &mean = s.moments[2];
  decay_by_gradient(s);
  s.parameter = s.parameter * (eta * -s.settings.real("lambd") + 1.0) - s.gradient * eta;
  mean = op("where", op("eq", mu, 1.0), s.parameter, mean + (s.parameter - mean) * mu);
  eta = s.shared[0], mu = s.shared[1];
}

constexpr OptimizerRow kRows[] = {
    {"SGD", "Steps against the gradient, with momentum if asked for.", kSgd, check_sgd, sgd_moments, prepare_sgd,
     update_sgd},
    {"ASGD", "SGD whose steps become shorter; the state's ax holds the averages of the parameters.", kAsgd, check_asgd,
     asgd_moments, prepare_asgd, update_asgd},
};

}  // namespace

extern const OptimizerRows momentum_rows = kRows;

}  // namespace thunder
