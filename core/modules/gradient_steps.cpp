// Steps of optimisers that are given the gradients.
#include <algorithm>
#include <unordered_map>

#include "base/text.h"
#include "modules/access.h"
#include "modules/groups.h"
#include "modules/optimizer.h"

namespace thunder {

// The leaf of each parameter's gradient.
std::vector<size_t> Optimizer::gradient_leaves(const Values& grads) const {
  if (grads.status()) throw Error(grads.status());
  require(!groups_.empty(), row_.name, ": there are no parameters yet; add a group");
  const std::vector<std::string> given = leaf_names(grads);
  std::unordered_map<std::string_view, size_t> leaf_of;
  for (size_t i = 0; i < given.size(); i++) leaf_of.emplace(given[i], i);
  for (const auto* names : {&names_, &group_names_}) {
    std::vector<size_t> leaves;
    for (const std::string& name : *names)
      if (auto it = leaf_of.find(name); it != leaf_of.end()) leaves.push_back(it->second);
    if (leaves.size() == names->size() && given.size() == names->size()) return leaves;
    if (groups_.size() == 1) break;
  }
  const std::string_view shown = grads.structure();
  fail(Code::invalid_argument, row_.name, ": the gradients are ", shown.empty() ? "none" : shown.substr(0, 400),
       !shown.empty() && shown.find('{') == shown.npos ? ", without names" : "", ", but the parameters have the names ",
       join(std::span(names_).first(std::min<size_t>(names_.size(), 8)), ", ", [](auto& n) { return n; }),
       names_.size() > 8 ? " ..." : "");
}

void Optimizer::check_gradients(const Values& grads, std::span<const size_t> leaves) const {
  for (size_t i = 0; i < params_.size(); i++) {
    const Tensor* g = grads[leaves[i]].tensor.get();
    if (!g) continue;
    if (g->kind() == Tensor::Kind::failed) throw Error(g->failure());
    require(g->kind() != Tensor::Kind::number && g->type().shape == params_[i]->type().shape, row_.name,
            ": the gradient of '", names_[i], "' is ", name(g->type()), ", the parameter ", name(params_[i]->type()));
  }
}

void Optimizer::step(Scope& scope, const Values& grads) {
  std::vector<size_t> leaves;
  scope.run_formulas([&] {
    require(!row_.minimize, row_.name,
            ": a step evaluates the loss as often as it needs: give it a function of the loss and the gradients, not "
            "the gradients");
    leaves = gradient_leaves(grads);
    check_gradients(grads, leaves);
  });
  if (scope.status()) return;
  guard_settings(scope);
  // The number of groups is guarded: adding one makes another program.
  optional_module_tensor(scope, *state_, group_path(groups_.size(), "lr"));
  for (size_t g = 0; g < groups_.size() && !scope.status(); g++) step_group(scope, g, grads, leaves);
}


// A parameter that a step left alone has made fewer steps than its group. They are counted where the first one does so,
// so that the others share what a step's number decides.
Tensor* Optimizer::skipped_steps(Scope& scope, size_t parameter, bool make) {
  const std::string path = skipped_path(names_[parameter]);
  if (make && !scope.status())
    scope.run_formulas([&] {
      if (state_->find_tensor(path)) return;
      const ModuleEnvironment environment{scope.environment()};
      StateAdditions state(environment, *state_);
      state.number(path, 0);
      state.keep();
    });
  return optional_module_tensor(scope, *state_, path);
}

void Optimizer::step_group(Scope& scope, size_t index, const Values& grads, std::span<const size_t> leaves) {
  const Group& group = groups_[index];
  GroupStep now{group};
  now.lr = module_tensor(scope, *state_, group_path(index, "lr"));
  now.count = module_tensor(scope, *state_, group_path(index, "step"));
  // Whether momentum is cycled is guarded.
  now.momentum = optional_module_tensor(scope, *state_, group_path(index, "momentum"));
  scope.run_formulas([&] {
    Builder& b = scope.builder();
    Var next = b.var(scope.enter(now.count)) + 1.0;
    OptimizerStep step(group.settings, b.var(scope.enter(now.lr)), next);
    if (now.momentum) step.momentum = b.var(scope.enter(now.momentum));
    for (Var v : row_.prepare ? row_.prepare(step) : std::vector<Var>()) now.shared.push_back(scope.wrap(v.id));
    scope.write(now.count, next.id);
  });
  for (size_t i = group.first; i < group.end && !scope.status(); i++) {
    Tensor* gradient = grads[leaves[i]].tensor.get();
    Tensor* skipped = now.shared.empty() ? nullptr : skipped_steps(scope, i, !gradient);
    if (gradient)
      step_parameter(scope, now, i, gradient, skipped);
    else if (skipped)
      scope.run_formulas([&] { scope.write(skipped, (scope.builder().var(scope.enter(skipped)) + 1.0).id); });
  }
}

void Optimizer::step_parameter(Scope& scope, const GroupStep& now, size_t index, Tensor* gradient, Tensor* skipped) {
  const Group& group = now.group;
  Tensor* parameter = scope.parameter(params_[index].get(), names_[index]);
  std::vector<Tensor*> moments;
  for (const Moment& moment : moments_of(group, params_[index]->type()))
    moments.push_back(module_tensor(scope, *state_, join_path(moment.name, names_[index])));
  scope.run_formulas([&] {
    Builder& b = scope.builder();
    auto value = [&](Tensor* t) { return b.var(scope.enter(t)); };
    const DType dtype = params_[index]->type().dtype;
    OptimizerStep step(group.settings, value(now.lr), value(now.count));
    step.dtype = dtype;
    if (now.momentum) step.momentum = value(now.momentum);
    if (skipped)
      step.step = step.step - value(skipped), step.shared = row_.prepare(step);
    else
      for (Tensor* t : now.shared) step.shared.push_back(value(t));
    for (Tensor* t : moments) step.moments.push_back(value(t));
    step.parameter = convert(value(parameter), compute_dtype(dtype));
    step.gradient = convert(value(gradient), compute_dtype(dtype));
    if (group.settings.flag("maximize")) step.gradient = -step.gradient;
    row_.update(step);
    for (size_t k = 0; k < moments.size(); k++)
      scope.write(moments[k], convert(step.moments[k], moments[k]->type().dtype).id);
    scope.write(parameter, convert(step.parameter, dtype).id);
  });
}

}  // namespace thunder
