// The mean squared error.
#include "base/text.h"
#include "ops/formulas.h"
#include "ops/samples.h"

namespace thunder {
namespace {

Results mse_loss(Call& c) {
  const Reduction reduction = reduction_of(c, 2);
  auto v = promoted(c, {0, 1});
  const DType dtype = v[0].dtype();
  c.require(is_real(dtype), "input or target must be real; ", c.types());
  Var difference = computed(v[0]) - computed(v[1]);
  Var loss = difference * difference;
  const Shape shape = loss.shape();
  if (reduction != Reduction::none) loss = c.builder.call("prims.sum", {loss, Shape{}});
  if (reduction == Reduction::mean) loss = loss / count(loss, shape);
  return convert(loss, dtype);
}

void samples(Samples& s) {
  s.add({TensorSpec{{4, 5}}, TensorSpec{{4, 5}}});
  s.add({TensorSpec{{4, 5}}, TensorSpec{{5}}, "sum"});
  s.add({TensorSpec{{4, 5}, DType::bf16}, TensorSpec{{4, 5}, DType::bf16}, "none"});
  s.refuse({TensorSpec{{4, 5}}, TensorSpec{{4}}}, "broadcast");
  s.refuse({TensorSpec{{4}}, TensorSpec{{4}}, "average"}, "'average'");
  s.refuse({TensorSpec{{4}, DType::i64, 0, 9}, TensorSpec{{4}, DType::i64, 0, 9}}, "must be real");
}

constexpr OpRow kRow = checked({.schema = "mse_loss(tensor input, tensor target, str reduction='mean') -> tensor",
                                .doc = "The squared difference, its mean or its sum.",
                                .decompose = mse_loss,
                                .samples = samples});

}  // namespace

void register_mse_loss(Registry& r) { r.add(kRow); }

}  // namespace thunder
