// Momentum that a schedule writes: a number of the optimizer's state from then on, as its learning rate is.
#include <algorithm>
#include <utility>

#include "base/text.h"
#include "modules/groups.h"
#include "modules/optimizer.h"

namespace thunder {

void Optimizer::cycle_momentum(const ModuleEnvironment& environment, size_t groups, double first) {
  const bool own = defaults_.has("momentum");
  require(own || defaults_.has("betas"), row_.name,
          ": has neither momentum nor betas, which cycle_momentum writes; give the schedule cycle_momentum=False");
  StateAdditions state(environment, *state_);
  std::vector<Group> changed(groups_.begin(), groups_.begin() + static_cast<ptrdiff_t>(groups));
  for (size_t g = 0; g < groups; g++) {
    if (scalar({g, "momentum"})) continue;
    state.number(group_path(g, "momentum"), first);
    if (!own || !row_.moments) continue;
    // Adds the tensors that momentum needs to a group that was made without it.
    Group more = changed[g];
    changed[g].settings.set_real("momentum", first);
    changed[g].moments = row_.moments(changed[g].settings);
    const std::vector<Moment> before = std::exchange(more.moments, changed[g].moments);
    std::erase_if(more.moments, [&](const Moment& m) {
      return std::any_of(before.begin(), before.end(), [&](const Moment& old) { return old.name == m.name; });
    });
    add_moments(more, names_, params_, state);
  }
  state.keep();
  std::move(changed.begin(), changed.end(), groups_.begin());
}

}  // namespace thunder
