// Optimizers. A row says how one parameter is updated; learning rate, step and moments are tensors of a module, so that
// no value of them is compiled into a program.
#pragma once

#include <optional>

#include "modules/kind.h"
#include "modules/settings.h"

namespace thunder {

class JointStep;
class Optimizer;
class OptimizerStep;
class StateAdditions;

// A tensor of a parameter's state, of its shape or 0-d f64, and what it is filled with at first. Of rows the last dim
// has one element, of columns the one before it.
struct Moment {
  enum class Part { whole, rows, columns };
  std::string_view name;
  double initial = 0;
  bool scalar = false;
  Part part = Part::whole;
};

// A tensor of the state of all parameters together, f64 on the CPU; of their dtype and device where its shape names the
// number of all their elements.
struct JointMoment {
  std::string_view name;
  std::vector<int64_t> shape = {};
  double initial = 0;
};
constexpr int64_t kAllElements = -1;

struct OptimizerRow {
  std::string_view name;
  std::string_view doc;
  std::span<const OptionRow> options;
  void (*check)(std::string_view who, const Settings&);       // throws for values that make no sense together
  std::vector<Moment> (*moments)(const Settings&) = nullptr;   // the state tensors of each parameter
  std::vector<Var> (*prepare)(const OptimizerStep&) = nullptr; // 0-d values that all parameters share; null: none
  void (*update)(OptimizerStep&) = nullptr;                   // one parameter
  // Throws for a parameter that it cannot move; null: it moves all.
  void (*check_parameter)(std::string_view who, std::string_view name, const TensorType&) = nullptr;
  // Used instead of `moments` by a kind whose state tensors depend on the parameter.
  std::vector<Moment> (*moments_of)(const Settings&, const TensorType& parameter) = nullptr;
  // Replaces None in options by the values that it means; null: nothing to replace.
  void (*complete)(Settings&) = nullptr;
  // Used instead of moments, prepare and update by a kind that evaluates the loss itself: what all parameters share,
  // and one step.
  std::vector<JointMoment> (*joint_moments)(const Settings&) = nullptr;
  void (*minimize)(JointStep&) = nullptr;
  // What becomes of an element depends on the others of its parameter: shards cannot be moved.
  bool needs_whole = false;
};
using OptimizerRows = std::span<const OptimizerRow>;
OptimizerRows optimizer_rows();

class Optimizer : public Counted<Optimizer> {
 public:
  // An optimizer without parameters yet. `options` (may be null) are the defaults of its groups.
  Optimizer(const ModuleEnvironment& environment, std::string_view kind, const Options* options);
  // An optimizer with one group of these options.
  Optimizer(const ModuleEnvironment& environment, std::string_view kind, const Values& params, const Options* options);

  // `params` is a map or list of concrete, real tensors, each once in the whole optimizer; `options` may be null. The
  // tensors of a list are called by their number among all parameters.
  void add_group(const ModuleEnvironment& environment, const Values& params, const Options* options);
  size_t group_count() const { return groups_.size(); }

  // Makes one step with a gradient for each parameter, under the same name, or under GROUP.NAME if there are several
  // groups; a leaf without a tensor leaves its parameter alone. Errors stay in the scope, and no parameter is updated
  // before all are checked.
  void step(Scope& scope, const Values& grads);

  // One step that evaluates the loss: once, or as often as a kind needs that decides by it, which is refused in traces
  // and on tapes. `closure` gives two values, the loss, a real tensor of one element, and the gradients as above. It
  // runs in the scope if that records, else in one with a tape of its own. Gives the first loss, which belongs to the
  // scope; null after an error, which stays in it, and which leaves the parameters where the last iteration left them.
  Tensor* step(Scope& scope, Function& closure);

  // "lr" and "step", 0-d f64, and each moment under "MOMENT.PARAMETER"; "param_groups.K.lr" of groups after the first.
  // "skipped.PARAMETER" says how many steps left a parameter alone, once one did, if an update depends on the step: as
  // in PyTorch each parameter has made steps of its own.
  const Ref<Module>& state() const { return state_; }
  // Writes a 0-d tensor of the state: no program changes. "lr", or "param_groups.0.lr" where there are several groups.
  void set_f64(std::string_view name, double value);
  // Sets any number of a group: an option, "weight_decay" or "betas.0", changes its settings, which programs are
  // guarded by, and adds the state that it needs.
  void set(const ModuleEnvironment& environment, std::string_view name, double value);
  // The tensor that it writes.
  Tensor& number(std::string_view name) const;
  // These, and numbers that are fixed when a group is made.
  double get_f64(std::string_view name) const;
  // The learning rate that a group had when its first schedule was made; before that the one it has.
  double initial_lr(size_t group) const;
  // Makes it the initial rate of the first groups, where none was kept. Requires: as many groups or more.
  void keep_initial_lr(std::span<const double> rates) noexcept;
  const OptimizerRow& row() const { return row_; }
  const Settings& settings(size_t group) const { return groups_.at(group).settings; }
  // Makes the momentum of the first groups, or the first of their betas, a number of the state, "momentum", which a
  // schedule writes from now on. Throws if a kind has neither.
  void cycle_momentum(const ModuleEnvironment& environment, size_t groups, double first);
  // The kind and the numbers of each group, as a text for people.
  std::string text() const;

