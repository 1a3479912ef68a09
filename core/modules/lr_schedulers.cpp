// The rows of schedules: each a formula of the step. Formulas, names and defaults are PyTorch's.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "base/text.h"
#include "modules/lr_scheduler.h"
#include "modules/lr_steps.h"

namespace thunder {
namespace {

double interpolate_by_cosine(double from, double to, double share) {
  return to + (from - to) * (1 + std::cos(std::numbers::pi * share)) / 2;
}
double interpolate_linearly(double from, double to, double share) {
  return from + (to - from) * share;
}
// How far `t` is on the way to the option's steps, at most 1.
double fraction_done(const Settings& o, double t, std::string_view steps) {
  return std::min(1.0, t / static_cast<double>(o.integer(steps)));
}

void check_positive(std::string_view who, std::string_view option, const Settings& o) {
  require(o.integer(option) > 0, who, ": ", option, " must be positive, got ", o.integer(option));
}
template <char const* option>
void positive(std::string_view who, const Settings& o) {
  check_positive(who, option, o);
}
void accept_any(std::string_view, const Settings&) {}
constexpr char kStepSize[] = "step_size", kIterations[] = "total_iters", kHalf[] = "T_max";

constexpr OptionRow kGamma{"gamma", ArgKind::real, "0.1", "The factor of each decay."};
constexpr OptionRow kMomentum{"cycle_momentum", ArgKind::boolean, "true",
                              "Whether momentum, or the first of betas, falls as the learning rate rises."};
consteval OptionRow momentum(std::string_view name, std::string_view fallback) {
  return {name, ArgKind::real, fallback,
          name == "base_momentum" ? "The momentum at the greatest learning rate." : "The momentum at the least."};
}
constexpr OptionRow kMinimum{"eta_min", ArgKind::real, "0", "The least learning rate."};
constexpr std::array kStep = {OptionRow{"step_size", ArgKind::integer, "", "Steps from one decay to the next."},
                              kGamma};
constexpr std::array kMilestones = {OptionRow{"milestones", ArgKind::reals, "", "The steps of decays, ascending."},
                                    kGamma};
constexpr std::array kExponential = {OptionRow{"gamma", ArgKind::real, "", "The factor of each step."}};
constexpr std::array kCosine = {OptionRow{"T_max", ArgKind::integer, "", "Steps down to eta_min."}, kMinimum};
constexpr std::array kRestarts = {
    OptionRow{"T_0", ArgKind::integer, "", "Steps to the first restart."},
    OptionRow{"T_mult", ArgKind::integer, "1", "By what the way to each further restart is longer."}, kMinimum};
constexpr std::array kConstant = {
    OptionRow{"factor", ArgKind::real, "0.3333333333333333", "The factor of the first steps."},
    OptionRow{"total_iters", ArgKind::integer, "5", "Steps until the factor is gone."}};
constexpr std::array kPolynomial = {OptionRow{"total_iters", ArgKind::integer, "5", "Steps down to 0."},
                                    OptionRow{"power", ArgKind::real, "1", "The power of the rest of the way."}};
constexpr std::array kLinear = {
    OptionRow{"start_factor", ArgKind::real, "0.3333333333333333", "The first factor of the learning rate."},
    OptionRow{"end_factor", ArgKind::real, "1", "The last factor of the learning rate."},
    OptionRow{"total_iters", ArgKind::integer, "5", "Steps from the first to the last."},
};
constexpr std::array kWarmupCosine = {
    OptionRow{"warmup", ArgKind::integer, "",
              "Steps up to the optimizer's learning rate, the first at 1 / (warmup + 1) of it."},
    OptionRow{"T_max", ArgKind::integer, "", "Steps in all; eta_min from there on."},
    kMinimum,
};
constexpr std::array kCyclic = {
    OptionRow{"base_lr", ArgKind::real, "", "The learning rate at the ends of cycles."},
    OptionRow{"max_lr", ArgKind::real, "", "The learning rate in the middle of the first."},
    OptionRow{"step_size_up", ArgKind::integer, "2000", "Steps from an end to the middle."},
    OptionRow{"step_size_down", ArgKind::integer, "None", "Steps back to an end; None: as many."},
    OptionRow{"mode", ArgKind::string, "triangular",
              "'triangular'; 'triangular2', whose middles fall by half; 'exp_range', by gamma ** step."},
    OptionRow{"gamma", ArgKind::real, "1", "Of 'exp_range'."},
    kMomentum,
    momentum("base_momentum", "0.8"),
    momentum("max_momentum", "0.9"),
};
constexpr std::array kOneCycle = {
    OptionRow{"max_lr", ArgKind::real, "", "The greatest learning rate."},
    OptionRow{"total_steps", ArgKind::integer, "None", "Steps in all; None: epochs * steps_per_epoch."},
    OptionRow{"epochs", ArgKind::integer, "None", "Epochs in all."},
    OptionRow{"steps_per_epoch", ArgKind::integer, "None", "Steps of an epoch."},
    OptionRow{"pct_start", ArgKind::real, "0.3", "The share of the steps in which the learning rate rises."},
    OptionRow{"anneal_strategy", ArgKind::string, "cos", "'cos' or 'linear'."},
    kMomentum,
    momentum("base_momentum", "0.85"),
    momentum("max_momentum", "0.95"),
    OptionRow{"div_factor", ArgKind::real, "25", "The first learning rate is max_lr over this."},
    OptionRow{"final_div_factor", ArgKind::real, "10000", "The last is the first over this."},
    OptionRow{"three_phase", ArgKind::boolean, "false", "Falls as long as it rose, then to the last."},
};
constexpr std::array kPlateau = {
    OptionRow{"mode", ArgKind::string, "min", "'min': less of the metric is better; 'max': more is."},
    OptionRow{"factor", ArgKind::real, "0.1", "The factor of each decay."},
    OptionRow{"patience", ArgKind::integer, "10", "Steps without an improvement that are put up with."},
    OptionRow{"threshold", ArgKind::real, "0.0001", "By how much the metric must be better to be an improvement."},
    OptionRow{"threshold_mode", ArgKind::string, "rel",
              "'rel': the threshold is a share of the best; 'abs': a number."},
    OptionRow{"cooldown", ArgKind::integer, "0", "Steps after a decay in which none is counted."},
    OptionRow{"min_lr", ArgKind::real, "0", "The least learning rate."},
    OptionRow{"eps", ArgKind::real, "1e-08", "Decays by less than this are left out."},
};
constexpr std::array kSequential = {
    OptionRow{"milestones", ArgKind::reals, "", "The step at which each schedule after the first begins, ascending."}};

void check_milestones(std::string_view who, const Settings& o) {
  const auto& at = o.reals("milestones");
  for (size_t i = 0; i < at.size(); i++)
    require(at[i] >= 0 && at[i] == std::floor(at[i]) && (i == 0 || at[i] >= at[i - 1]), who,
            ": milestones must be ascending steps, got [", join(at, ", ", [](double v) { return v; }), "]");
}
void check_word(std::string_view who, const Settings& o, std::string_view option,
                std::initializer_list<std::string_view> words) {
  const std::string& is = o.leaf(option).text;
  require(std::find(words.begin(), words.end(), is) != words.end(), who, ": ", option, " must be ",
          join(words, " or ", [](auto word) { return cat("'", word, "'"); }), ", got '", is, "'");
}

double multi_step(const Settings& o, double t, double base) {
  const auto& at = o.reals("milestones");
  return base * std::pow(o.real("gamma"), static_cast<double>(std::upper_bound(at.begin(), at.end(), t) - at.begin()));
}

void check_restarts(std::string_view who, const Settings& o) {
  check_positive(who, "T_0", o), check_positive(who, "T_mult", o);
}
double restarts(const Settings& o, double t, double base) {
  auto length = static_cast<double>(o.integer("T_0"));
  const auto growth = static_cast<double>(o.integer("T_mult"));
  if (growth == 1) t = std::fmod(t, length);
  else
    for (; t >= length; length *= growth) t -= length;
  return interpolate_by_cosine(base, o.real("eta_min"), t / length);
}

void check_momentum(std::string_view who, const Settings& o) {
  for (auto* option : {"base_momentum", "max_momentum"})
    require(o.real(option) > 0 && o.real(option) < 1, who, ": ", option, " must lie between 0 and 1, got ",
            o.real(option));
}

void check_cyclic(std::string_view who, const Settings& o) {
  check_momentum(who, o);
  check_positive(who, "step_size_up", o);
  require(o.integer("step_size_down") >= 0, who, ": step_size_down must not be negative, got ",
          o.integer("step_size_down"));
  check_word(who, o, "mode", {"triangular", "triangular2", "exp_range"});
}
// How far up a cycle is at a step, from 0 to 1 in the first.
double cyclic_height(const Settings& o, double t) {
  const auto up = static_cast<double>(o.integer("step_size_up"));
  const auto down = o.integer("step_size_down") ? static_cast<double>(o.integer("step_size_down")) : up;
  const double number = std::floor(t / (up + down)), at = t - number * (up + down);
  double height = at <= up ? at / up : (up + down - at) / down;
  const std::string& mode = o.leaf("mode").text;
  if (mode == "triangular2") height /= std::pow(2, number);
  if (mode == "exp_range") height *= std::pow(o.real("gamma"), t);
  return height;
}
double cyclic(const Settings& o, double t, double) {
  return o.real("base_lr") + (o.real("max_lr") - o.real("base_lr")) * cyclic_height(o, t);
}
double cyclic_momentum(const Settings& o, double t) {
  return o.real("max_momentum") - (o.real("max_momentum") - o.real("base_momentum")) * cyclic_height(o, t);
}

int64_t one_cycle_steps(const Settings& o) {
  return o.integer("total_steps") ? o.integer("total_steps") : o.integer("epochs") * o.integer("steps_per_epoch");
}
void check_one_cycle(std::string_view who, const Settings& o) {
  require(o.integer("total_steps") >= 0 && o.integer("epochs") >= 0 && o.integer("steps_per_epoch") >= 0 &&
              one_cycle_steps(o) > 0,
          who, ": total_steps, or epochs and steps_per_epoch, must be positive, got ", o.integer("total_steps"), ", ",
          o.integer("epochs"), " and ", o.integer("steps_per_epoch"));
  check_momentum(who, o);
  require(o.real("pct_start") >= 0 && o.real("pct_start") <= 1, who, ": pct_start must lie in [0, 1], got ",
          o.real("pct_start"));
  check_word(who, o, "anneal_strategy", {"cos", "linear"});
}
// Goes from the first through the middle to the last value; with three phases through the first again.
double one_cycle_value(const Settings& o, double t, double first, double middle, double last) {
  const auto total = static_cast<double>(one_cycle_steps(o));
  require(t <= total, "OneCycleLR: step ", t, " is past the ", total, " steps of the cycle");
  struct Phase {
    double end, from, to;
  };
  std::vector<Phase> phases = {{o.real("pct_start") * total - 1, first, middle}};
  if (o.flag("three_phase")) {
    phases.push_back({2 * o.real("pct_start") * total - 2, middle, first});
    phases.push_back({total - 1, first, last});
  } else {
    phases.push_back({total - 1, middle, last});
  }
  double begin = 0;
  size_t i = 0;
  while (i + 1 < phases.size() && t > phases[i].end) begin = phases[i++].end;
  const double way = (t - begin) / (phases[i].end - begin);
  return (o.leaf("anneal_strategy").text == "cos" ? interpolate_by_cosine : interpolate_linearly)(phases[i].from,
                                                                                                  phases[i].to, way);
}

double one_cycle(const Settings& o, double t, double) {
  const double most = o.real("max_lr"), first = most / o.real("div_factor");
  return one_cycle_value(o, t, first, most, first / o.real("final_div_factor"));
}
double one_cycle_momentum(const Settings& o, double t) {
  return one_cycle_value(o, t, o.real("max_momentum"), o.real("base_momentum"), o.real("max_momentum"));
}

void check_plateau(std::string_view who, const Settings& o) {
  require(o.real("factor") < 1, who, ": factor must be below 1, got ", o.real("factor"));
  check_word(who, o, "mode", {"min", "max"}), check_word(who, o, "threshold_mode", {"rel", "abs"});
}

void check_warmup(std::string_view who, const Settings& o) {
  require(o.integer("warmup") >= 0 && o.integer("warmup") < o.integer("T_max"), who,
          ": warmup must lie in [0, T_max), got ", o.integer("warmup"), " and T_max ", o.integer("T_max"));
}
double warmup_cosine(const Settings& o, double t, double base) {
  const auto warmup = static_cast<double>(o.integer("warmup")), end = static_cast<double>(o.integer("T_max"));
  if (t < warmup) return base * (t + 1) / (warmup + 1);
  return interpolate_by_cosine(base, o.real("eta_min"), std::min(1.0, (t - warmup) / (end - warmup)));
}

constexpr LrSchedulerRow kRows[] = {
    {"StepLR", "Decays by gamma every step_size steps.", kStep, positive<kStepSize>,
     [](const Settings& o, double t, double base) {
       return base * std::pow(o.real("gamma"), std::floor(t / static_cast<double>(o.integer("step_size"))));
     },
     step_lr_after},
    {"MultiStepLR", "Decays by gamma at each of milestones.", kMilestones, check_milestones, multi_step,
     multi_step_lr_after},
    {"ConstantLR", "factor times the learning rate for total_iters steps, then the whole of it.", kConstant,
     positive<kIterations>,
     [](const Settings& o, double t, double base) {
       return t < static_cast<double>(o.integer("total_iters")) ? base * o.real("factor") : base;
     },
     constant_lr_after},
    {"LinearLR", "From start_factor to end_factor of the learning rate in total_iters steps.", kLinear,
     positive<kIterations>,
     [](const Settings& o, double t, double base) {
       return base *
              interpolate_linearly(o.real("start_factor"), o.real("end_factor"), fraction_done(o, t, kIterations));
     },
     linear_lr_after},
    {"ExponentialLR", "Decays by gamma at every step.", kExponential, accept_any,
     [](const Settings& o, double t, double base) { return base * std::pow(o.real("gamma"), t); },
     exponential_lr_after},
    {"PolynomialLR", "Down to 0 in total_iters steps, as a power of what is left.", kPolynomial, positive<kIterations>,
     [](const Settings& o, double t, double base) {
       return base * std::pow(1 - fraction_done(o, t, kIterations), o.real("power"));
     },
     polynomial_lr_after},
    {"CosineAnnealingLR", "Half a cosine down to eta_min in T_max steps, and up again.", kCosine, positive<kHalf>,
     [](const Settings& o, double t, double base) {
       return interpolate_by_cosine(base, o.real("eta_min"), t / static_cast<double>(o.integer("T_max")));
     },
     cosine_annealing_lr_after},
    {"CosineAnnealingWarmRestarts", "Half a cosine down to eta_min, again and again.", kRestarts, check_restarts,
     restarts},
    {"CyclicLR", "Up from base_lr to max_lr and down again, whatever the optimizer's.", kCyclic, check_cyclic, cyclic,
     nullptr, false, cyclic_momentum},
    {"OneCycleLR", "Up to max_lr and down to almost nothing, whatever the optimizer's, in steps of one cycle.",
     kOneCycle, check_one_cycle, one_cycle, nullptr, false, one_cycle_momentum},
    {"WarmupCosineLR", "Rises linearly during warmup, then half a cosine down to eta_min.", kWarmupCosine, check_warmup,
     warmup_cosine},
    {"ReduceLROnPlateau", "Decays by factor when a metric, given to each step, has not improved for patience steps.",
     kPlateau, check_plateau, nullptr},
    {"SequentialLR", "Schedules one after the other: each begins at its milestone, as if that were its step 0.",
     kSequential, check_milestones, nullptr, nullptr, true},
    {"ChainedScheduler",
     "Schedules at once: at each step one after the other changes the learning rate.",
     {},
     accept_any,
     nullptr,
     nullptr,
     true},
};

}  // namespace

extern const std::span<const LrSchedulerRow> lr_scheduler_rows = kRows;

}  // namespace thunder
