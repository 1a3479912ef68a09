// Containers: the user's own Module, Sequential, the lists and dicts, Identity.
#include "base/text.h"
#include "modules/kind.h"

namespace thunder {
namespace {

void sequential(ModuleCall& c) {
  const Values* at = &c.in;
  const std::vector<Module::Child> children = c.module.children();  // a forward may add to them
  for (auto& child : children) at = &c.call(*child.module, *at);
  c.out.assign(*at);
}

void identity(ModuleCall& c) {
  c.give(c.input());
}

constexpr ModuleRow kRows[] = {
    layer("Module() -> tensor", "A module of the user's own: children and tensors are added, the forward is set.",
          nullptr),
    layer("Sequential() -> tensor", "Calls its children in the order of addition, each with what the one before gave.",
          sequential),
    layer("ModuleList() -> tensor", "Children by number, for a forward that goes through them.", nullptr),
    layer("ModuleDict() -> tensor", "Children by name, for a forward that picks of them.", nullptr),
    layer("ParameterList() -> tensor", "Parameters by number, for a forward that goes through them.", nullptr),
    layer("ParameterDict() -> tensor", "Parameters by name, for a forward that picks of them.", nullptr),
    layer("Identity() -> tensor", "Gives its input.", identity),
};

}  // namespace

extern const ModuleRows containers_kinds = kRows;

}  // namespace thunder