 private:
  struct Group {
    Settings settings;
    std::vector<Moment> moments;
    size_t first, end;  // its parameters
    std::optional<double> initial_lr;
  };
  // The name of a group's value: "lr", "param_groups.1.lr".
  struct Place {
    size_t group;
    std::string_view name;
  };
  Place place(std::string_view name) const;
  std::vector<Moment> moments_of(const Group& group, const TensorType& parameter) const {
    return row_.moments_of ? row_.moments_of(group.settings, parameter) : group.moments;
  }
  void add_moments(const Group& group, std::span<const std::string> names, std::span<const Ref<Tensor>> params,
                   StateAdditions& state);
  static void add_moment(const Moment& moment, std::string_view name, TensorType type, StateAdditions& state);
  void add_joint_moments(const Settings& settings, std::span<const std::string> names,
                         std::span<const Ref<Tensor>> params, StateAdditions& state);
  struct Evaluation {
    Ref<Tensor> loss;
    Values gradients;
  };
  void evaluate(Scope& scope, Function& closure, Evaluation& out) const;
  void evaluate_on_tape(const ScopeEnvironment& environment, Function& closure, Evaluation& out) const;
  Ref<Tensor> minimize(const ScopeEnvironment& environment, Function& closure);
  std::vector<size_t> gradient_leaves(const Values& grads) const;
  void check_gradients(const Values& grads, std::span<const size_t> leaves) const;
  // What the updates of a group's parameters share in one step.
  struct GroupStep {
    const Group& group;
    Tensor *lr = nullptr, *count = nullptr, *momentum = nullptr;  // momentum: null if no schedule cycles it
    std::vector<Tensor*> shared = {};                             // what prepare gave
  };
  void step_group(Scope& scope, size_t group, const Values& grads, std::span<const size_t> leaves);
  void step_parameter(Scope& scope, const GroupStep& now, size_t index, Tensor* gradient, Tensor* skipped);
  // How many steps left the parameter alone; null if none did and `make` does not ask for a count.
  Tensor* skipped_steps(Scope& scope, size_t parameter, bool make);
  static std::string skipped_path(std::string_view name) { return join_path("skipped", name); }
  // Null: it is no such tensor.
  Tensor* scalar(const Place& at) const;
  [[noreturn]] void refuse(const Place& at) const;
  // The option's name, "betas" for "betas.0".
  static std::string_view option_of(std::string_view name) { return name.substr(0, name.find('.')); }
  void set_option(const ModuleEnvironment& environment, const Place& at, double value);
  void guard_settings(Scope& scope);

  const OptimizerRow& row_;
  Settings defaults_;
  std::vector<Group> groups_;
  std::vector<std::string> names_;       // of all parameters, group by group
  std::vector<std::string> group_names_; // the same, each in its group: "1.weight"
  std::vector<Ref<Tensor>> params_;
  Ref<Module> state_;
};

// The inputs of one step, as a row's formulas see them. Formulas are computed in f32 for bf16 and f16 parameters;
// parameters and moments are rounded to the parameter's dtype where they are stored.
class OptimizerStep {
 public:
  OptimizerStep(const Settings& settings, Var lr, Var step) : settings(settings), lr(lr), step(step) {}
  const Settings& settings;
  Var lr, step;             // 0-d f64; a parameter's first step is 1
  Var momentum = {};        // 0-d f64, where a schedule cycles it; empty: what the settings say
  DType dtype = DType::none;  // of the parameter as it is stored
  std::vector<Var> shared;  // what prepare gave
  Var parameter, gradient;
  std::vector<Var> moments;  // in the row's order; an update replaces them
};

// Names of the leaves: keys of a map, or positions in a list.
std::vector<std::string> leaf_names(const Values& values);

}  // namespace thunder
