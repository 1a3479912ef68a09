// Activation checkpointing: a line whose inside is computed again in the backward, and the barrier that keeps it so.
#include "base/text.h"
#include "ops/batch.h"
#include "ops/grad.h"
#include "ops/kernels.h"
#include "ops/samples.h"

namespace thunder {
namespace {

Results only_traced(Call& c) {
  fail(Code::invalid_argument, c.op.name(), ": only the transform of that name makes this line");
}

constexpr OpRow kRows[] = {
    // The number distinguishes functions with the same arguments.
    checked(
        {.schema = "checkpoint(tensor[] inputs, int number) -> tensor[]",
         .autocast = CastPolicy::none,
         .doc =
             "What a function of the inputs gives; its backward computes it again instead of keeping what is inside.",
         .decompose = only_traced,
         .vjp = [](Grad& g) { g.recompute(); },
         .tags = kHidden}),
    checked({.schema = "prims.optimization_barrier(tensor input, tensor after) -> tensor",
             .doc = "The input itself, once `after` is computed. No pass sees that it is the same.",
             .meta = [](const Call& c, Types& out) { out.push(c.type(0)); },
             .reference = copy_dense,
             .vjp = [](Grad& g) { g.add(0, g.cotangent()); },
             .batch =
                 [](Batch& b) {
                   return b.invoke_same_op({b.operand(0), b.args[1]});
                 },
             .view = {same_view, same_view},
             .write_through = [](Call&, ValueId, ValueId written) { return written; },
             .samples =
                 [](Samples& s) {
                   s.add({TensorSpec{{2, 3}}, TensorSpec{{4}}});
                 }}),
};

}  // namespace

extern const OpRows checkpoint_ops = kRows;

}  // namespace thunder
