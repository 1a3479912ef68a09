// Moves a tensor to another device. Every program that uses several devices prints it as a line of its own.
#include "ops/batch.h"
#include "ops/kernels.h"
#include "ops/samples.h"
#include "ops/grad.h"
#include "tensor/tensor.h"

namespace thunder {
namespace {

void meta(const Call& c, Types& out) {
  TensorType t = c.type(0);
  t.device = c.device(1);
  t.weak = false;
  out.push(t);
}

constexpr OpRow kToDevicePrim = checked({
    .schema = "prims.to_device(tensor input, device device) -> tensor",
    .doc = "A dense copy on another device.",
    .meta = meta,
    .reference = copy_dense,  // within one memory; an executor that reaches both devices takes the others
    .vjp = [](Grad& g) { g.add(0, to_device(g.cotangent(), g.type(0).device)); },
    .batch =
        [](Batch& b) {
          return b.invoke_same_op({b.operand(0), b.args[1]});
        },
    .samples =
        [](Samples& s) {
          s.add({TensorSpec{{2, 3}}, "cpu"});
        },
    .tags = kLinear | kAnyElement,
});

}  // namespace

extern const OpRows to_device_prim_ops = {&kToDevicePrim, 1};

}  // namespace thunder
