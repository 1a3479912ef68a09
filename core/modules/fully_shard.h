// Modules whose parameters the ranks of an axis hold together, a part of the rows each.
#pragma once

#include <functional>
#include <memory>

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

// Replaces those parameters of a module for which `how` is not null by this rank's part, on their device.
using ShardingOf = std::function<std::shared_ptr<const Sharding>(const Tensor&)>;
void replace_by_shards(const ScopeEnvironment& environment, Module& module, const ShardingOf& how);

// A shard in the scope's trace: the gathered whole, or the part as a value that differs from rank to rank.
Tensor* value_of_shard(Scope& scope, Tensor* shard, std::string_view path);

}  // namespace thunder
