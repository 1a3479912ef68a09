// Steps of optimisers that evaluate the loss: Optimizer::step() of a function that gives it with the gradients.
#include "base/text.h"
#include "modules/groups.h"
#include "modules/optimizers/joint.h"

namespace thunder {
namespace {

constexpr std::string_view kLoss = "*,";  // of a structure: a leaf, and what follows

// The end of the group that begins at `from`: its last bracket.
size_t end_of_group(std::string_view structure, size_t from) {
  size_t depth = 0;
  bool quoted = false;
  for (size_t i = from; i < structure.size(); i++) {
    const char c = structure[i];
    if (c == '\\' && quoted)
      i++;
    else if (c == '"')
      quoted = !quoted;
    else if (!quoted && (c == '[' || c == '{'))
      depth++;
    else if (!quoted && (c == ']' || c == '}') && --depth == 0)
      return i;
  }
  return structure.npos;
}

// If a function gave its two results as one list, the list's elements.
std::string_view strip_outer_list(std::string_view structure) {
  const size_t open = structure.find_first_of("*[{");
  if (open == structure.npos || structure[open] != '[' || end_of_group(structure, open) + 1 != structure.size())
    return structure;
  return structure.substr(open + 1, structure.size() - open - 2);
}

// The loss must be a real number, or a tensor with one element.
void check_loss(std::string_view who, const Leaf& leaf) {
  const bool number = leaf.kind == ArgKind::real || leaf.kind == ArgKind::integer;
  if (leaf.tensor && leaf.tensor->kind() == Tensor::Kind::failed) throw Error(leaf.tensor->failure());
  require(number || leaf.tensor, who, ": the function's first result must be the loss, a tensor of one element");
  if (!leaf.tensor || leaf.tensor->kind() == Tensor::Kind::number) return;
  const TensorType& type = leaf.tensor->type();
  bool single = true;
  for (Dim d : type.shape) single &= d == Dim(1);
  require(single && is_real(type.dtype), who, ": the loss must be a real tensor of one element, got ", name(type));
}

// The number of a loss. Requires: it was checked.
double loss_value(VectorMath& math, const Ref<Tensor>& loss) {
  if (loss->kind() != Tensor::Kind::number) return math.number(loss);
  const Arg& number = loss->number_value();
  return number.kind == ArgKind::real ? number.f : static_cast<double>(number.i);
}

}  // namespace

void Optimizer::add_joint_moments(const Settings& settings, std::span<const std::string> names,
                                  std::span<const Ref<Tensor>> params, StateAdditions& state) {
  const TensorType vector = joint_type(row_.name, names, params);
  for (const JointMoment& moment : row_.joint_moments(settings)) {
    TensorType type;
    type.dtype = DType::f64;
    for (int64_t size : moment.shape) {
      const bool all = size == kAllElements;
      if (all) type.dtype = vector.dtype, type.device = vector.device;
      type.shape.push_back(all ? vector.shape[0] : Dim(size));
    }
    state.on_demand(moment.name, type, moment.initial);
  }
}

// Fills `out`, unless there was an error, which stays in the scope.
void Optimizer::evaluate(Scope& scope, Function& closure, Evaluation& out) const {
  const Values none;
  const Values& results = *apply(scope, closure, none);
  scope.run_formulas([&] {
    require(!groups_.empty(), row_.name, ": there are no parameters yet; add a group");
    const std::string_view structure = strip_outer_list(results.structure());
    require(structure.starts_with(kLoss), row_.name, ": the function must give the loss and the gradients, got ",
            structure.empty() ? "nothing" : structure.substr(0, 400));
    check_loss(row_.name, results[0]);
    out.loss = Ref<Tensor>(results.tensor(0));
    std::vector<Leaf> leaves;
    for (size_t i = 1; i < results.size(); i++) leaves.push_back(results[i]);
    out.gradients.assign(std::move(leaves), structure.substr(kLoss.size()));
    check_gradients(out.gradients, gradient_leaves(out.gradients));
  });
}

void Optimizer::evaluate_on_tape(const ScopeEnvironment& environment, Function& closure, Evaluation& out) const {
  EagerScope scope(environment, true);
  evaluate(scope, closure, out);
  if (scope.status()) throw Error(scope.status());
}

Ref<Tensor> Optimizer::minimize(const ScopeEnvironment& environment, Function& closure) {
  Ref<Tensor> loss;
  const TensorType vector = joint_type(row_.name, names_, params_);
  const auto evaluated = [&](JointStep& step) {
    Evaluation now;
    evaluate_on_tape(environment, closure, now);
    const std::vector<size_t> leaves = gradient_leaves(now.gradients);
    std::vector<Ref<Tensor>> gradients;
    for (size_t i = 0; i < params_.size(); i++) {
      const Ref<Tensor>& given = now.gradients[leaves[i]].tensor;
      gradients.push_back(given ? given : step.math.scaled(params_[i], 0));
    }
    if (!loss) loss = now.loss;
    return JointStep::Point{loss_value(step.math, now.loss), step.math.joined(gradients, vector.dtype)};
  };
  JointStep step(environment, groups_[0].settings, get_f64("lr"), *state_, params_, vector, evaluated);
  row_.minimize(step);
  step.number("step")++;
  return loss;
}

Tensor* Optimizer::step(Scope& scope, Function& closure) {
  Ref<Tensor> loss;
  if (row_.minimize) {
    scope.run_formulas([&] {
      require(!groups_.empty(), row_.name, ": there are no parameters yet; add a group");
      require(!scope.tracing() && !scope.taped(), row_.name,
              ": a step decides by the loss how often to evaluate it, which cannot be recorded: call step() outside of "
              "compiled functions and tapes, with a compiled function");
      loss = minimize(scope.environment(), closure);
    });
  } else {
    Evaluation made;
    if (scope.tracing() || scope.taped())
      evaluate(scope, closure, made);
    else
      scope.run_formulas([&] { evaluate_on_tape(scope.environment(), closure, made); });
    if (!scope.status()) step(scope, made.gradients);
    loss = made.loss;
  }
  return scope.status() ? nullptr : scope.own(std::move(loss));
}

}  // namespace thunder
