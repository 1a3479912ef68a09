// Rprop and Lion: steps along signs alone.
#include "modules/optimizers/rules.h"

namespace thunder {
namespace {

// ---- Rprop ----

constexpr std::array kRprop = {
    lr("0.01"),
    OptionRow{"etas", ArgKind::reals, "0.5, 1.2",
              "By what a step shrinks where the sign changes, and grows where not."},
    OptionRow{"step_sizes", ArgKind::reals, "1e-06, 50", "The least and the greatest step."},
    kMaximize,
};
void check_rprop(std::string_view who, const Settings& o) {
  const auto &etas = o.reals("etas"), &sizes = o.reals("step_sizes");
  require(etas.size() == 2 && etas[0] > 0 && etas[0] < 1 && etas[1] > 1, who,
          ": etas must be two numbers, one in (0, 1) and one above 1");
  require(sizes.size() == 2 && sizes[0] <= sizes[1], who, ": step_sizes must be two numbers, the least first");
}
// The first steps are lr long.
std::vector<Moment> rprop_moments(const Settings& o) {
  return {{"prev"}, {"step_size", o.real("lr")}};
}
void update_rprop(OptimizerStep& s) {
  const auto &etas = s.settings.reals("etas"), &sizes = s.settings.reals("step_sizes");
  Var &previous = s.moments[0], &size = s.moments[1], agreement = s.gradient * previous;
  Var changed = op("lt", agreement, 0.0);
  Var grown = op("where", op("gt", agreement, 0.0), size * etas[1], size);
  size = op("clamp", op("where", changed, size * etas[0], grown), sizes[0], sizes[1]);
  previous = op("where", changed, 0.0, s.gradient);
  s.parameter = s.parameter - op("sign", previous) * size;
}

// ---- Lion ----

constexpr std::array kLion = {
    lr("0.0001"),
    OptionRow{"betas", ArgKind::reals, "0.9, 0.99", "How much of the running mean is in the step, and is kept."},
    OptionRow{"weight_decay", ArgKind::real, "0", "The share of a parameter, times lr, taken off it at each step."},
    kMaximize,
};
void check_lion(std::string_view who, const Settings& o) {
  check_betas(who, o);
  check_positive(who, o, {"weight_decay"});
}
std::vector<Moment> lion_moments(const Settings&) {
  return {{"exp_avg"}};
}
void update_lion(OptimizerStep& s) {
  const auto& betas = s.settings.reals("betas");
  Var& mean = s.moments[0];
  decay_by_share(s);
  s.parameter = s.parameter - op("sign", mean * momentum_of(s) + s.gradient * rest_of_momentum(s)) * s.lr;
  mean = mean * betas[1] + s.gradient * (1 - betas[1]);
}

constexpr OptimizerRow kRows[] = {
    {"Rprop", "Each element has a step of its own, which grows until the gradient's sign changes.", kRprop, check_rprop,
     rprop_moments, nullptr, update_rprop},
    {"Lion", "Steps of one length against the sign of the running mean of the gradient.", kLion, check_lion,
     lion_moments, nullptr, update_lion},
};

}  // namespace

extern const OptimizerRows sign_rows = kRows;

}  // namespace thunder
