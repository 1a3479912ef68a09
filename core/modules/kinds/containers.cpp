// Kinds that hold others, or nothing: the user's own Module, Sequential, the lists and dicts, Identity.
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
    {.schema = "Module() -> tensor",
     .doc = "A module of the user's own: children and tensors are added, the forward is set."},
    {.schema = "Sequential() -> tensor",
     .doc = "Calls its children in the order of addition, each with what the one before gave.",
     .forward = sequential},
    {.schema = "ModuleList() -> tensor", .doc = "Children by number, for a forward that goes through them."},
    {.schema = "ModuleDict() -> tensor", .doc = "Children by name, for a forward that picks of them."},
    {.schema = "ParameterList() -> tensor", .doc = "Parameters by number, for a forward that goes through them."},
    {.schema = "ParameterDict() -> tensor", .doc = "Parameters by name, for a forward that picks of them."},
    {.schema = "Identity() -> tensor", .doc = "Gives its input.", .forward = identity},
};

}  // namespace

void register_containers(ModuleKinds& kinds) {
  for (auto& row : kRows) kinds.add(row);
}

}  // namespace thunder
