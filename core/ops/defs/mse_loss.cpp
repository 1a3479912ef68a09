// The mean squared error.
#include "ops/tables.h"

namespace thunder {
namespace {

Results mse_loss(Call& c) {
  auto v = promoted(c, {0, 1});
  const DType dtype = v[0].dtype();
  c.require(is_real(dtype), "input or target must be real; ", c.types());
  Var difference = computed(v[0]) - computed(v[1]);
  Var loss = difference * difference;
  return convert(reduced_loss(c, loss, loss_weight(c, 3, loss)), dtype);
}

void sample_mse_losses(Samples& s) {
  s.add({TensorSpec{{4, 5}}, TensorSpec{{4, 5}}});
  s.add({TensorSpec{{4, 5}}, TensorSpec{{5}}, "sum"});
  s.add({TensorSpec{{4, 5}, DType::bf16}, TensorSpec{{4, 5}, DType::bf16}, "none"});
  s.refuse({TensorSpec{{4, 5}}, TensorSpec{{4, 5}}, "mean", TensorSpec{{5}}}, "weight must have the shape");
  s.refuse({TensorSpec{{4, 5}}, TensorSpec{{4}}}, "broadcast");
  s.refuse({TensorSpec{{4}}, TensorSpec{{4}}, "average"}, "'average'");
  s.refuse({TensorSpec{{4}, DType::i64, 0, 9}, TensorSpec{{4}, DType::i64, 0, 9}}, "must be real");
}

constexpr OpRow kMseLoss = composite(
    "mse_loss(tensor input, tensor target, str reduction='mean', tensor? weight=None) -> tensor", CastPolicy::fp32,
    "The squared difference, times weight; its mean, weighted too, or its sum.", mse_loss, sample_mse_losses);

}  // namespace

extern const OpRows mse_loss_ops = {&kMseLoss, 1};

}  // namespace thunder
