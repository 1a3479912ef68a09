// Where the state of an optimizer or a schedule keeps the numbers of its parameter groups.
#pragma once

#include "modules/kind.h"

namespace thunder {

// The prefix of the user's names for values of groups: "param_groups.1.lr".
constexpr std::string_view kParameterGroups = "param_groups.";
// The path in the state: numbers of the first group are at the top, so that a single group needs no other names.
std::string group_path(size_t group, std::string_view name);

// Adds buffers below the state's root, and takes them all back unless it is told to keep them.
class StateAdditions {
 public:
  StateAdditions(const ModuleEnvironment& environment, Module& root) : environment_(environment), root_(root) {}
  ~StateAdditions();
  StateAdditions(const StateAdditions&) = delete;

  // A new buffer at a path, with plain modules on the way.
  void tensor(std::string_view path, Ref<Tensor> tensor);
  // The same with a new tensor that is filled with a value, and with a 0-d f64 one.
  void filled(std::string_view path, const TensorType& type, double value);
  // The same where most of it may never be used: zeros on the host then take no memory before they are written.
  void on_demand(std::string_view path, const TensorType& type, double value);
  void number(std::string_view path, double value);
  void keep() { added_.clear(); }

 private:
  const ModuleEnvironment& environment_;
  Module& root_;
  std::vector<std::pair<Ref<Module>, std::string>> added_;  // to which module, under which name
};

}  // namespace thunder
