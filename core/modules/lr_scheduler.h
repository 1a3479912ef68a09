// Learning-rate schedules: the rate of each step, written into the optimizer's lr tensor. No program changes.
#pragma once

#include <optional>

#include "modules/optimizer.h"

namespace thunder {

struct LrSchedulerRow {
  std::string_view name;
  std::string_view doc;
  std::span<const OptionRow> options;
  void (*check)(std::string_view who, const Settings&);  // throws for values that make no sense
  // The learning rate at a step, the first being 0; null: a metric decides, or the schedules that it is made of.
  double (*lr)(const Settings&, double step, double base_lr);
  // That of a step after the first, by the rate that is there; null: `lr` says it, whatever is there.
  double (*after)(const Settings&, double step, double base_lr, double now) = nullptr;
  bool of_schedules = false;
  // The momentum at a step, for the option cycle_momentum; null: the kind has no such option.
  double (*momentum)(const Settings&, double step) = nullptr;
  bool by_metric() const { return !lr && !of_schedules; }
};
extern const std::span<const LrSchedulerRow> lr_scheduler_rows;

class LrScheduler : public Counted<LrScheduler> {
 public:
  // The base of each group is its learning rate when its first schedule was started, as PyTorch's initial_lr is.
  LrScheduler(const ModuleEnvironment& environment, std::string_view kind, Ref<Optimizer> optimizer,
              const Options* options);
  // Composes other schedules of one optimizer, which must not be stepped themselves.
  LrScheduler(const ModuleEnvironment& environment, std::string_view kind, std::vector<Ref<LrScheduler>> parts,
              const Options* options);

  // Writes the rates of the current step, which is 0 at first: all of them or, when it throws, none.
  void start();
  // Makes one step. Throws for a kind that decides by a metric.
  void step();
  // Makes one step with the metric by which the kind decides. Throws for other kinds.
  void step(double metric);
  // The rate it last wrote, for each group.
  std::vector<double> last_lr() const;
  // "base_lr" and "step", 0-d f64, and "param_groups.K.base_lr" of groups after the first: what a checkpoint needs.
  // Beside them "best", "num_bad_epochs" and "cooldown_counter" of ReduceLROnPlateau.
  const Ref<Module>& state() const { return state_; }

 private:
  LrScheduler(const ModuleEnvironment& environment, std::string_view kind, Ref<Optimizer> optimizer,
              std::vector<Ref<LrScheduler>> parts, const Options* options);
  void check_parts() const;
  double& value(std::string_view name) const;
  using Rates = std::vector<double>;  // by group
  // Which part of a sequence is at work at a step, and at which step that is; whether it begins there.
  struct Part {
    size_t number;
    double step;
    bool begins;
  };
  Part part_at(double step, bool inside) const;
  Rates rates_now() const;
  double base_lr(size_t group) const;
  // Makes of the rates of the step before those of `step`. `inside`: a sequence runs it.
  void advance(double step, Rates& rates, bool inside = false) const;
  // Makes of the rates that are there those of its beginning, or of its step 0, whatever they are.
  void begin(Rates& rates) const;
  void begin_anew(Rates& rates) const;
  bool cycles_momentum() const;
  // None if nothing cycles it at that step.
  std::optional<double> momentum_at(double step) const;
  void go_to(double step, const Rates& rates);
  void write(std::span<const double> rates, std::optional<double> momentum = {});

  const LrSchedulerRow& row_;
  Settings settings_;
  Ref<Optimizer> optimizer_;
  std::vector<Ref<LrScheduler>> parts_;
  size_t groups_;  // those that the optimizer had: later ones keep their learning rate
  Ref<Module> state_;
  Rates last_;  // what it wrote at the step `written_`
  double written_ = -1;
};

}  // namespace thunder
