// Optimisers: a row says how one parameter moves; learning rate, step and moments are tensors of a module, so that
// nothing of them is baked into a program.
#pragma once

#include "modules/kind.h"
#include "modules/settings.h"

namespace thunder {

class Optimizer;
class OptimizerStep;

struct OptimizerRow {
  std::string_view name;
  std::string_view doc;
  std::span<const OptionRow> options;
  void (*check)(std::string_view who, const Settings&);       // throws for values that make no sense together
  std::vector<std::string_view> (*moments)(const Settings&);  // names of the state tensors of each parameter
  std::vector<Var> (*prepare)(const OptimizerStep&);          // 0-d values that all parameters share
  void (*update)(OptimizerStep&);                             // one parameter
};
std::span<const OptimizerRow> optimizer_rows();

class Optimizer : public Counted<Optimizer> {
 public:
  // `params` is a map or list of concrete, real tensors, each once; `options` may be null.
  Optimizer(const ModuleEnvironment& environment, std::string_view kind, const Values& params, const Options* options);

  // One step with a gradient for each parameter, under the same name; a leaf without a tensor leaves its parameter
  // alone. Errors stay in the scope, and nothing of a parameter's update happens before all are checked.
  void step(Scope& scope, const Values& grads);

  // "lr" and "step", 0-d f64, and each moment under "MOMENT.PARAMETER".
  const Ref<Module>& state() const { return state_; }
  // Writes a 0-d tensor of the state: no program changes.
  void set_f64(std::string_view name, double value);
  double get_f64(std::string_view name) const;
  const OptimizerRow& row() const { return row_; }

 private:
  void add_moments(const ModuleEnvironment& environment);
  void check_gradients(const Values& grads) const;
  Tensor& scalar(std::string_view name) const;

  const OptimizerRow& row_;
  Settings settings_;
  std::vector<std::string> names_;
  std::vector<Ref<Tensor>> params_;
  std::vector<std::string_view> moments_;
  Ref<Module> state_;
};

// What a row sees of one step. Formulas are computed in f32 for bf16 parameters, whose moments are f32 too: 8 bits
// could not hold a running mean.
class OptimizerStep {
 public:
  OptimizerStep(const Settings& settings, Var lr, Var step) : settings(settings), lr(lr), step(step) {}
  const Settings& settings;
  Var lr, step;             // 0-d f64; the first step is 1
  std::vector<Var> shared;  // what prepare gave
  Var parameter, gradient;
  std::vector<Var> moments;  // in the row's order; an update replaces them
};

// Names of the leaves: keys of a map, or positions in a list.
std::vector<std::string> leaf_names(const Values& values);

}  // namespace thunder
