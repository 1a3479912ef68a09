// Layers whose parameters the ranks of an axis hold together, each computing with its part.
#pragma once

#include "modules/module.h"
#include "tensor/sharding.h"

namespace thunder {

// `plan`: "blocks.*.fc1=colwise,blocks.*.fc2=rowwise,words=vocab", where '*' is any name in a path. Replaces parameters
// of the Linear and Embedding layers there by this rank's parts. Throws, before it changes anything, for a path that no
// layer has, a kind that has no such style, and sizes that the ranks do not divide. Requires: parameters are the same
// on all ranks.
void parallelize_module(const ScopeEnvironment& environment, Module& module, std::string_view axis,
                        std::string_view plan);

// How the ranks hold a parameter of a module with which each computes its part; null: it is no such one.
const Sharding* tensor_parallel(const Module& module, std::string_view parameter);

}  // namespace thunder
