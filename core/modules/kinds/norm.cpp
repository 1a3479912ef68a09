// Norms: LayerNorm and RMSNorm over the last dims, BatchNorm2d over the batch with running statistics.
#include "base/text.h"
#include "modules/kind.h"

namespace thunder {
namespace {

const std::vector<int64_t>& normalized_shape(const Module& m) {
  return m.option("normalized_shape").ints;
}

void layer_norm_init(ModuleInit& m) {
  if (!m.module.flag("elementwise_affine")) return;
  m.fill("weight", normalized_shape(m.module), 1);
  if (m.module.flag("bias")) m.fill("bias", normalized_shape(m.module), 0);
}
void layer_norm(ModuleCall& c) {
  c.give(c.op("layer_norm",
              {c.input(), normalized_shape(c.module), c.tensor("weight"), c.tensor("bias"), c.module.real("eps")}));
}

void rms_norm_init(ModuleInit& m) {
  if (m.module.flag("elementwise_affine")) m.fill("weight", normalized_shape(m.module), 1);
}
void rms_norm(ModuleCall& c) {
  c.give(c.op("rms_norm", {c.input(), normalized_shape(c.module), c.tensor("weight"), c.module.option("eps")}));
}

void batch_norm_init(ModuleInit& m) {
  const int64_t n = m.module.integer("num_features");
  m.require(n >= 0, "num_features must not be negative, got ", n);
  if (m.module.flag("affine")) {
    m.fill("weight", {n}, 1);
    m.fill("bias", {n}, 0);
  }
  if (!m.module.flag("track_running_stats")) return;
  m.fill("running_mean", {n}, 0, Role::buffer);
  m.fill("running_var", {n}, 1, Role::buffer);
  m.fill("num_batches_tracked", {}, 0, Role::buffer, DType::i64);
}
void batch_norm(ModuleCall& c) {
  Tensor *x = c.input(), *weight = c.tensor("weight"), *bias = c.tensor("bias");
  Tensor *mean = c.tensor("running_mean"), *variance = c.tensor("running_var");
  const double momentum = c.module.real("momentum"), eps = c.module.real("eps");
  if (x->kind() != Tensor::Kind::failed)
    require(x->type().rank() == 4, "BatchNorm2d: the input must have 4 dims, got ", name(x->type()));
  const bool tracked = mean && variance;
  if (!tracked || !c.training())
    return c.give(c.op("batch_norm", {x, mean, variance, weight, bias, !tracked, momentum, eps}));
  Tensor* made[3];
  c.op("batch_norm_update", {x, mean, variance, weight, bias, momentum, eps}, made, 3);
  c.op("copy_", {mean, made[1]});
  c.op("copy_", {variance, made[2]});
  if (Tensor* batches = c.tensor("num_batches_tracked")) c.op("add_", {batches, 1});
  c.give(made[0]);
}

constexpr ModuleRow kRows[] = {
    {.schema =
         "LayerNorm(int[] normalized_shape, float eps=1e-05, bool elementwise_affine=True, bool bias=True) -> tensor",
     .doc = "The input standardised over its last dims, then scaled by weight and shifted by bias.",
     .init = layer_norm_init,
     .forward = layer_norm},
    {.schema = "RMSNorm(int[] normalized_shape, float? eps=None, bool elementwise_affine=True) -> tensor",
     .doc = "The input divided by its root mean square over the last dims, then scaled by weight.",
     .init = rms_norm_init,
     .forward = rms_norm},
    {.schema = "BatchNorm2d(int num_features, float eps=1e-05, float momentum=0.1, bool affine=True, bool "
               "track_running_stats=True) -> tensor",
     .doc = "Each channel standardised: by the batch while training, which also moves the running statistics, else by "
            "these.",
     .init = batch_norm_init,
     .forward = batch_norm},
};

}  // namespace

void register_norm(ModuleKinds& kinds) {
  for (auto& row : kRows) kinds.add(row);
}

}  // namespace thunder
