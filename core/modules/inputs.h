// The arguments of a module's forward, checked against its kind's schema as ops check theirs.
#pragma once

#include "modules/kind.h"

namespace thunder {

// Positions first, those of lists one after the other, then perhaps a map of names. Tensors are those of the call,
// which must outlive this.
class ModuleInputs {
 public:
  // Throws "KIND: ..." for what the schema refuses.
  explicit ModuleInputs(const ModuleCall& call);

  // Null where it is None. Requires, as for flag: the schema has the name, and this kind for it.
  Tensor* tensor(std::string_view name) const;
  bool flag(std::string_view name) const;
  // The input as an argument of an op.
  Any any(std::string_view name) const;

 private:
  const Arg& arg(std::string_view name) const;
  const ModuleCall& call_;
  const Schema& schema_;
  // Whether leaf i is an integer for a parameter that takes a list of them.
  bool begins_list(size_t i, const std::string& name, size_t position) const;
  std::vector<Arg> args_;                     // a tensor is the number of its leaf
  std::vector<std::vector<int64_t>> lists_;   // of integers, by their parameter
};

}  // namespace thunder
