// Functions of functions: batched, differentiated forwards and backwards, with less memory.
#pragma once

#include "ops/batch.h"
#include "tracer/function.h"

namespace thunder {

// The batch dim of a leaf; none: the leaf is the same for all examples.
using BatchDim = std::optional<int64_t>;

// The function over batches. `in`: by leaf of the arguments, empty: dim 0 of every tensor. `out`: by tensor of the
// results, empty: dim 0.
Ref<Function> vmap(Ref<Function> f, std::vector<BatchDim> in, std::vector<BatchDim> out, Randomness randomness);

// The outputs that are differentiated: all results, or the leaves of the first alone; by the arguments at `wrt` (empty:
// every tensor of reals).
struct Derivative {
  std::string wrt;
  bool first_only = false;
};
// Returns a function from [arguments.., [tangents]] to [results.., [tangents of the results]].
Ref<Function> jvp(Ref<Function> f, Derivative what);
// Returns a function from [arguments.., [cotangents]] to [results.., [gradients]].
Ref<Function> vjp(Ref<Function> f, Derivative what);
// A function of the arguments that gives for each result a list of its Jacobians, of shape result + argument; other
// results follow. Columns (forwards) or rows (backwards) are a batch.
Ref<Function> jacobian(Ref<Function> f, Derivative what, bool forwards);
// The Hessian: the forward-mode Jacobian of the reverse-mode Jacobian.
Ref<Function> hessian(Ref<Function> f, Derivative what);

// The same function, of which a backward keeps the arguments only and computes the rest again. On an eager tape, which
// keeps everything, it is f.
Ref<Function> checkpoint(Ref<Function> f);

}  // namespace thunder
