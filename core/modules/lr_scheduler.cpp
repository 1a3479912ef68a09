#include "modules/lr_scheduler.h"

#include <algorithm>
#include <limits>

#include "base/text.h"
#include "modules/groups.h"

namespace thunder {
namespace {

const LrSchedulerRow& find_scheduler_row(std::string_view kind) {
  std::vector<std::string_view> names;
  for (auto& row : lr_scheduler_rows) {
    if (row.name == kind) return row;
    names.push_back(row.name);
  }
  fail(Code::not_found, "unknown schedule '", kind.substr(0, 80), "'", suggest(kind, names));
}

std::string lr_name(size_t group) {
  return cat(kParameterGroups, group, ".lr");
}

Ref<Optimizer> shared_optimizer(std::string_view kind, std::span<const Ref<LrScheduler>> parts,
                                const Ref<Optimizer>& (*optimizer)(const LrScheduler&)) {
  require(!parts.empty(), kind, ": the list of schedules is empty");
  for (auto& part : parts) {
    require(static_cast<bool>(part), kind, ": a schedule is NULL");
    require(optimizer(*part) == optimizer(*parts[0]), kind, ": its schedules belong to different optimizers");
  }
  return optimizer(*parts[0]);
}

// Whether the metric is better than the best so far by the threshold.
bool improves(const Settings& o, double metric, double best) {
  const double sign = o.leaf("mode").text == "min" ? 1 : -1, threshold = o.real("threshold");
  if (o.leaf("threshold_mode").text == "abs") return sign * metric < sign * best - threshold;
  return sign * metric < sign * best * (1 - sign * threshold);
}

}  // namespace

LrScheduler::LrScheduler(const ModuleEnvironment& environment, std::string_view kind, Ref<Optimizer> optimizer,
                         std::vector<Ref<LrScheduler>> parts, const Options* options)
    : row_(find_scheduler_row(kind)),
      settings_(row_.options, options, row_.name),
      optimizer_(std::move(optimizer)),
      parts_(std::move(parts)),
      groups_(optimizer_->group_count()),
      state_(make_module(environment, "Module", {})) {
  row_.check(row_.name, settings_);
  check_parts();
  if (cycles_momentum()) optimizer_->cycle_momentum(environment, groups_, row_.momentum(settings_, 0));
  StateAdditions state(environment, *state_);
  for (size_t g = 0; g < groups_; g++) state.number(group_path(g, "base_lr"), optimizer_->initial_lr(g));
  state.number("step", 0);
  if (row_.by_metric()) {
    state.number("best", (settings_.leaf("mode").text == "min" ? 1 : -1) * std::numeric_limits<double>::infinity());
    state.number("num_bad_epochs", 0);
    state.number("cooldown_counter", 0);
  }
  state.keep();
}

LrScheduler::LrScheduler(const ModuleEnvironment& environment, std::string_view kind, Ref<Optimizer> optimizer,
                         const Options* options)
    : LrScheduler(environment, kind, std::move(optimizer), std::vector<Ref<LrScheduler>>(), options) {}

LrScheduler::LrScheduler(const ModuleEnvironment& environment, std::string_view kind,
                         std::vector<Ref<LrScheduler>> parts, const Options* options)
    : LrScheduler(
          environment, kind,
          shared_optimizer(kind, parts, [](const LrScheduler& s) -> const Ref<Optimizer>& { return s.optimizer_; }),
          parts, options) {}

void LrScheduler::check_parts() const {
  require(row_.of_schedules || parts_.empty(), row_.name, ": is not made of schedules");
  require(!row_.of_schedules || !parts_.empty(), row_.name, ": is made of schedules; give them");
  for (auto& part : parts_) {
    require(!part->row_.by_metric(), row_.name, ": ", part->row_.name,
            " needs a metric at each step; step it by itself");
    require(part->groups_ == groups_, row_.name, ": its schedules were made for ", part->groups_, " and ", groups_,
            " parameter groups");
  }
  if (!settings_.has("milestones") || parts_.empty()) return;
  const size_t given = settings_.reals("milestones").size();
  require(given + 1 == parts_.size(), row_.name, ": ", parts_.size(), " schedules need ", parts_.size() - 1,
          " milestones, got ", given);
}

double& LrScheduler::value(std::string_view name) const {
  const Module::NamedSlot* slot = state_->find_tensor(name);
  require(slot && slot->tensor->type().rank() == 0 && slot->tensor->type().dtype == DType::f64, row_.name, ": '", name,
          "' of the state must be a number of f64",
          slot ? cat(", is ", thunder::name(slot->tensor->type())) : ", is not there");
  return *reinterpret_cast<double*>(slot->tensor->data());
}

LrScheduler::Rates LrScheduler::rates_now() const {
  Rates out;
  for (size_t g = 0; g < groups_; g++) out.push_back(optimizer_->get_f64(lr_name(g)));
  return out;
}

double LrScheduler::base_lr(size_t group) const { return value(group_path(group, "base_lr")); }

// As PyTorch counts: a sequence that another one runs is one step ahead of its first part, and a part whose milestone
// is 0 makes its first step at step 1.
LrScheduler::Part LrScheduler::part_at(double step, bool inside) const {
  const auto& begins = settings_.reals("milestones");
  const double at = step + (inside ? 1 : 0);
  const auto part = static_cast<size_t>(std::upper_bound(begins.begin(), begins.end(), at) - begins.begin());
  if (part == 0 || step == 0) return {0, step, false};
  const double begin = begins[part - 1];
  return {part, at - begin - (begin == 0 ? 1 : 0), at == begin};
}

// A sequence begins anew, with the first of its parts; those of a chain have begun.
void LrScheduler::begin(Rates& rates) const {
  if (row_.of_schedules && settings_.has("milestones")) {
    for (size_t g = 0; g < groups_; g++) rates[g] = base_lr(g);
    return parts_[0]->row_.of_schedules ? parts_[0]->advance(0, rates, true) : parts_[0]->begin(rates);
  }
  for (size_t g = 0; g < groups_ && row_.lr; g++)
    rates[g] = row_.after ? rates[g] * row_.lr(settings_, 0, 1) : row_.lr(settings_, 0, base_lr(g));
}

void LrScheduler::begin_anew(Rates& rates) const {
  for (size_t g = 0; g < groups_; g++) rates[g] = row_.lr ? row_.lr(settings_, 0, base_lr(g)) : base_lr(g);
  if (row_.of_schedules) begin(rates);
  for (auto& part : settings_.has("milestones") ? std::vector<Ref<LrScheduler>>() : parts_) part->begin(rates);
}

void LrScheduler::advance(double step, Rates& rates, bool inside) const {
  if (row_.of_schedules && settings_.has("milestones")) {
    const Part at = part_at(step, inside);
    return at.begins ? parts_[at.number]->begin_anew(rates)
                     : parts_[at.number]->advance(at.step, rates, at.number == 0);
  }
  for (auto& part : parts_) part->advance(step, rates, inside);
  for (size_t g = 0; g < groups_ && row_.lr; g++)
    rates[g] = row_.after ? row_.after(settings_, step, base_lr(g), rates[g]) : row_.lr(settings_, step, base_lr(g));
}

bool LrScheduler::cycles_momentum() const { return row_.momentum && settings_.flag("cycle_momentum"); }

// The schedule that cycles the momentum: the current one of a sequence, the last of those that step together.
std::optional<double> LrScheduler::momentum_at(double step) const {
  if (!row_.of_schedules) return cycles_momentum() ? std::optional(row_.momentum(settings_, step)) : std::nullopt;
  if (settings_.has("milestones")) {
    const Part at = part_at(step, false);
    return parts_[at.number]->momentum_at(at.step);
  }
  std::optional<double> out;
  for (auto& part : parts_)
    if (auto one = part->momentum_at(step)) out = one;
  return out;
}

std::vector<double> LrScheduler::last_lr() const { return written_ == value("step") ? last_ : rates_now(); }

// Nothing throws after everything that is to be written was found.
void LrScheduler::write(std::span<const double> rates, std::optional<double> momentum) {
  std::vector<std::pair<Tensor*, double>> written;
  for (size_t g = 0; g < groups_; g++) {
    written.emplace_back(&optimizer_->number(lr_name(g)), rates[g]);
    if (momentum) written.emplace_back(&optimizer_->number(cat(kParameterGroups, g, ".momentum")), *momentum);
  }
  for (auto& [tensor, value] : written) {
    *reinterpret_cast<double*>(tensor->data()) = value;
    tensor->bump();
  }
}

void LrScheduler::go_to(double step, const Rates& rates) {
  double& at = value("step");
  write(rates, momentum_at(step));
  last_ = rates, written_ = at = step;
}

void LrScheduler::start() {
  Rates base, rates = rates_now();
  for (size_t g = 0; g < groups_; g++) base.push_back(base_lr(g));
  begin(rates);
  go_to(value("step"), rates);
  optimizer_->keep_initial_lr(base);
}

void LrScheduler::step() {
  require(!row_.by_metric(), row_.name, ": step needs the metric by which it decides");
  const double next = value("step") + 1;
  Rates rates = rates_now();
  advance(next, rates);
  go_to(next, rates);
}

void LrScheduler::step(double metric) {
  require(row_.by_metric(), row_.name, ": step takes no metric; it is a formula of the number of steps");
  const Settings& o = settings_;
  double &step = value("step"), &best = value("best"), &bad = value("num_bad_epochs"),
         &cooldown = value("cooldown_counter");
  const bool better = improves(o, metric, best);
  double waited = better ? 0 : bad + 1, cooling = cooldown;
  if (cooling > 0) cooling--, waited = 0;
  Rates rates = rates_now();
  if (waited > static_cast<double>(o.integer("patience"))) {
    for (double& rate : rates) {
      const double less = std::max(rate * o.real("factor"), o.real("min_lr"));
      if (rate - less > o.real("eps")) rate = less;
    }
    cooling = static_cast<double>(o.integer("cooldown")), waited = 0;
  }
  write(rates);
  if (better) best = metric;
  last_ = rates, written_ = ++step, bad = waited, cooldown = cooling;
}

}  // namespace thunder
