// Modules whose parameters the ranks of an axis hold together, a part of the rows each.
#pragma once

#include "modules/module.h"
#include "tensor/sharding.h"

namespace thunder {

// This rank's part of a whole tensor, on its device. Requires: it has the dim.
Ref<Tensor> shard_of(const ScopeEnvironment& environment, const Tensor& whole, const Sharding& how);

// Replaces the parameters of a module, and of all below it, by this rank's shards of them; those without a dim, and
// those that are shards already, stay. A parameter that is read then is gathered. Each block of a list of modules that
// is in no other list is a unit, and the rest of the module one: the parameters of a unit are gathered together.
// Requires: they are the same on all ranks.
void fully_shard(const ScopeEnvironment& environment, Module& module, std::string_view axis,
                 bool reshard_after_forward);

// The whole of a shard, as a formula in the scope's trace.
Tensor* gather_shard(Scope& scope, Tensor* shard, std::string_view path);

}  // namespace thunder
