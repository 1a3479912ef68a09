// Learning-rate schedules: a formula of the step, written into the optimizer's lr tensor. No program changes.
#pragma once

#include "modules/optimizer.h"

namespace thunder {

struct ScheduleRow {
  std::string_view name;
  std::string_view doc;
  std::span<const OptionRow> options;
  void (*check)(std::string_view who, const Settings&);        // throws for values that make no sense
  double (*lr)(const Settings&, double step, double base_lr);  // the learning rate at a step, the first being 0
};
std::span<const ScheduleRow> schedule_rows();

class Schedule : public Counted<Schedule> {
 public:
  // Each group's learning rate becomes its base.
  Schedule(const ModuleEnvironment& environment, std::string_view kind, Ref<Optimizer> optimizer,
           const Options* options);

  // Writes the learning rates of its step, which is 0 at first. As step(): all of them or, when it throws, none.
  void start();
  // One step on.
  void step();
  // What it wrote last, for each group.
  std::vector<double> last_lr() const;
  // "base_lr" and "step", 0-d f64, and "param_groups.K.base_lr" of groups after the first: what a checkpoint needs.
  const Ref<Module>& state() const { return state_; }

 private:
  double& value(std::string_view name) const;
  std::vector<double> lr_at(double step) const;
  void go_to(double step);

  const ScheduleRow& row_;
  Settings settings_;
  Ref<Optimizer> optimizer_;
  size_t groups_;  // those that the optimizer had: later ones keep their learning rate
  Ref<Module> state_;
};

}  // namespace thunder
