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
  // The optimizer's learning rate becomes the base, and then that of step 0.
  Schedule(const ModuleEnvironment& environment, std::string_view kind, Ref<Optimizer> optimizer,
           const Options* options);

  // One step on.
  void step();
  double lr() const { return optimizer_->get_f64("lr"); }
  // "base_lr" and "step", 0-d f64: what a checkpoint needs.
  const Ref<Module>& state() const { return state_; }

 private:
  double& value(std::string_view name) const;
  void write();

  const ScheduleRow& row_;
  Settings settings_;
  Ref<Optimizer> optimizer_;
  Ref<Module> state_;
};

}  // namespace thunder
