#include "modules/schedule.h"

#include <array>
#include <cmath>
#include <numbers>

#include "base/text.h"
#include "modules/groups.h"

namespace thunder {
namespace {

double cosine(double from, double to, double share) {
  return to + (from - to) * (1 + std::cos(std::numbers::pi * share)) / 2;
}

void check_count(std::string_view who, std::string_view option, const Settings& o) {
  require(o.integer(option) > 0, who, ": ", option, " must be positive, got ", o.integer(option));
}

constexpr OptionRow kGamma{"gamma", ArgKind::real, "0.1", "The factor of each decay."};
constexpr OptionRow kMinimum{"eta_min", ArgKind::real, "0", "The least learning rate."};
constexpr std::array kStep = {OptionRow{"step_size", ArgKind::integer, "", "Steps from one decay to the next."},
                              kGamma};
constexpr std::array kExponential = {OptionRow{"gamma", ArgKind::real, "", "The factor of each step."}};
constexpr std::array kCosine = {OptionRow{"T_max", ArgKind::integer, "", "Steps down to eta_min."}, kMinimum};
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

constexpr std::array kRows = {
    ScheduleRow{"StepLR", "Decays by gamma every step_size steps.", kStep,
                [](std::string_view who, const Settings& o) { check_count(who, "step_size", o); },
                [](const Settings& o, double t, double base) {
                  return base * std::pow(o.real("gamma"), std::floor(t / static_cast<double>(o.integer("step_size"))));
                }},
    ScheduleRow{"ExponentialLR", "Decays by gamma at every step.", kExponential,
                [](std::string_view, const Settings&) {},
                [](const Settings& o, double t, double base) { return base * std::pow(o.real("gamma"), t); }},
    ScheduleRow{"CosineAnnealingLR", "Half a cosine down to eta_min in T_max steps, and up again.", kCosine,
                [](std::string_view who, const Settings& o) { check_count(who, "T_max", o); },
                [](const Settings& o, double t, double base) {
                  return cosine(base, o.real("eta_min"), t / static_cast<double>(o.integer("T_max")));
                }},
    ScheduleRow{"LinearLR", "From start_factor to end_factor of the learning rate in total_iters steps.", kLinear,
                [](std::string_view who, const Settings& o) { check_count(who, "total_iters", o); },
                [](const Settings& o, double t, double base) {
                  const double share = std::min(1.0, t / static_cast<double>(o.integer("total_iters")));
                  return base * (o.real("start_factor") + (o.real("end_factor") - o.real("start_factor")) * share);
                }},
    ScheduleRow{
        "WarmupCosineLR", "Rises linearly during warmup, then half a cosine down to eta_min.", kWarmupCosine,
        [](std::string_view who, const Settings& o) {
          require(o.integer("warmup") >= 0 && o.integer("warmup") < o.integer("T_max"), who,
                  ": warmup must lie in [0, T_max), got ", o.integer("warmup"), " and T_max ", o.integer("T_max"));
        },
        [](const Settings& o, double t, double base) {
          const auto warmup = static_cast<double>(o.integer("warmup")), end = static_cast<double>(o.integer("T_max"));
          if (t < warmup) return base * (t + 1) / (warmup + 1);
          return cosine(base, o.real("eta_min"), std::min(1.0, (t - warmup) / (end - warmup)));
        }},
};

const ScheduleRow& find_row(std::string_view kind) {
  std::vector<std::string_view> names;
  for (auto& row : kRows) {
    if (row.name == kind) return row;
    names.push_back(row.name);
  }
  fail(Code::not_found, "unknown schedule '", kind.substr(0, 80), "'", suggest(kind, names));
}

std::string lr_name(size_t group) {
  return cat(kParameterGroups, group, ".lr");
}

}  // namespace

std::span<const ScheduleRow> schedule_rows() {
  return kRows;
}

Schedule::Schedule(const ModuleEnvironment& environment, std::string_view kind, Ref<Optimizer> optimizer,
                   const Options* options)
    : row_(find_row(kind)),
      settings_(row_.options, options, row_.name),
      optimizer_(std::move(optimizer)),
      groups_(optimizer_->group_count()),
      state_(make_module(environment, "Module", {})) {
  row_.check(row_.name, settings_);
  StateAdditions state(environment, *state_);
  for (size_t g = 0; g < groups_; g++) state.number(group_path(g, "base_lr"), optimizer_->get_f64(lr_name(g)));
  state.number("step", 0);
  state.keep();
}

double& Schedule::value(std::string_view name) const {
  const Module::NamedSlot* slot = state_->find_tensor(name);
  require(slot && slot->tensor->type().rank() == 0 && slot->tensor->type().dtype == DType::f64, row_.name, ": '", name,
          "' of the state must be a number of f64", slot ? cat(", is ", thunder::name(slot->tensor->type())) : ", is not there");
  return *reinterpret_cast<double*>(slot->tensor->data());
}

std::vector<double> Schedule::lr_at(double step) const {
  std::vector<double> out;
  for (size_t g = 0; g < groups_; g++) out.push_back(row_.lr(settings_, step, value(group_path(g, "base_lr"))));
  return out;
}

std::vector<double> Schedule::last_lr() const {
  return lr_at(value("step"));
}

void Schedule::go_to(double step) {
  const std::vector<double> lr = lr_at(step);
  std::vector<Tensor*> written;
  for (size_t g = 0; g < groups_; g++) written.push_back(&optimizer_->number(lr_name(g)));
  value("step") = step;  // the last that may throw
  for (size_t g = 0; g < groups_; g++) {
    *reinterpret_cast<double*>(written[g]->data()) = lr[g];
    written[g]->bump();
  }
}

void Schedule::start() {
  go_to(value("step"));
}
void Schedule::step() {
  go_to(value("step") + 1);
}

}  // namespace thunder
