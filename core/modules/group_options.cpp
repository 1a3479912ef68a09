// Options of an optimizer's groups that change after it was made: programs are traced for what they are, and guarded.
#include <algorithm>
#include <utility>

#include "base/text.h"
#include "modules/groups.h"
#include "modules/optimizer.h"
#include "modules/set_option.h"
#include "modules/text.h"

namespace thunder {
namespace {

class SameSettings : public Fact {
 public:
  SameSettings(Ref<Optimizer> optimizer, std::vector<Settings> was)
      : optimizer_(std::move(optimizer)), was_(std::move(was)) {}
  bool holds() const override { return describe().empty(); }
  std::string describe() const override {
    for (size_t g = 0; g < was_.size(); g++)
      for (const OptionRow& option : optimizer_->row().options) {
        const Leaf &now = optimizer_->settings(g).leaf(option.name), &was = was_[g].leaf(option.name);
        if (!same_option(now, was))
          return cat(optimizer_->row().name, ": ", group_path(g, option.name), " is ", leaf_text(now), ", was ",
                     leaf_text(was));
      }
    return "";
  }

 private:
  Ref<Optimizer> optimizer_;
  std::vector<Settings> was_;
};

}  // namespace

void Optimizer::guard_settings(Scope& scope) {
  if (!scope.tracing() || state_->made_in_trace()) return;
  std::vector<Settings> all;
  for (const Group& group : groups_) all.push_back(group.settings);
  scope.guard(state_->generation(), std::make_unique<SameSettings>(Ref<Optimizer>(this), std::move(all)));
}

void Optimizer::set(const ModuleEnvironment& environment, std::string_view name, double value) {
  const auto& counts = state_->optional_numbers();
  if (std::find(counts.begin(), counts.end(), name) != counts.end()) {
    StateAdditions state(environment, *state_);
    state.number(name, value);
    return state.keep();
  }
  const Place at = place(name);
  if (scalar(at)) return set_f64(name, value);
  if (!defaults_.has(option_of(at.name))) refuse(at);
  set_option(environment, at, value);
}

void Optimizer::set_option(const ModuleEnvironment& environment, const Place& at, double value) {
  Group changed = groups_[at.group];
  changed.settings.set_number(row_.name, at.name, value);
  row_.check(row_.name, changed.settings);
  require(!row_.joint_moments || option_of(at.name) != "history_size", row_.name, ": '", at.name,
          "' decides what its state is made of: make another one");
  if (row_.moments) changed.moments = row_.moments(changed.settings);
  StateAdditions state(environment, *state_);
  // Adds tensors that the changed option requires; those that are no longer required stay.
  for (size_t i = changed.first; i < changed.end && !row_.joint_moments; i++)
    for (const Moment& moment : moments_of(changed, params_[i]->type()))
      if (!state_->find_tensor(join_path(moment.name, names_[i])))
        add_moment(moment, names_[i], params_[i]->type(), state);
  state.keep();
  groups_[at.group] = std::move(changed);
  // Programs ask their facts where something of the state was set.
  state_->set_tensor(group_path(at.group, "lr"), Ref<Tensor>(scalar({at.group, "lr"})), Role::buffer);
}

}  // namespace thunder
