// Norms: LayerNorm and RMSNorm over the last dims, GroupNorm and LocalResponseNorm over channels, BatchNorm over the
// batch and InstanceNorm over each sample, with running statistics.
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
void rms_norm_init(ModuleInit& m) {
  if (m.module.flag("elementwise_affine")) m.fill("weight", normalized_shape(m.module), 1);
}

void group_norm_init(ModuleInit& m) {
  const int64_t groups = m.module.integer("num_groups"), channels = m.module.integer("num_channels");
  m.require(groups > 0 && channels >= 0 && channels % groups == 0,
            "num_channels must be a multiple of num_groups, got ", channels, " and ", groups);
  if (!m.module.flag("affine")) return;
  m.fill("weight", {channels}, 1);
  m.fill("bias", {channels}, 0);
}

// ---- statistics of channels ----

void channels_init(ModuleInit& m) {
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

void check_rank(const ModuleCall& c, Tensor* x, size_t least, size_t most) {
  if (x->kind() == Tensor::Kind::failed) return;
  const size_t rank = x->type().rank();
  require(rank == least || rank == most, c.module.kind().name(), ": the input must have ", least,
          least == most ? std::string() : cat(" or ", most), " dims, got ", name(x->type()));
}

// Moves a running statistic towards that of this batch by the share `momentum`, or, where there is none, to the mean of
// all batches so far.
void update_running_statistic(const ModuleCall& c, Tensor* running, Tensor* batch) {
  const Leaf& momentum = c.module.option("momentum");
  Tensor* step = c.op("sub", {batch, running});
  c.op("add_", {running, momentum.kind == ArgKind::none ? c.op("div", {step, c.tensor("num_batches_tracked")})
                                                        : c.op("mul", {step, momentum.f})});
}

void norm_of_batch(ModuleCall& c) {
  Tensor *x = c.input(), *weight = c.tensor("weight"), *bias = c.tensor("bias");
  Tensor *mean = c.tensor("running_mean"), *variance = c.tensor("running_var");
  const double eps = c.module.real("eps");
  const bool tracked = mean && variance;
  if (!tracked || !c.training())
    return c.give(c.op("batch_norm", {x, mean, variance, weight, bias, !tracked, 0.0, eps}));
  const bool mean_of_all = c.module.option("momentum").kind == ArgKind::none;
  Tensor* made[3];
  c.op("batch_norm_update", {x, mean, variance, weight, bias, mean_of_all ? 1.0 : c.module.real("momentum"), eps}, made,
       3);
  if (Tensor* batches = c.tensor("num_batches_tracked")) c.op("add_", {batches, 1});
  if (mean_of_all) {
    update_running_statistic(c, mean, made[1]);
    update_running_statistic(c, variance, made[2]);
  } else {
    c.op("copy_", {mean, made[1]});
    c.op("copy_", {variance, made[2]});
  }
  c.give(made[0]);
}

template <size_t least, size_t most>
void batch_norm(ModuleCall& c) {
  check_rank(c, c.input(), least, most);
  norm_of_batch(c);
}

// Windows of an even size are one channel shorter, as in PyTorch, while the squares are divided by that size.
void cross_map_norm(ModuleCall& c) {
  check_rank(c, c.input(), 4, 4);
  const int64_t size = c.module.integer("size"), window = size - 1 + size % 2;
  const double share = static_cast<double>(window) / static_cast<double>(size);
  c.give(c.op("local_response_norm",
              {c.input(), window, c.module.real("alpha") * share, c.module.real("beta"), c.module.real("k")}));
}
void cross_map_init(ModuleInit& m) {
  m.require(m.module.integer("size") > 0, "size must be positive, got ", m.module.integer("size"));
}

// A statistic of one place makes zeros of all.
void require_places(const ModuleCall& c, Tensor* x) {
  if (x->kind() == Tensor::Kind::failed) return;
  Dim places = 1;
  for (size_t i = 2; i < x->type().rank(); i++) places = places * x->type().shape[i];
  require(hint(places) != 1, c.module.kind().name(),
          ": statistics of a channel need more than one place, got input ", name(x->type()));
}

// Statistics of each sample's channel; the running ones move towards their mean over the batch. As in PyTorch no batch
// is counted, and momentum None moves nothing.
template <size_t dims>
void instance_norm(ModuleCall& c) {
  Tensor *x = c.input(), *mean = c.tensor("running_mean"), *variance = c.tensor("running_var");
  check_rank(c, x, dims + 1, dims + 2);
  const bool alone = x->kind() != Tensor::Kind::failed && x->type().rank() == dims + 1;
  if (alone) x = c.op("unsqueeze", {x, 0});
  const bool own = !mean || !variance || c.training();
  if (own) require_places(c, x);
  Tensor* y = c.op("instance_norm", {x, own ? nullptr : mean, own ? nullptr : variance, c.tensor("weight"),
                                     c.tensor("bias"), own, 0.0, c.module.real("eps")});
  if (own && mean && variance && c.module.option("momentum").kind != ArgKind::none) {
    std::vector<int64_t> axes, batch{0};
    for (size_t i = 0; i < dims; i++) axes.push_back(static_cast<int64_t>(i + 2));
    update_running_statistic(c, mean, c.op("mean", {c.op("mean", {x, axes}), batch}));
    update_running_statistic(c, variance, c.op("mean", {c.op("var", {x, axes}), batch}));
  }
  c.give(alone ? c.op("squeeze", {y, 0}) : y);
}

consteval ModuleRow batch(SchemaText schema, void (*forward)(ModuleCall&)) {
  return layer(schema,
               "Each channel standardised: by the batch while training, which also moves the running statistics, else "
               "by these. momentum None makes them the mean of all batches.",
               forward, channels_init);
}
consteval ModuleRow instance(SchemaText schema, void (*forward)(ModuleCall&)) {
  return layer(
      schema,
      "Each channel of each sample standardised by itself, or by running statistics where they are tracked and "
      "it does not train.",
      forward, channels_init);
}

constexpr ModuleRow kRows[] = {
    layer_of_op(
        "LayerNorm(int[] normalized_shape, float eps=1e-05, bool elementwise_affine=True, bool bias=True) -> tensor",
        "The input standardised over its last dims, then scaled by weight and shifted by bias.", "layer_norm",
        layer_norm_init),
    layer_of_op("RMSNorm(int[] normalized_shape, float? eps=None, bool elementwise_affine=True) -> tensor",
                "The input divided by its root mean square over the last dims, then scaled by weight.", "rms_norm",
                rms_norm_init),
    layer_of_op("GroupNorm(int num_groups, int num_channels, float eps=1e-05, bool affine=True) -> tensor",
                "Groups of channels standardised, then each channel scaled by weight and shifted by bias.",
                "group_norm", group_norm_init),
    layer_of_op("LocalResponseNorm(int size, float alpha=0.0001, float beta=0.75, float k=1.0) -> tensor",
                "The input divided by (k + alpha * the mean square of size neighbouring channels) ** beta.",
                "local_response_norm"),
    layer("CrossMapLRN2d(int size, float alpha=0.0001, float beta=0.75, float k=1) -> tensor",
          "The input divided by (k + alpha / size * the sum of the squares of neighbouring channels, size or one less "
          "of them) ** beta. (PyTorch's leaves the first channel's square in the sums of all behind it.)",
          cross_map_norm, cross_map_init),
    batch("BatchNorm1d(int num_features, float eps=1e-05, float? momentum=0.1, bool affine=True, bool "
          "track_running_stats=True) -> tensor",
          batch_norm<2, 3>),
    batch("BatchNorm2d(int num_features, float eps=1e-05, float? momentum=0.1, bool affine=True, bool "
          "track_running_stats=True) -> tensor",
          batch_norm<4, 4>),
    batch("BatchNorm3d(int num_features, float eps=1e-05, float? momentum=0.1, bool affine=True, bool "
          "track_running_stats=True) -> tensor",
          batch_norm<5, 5>),
    layer("SyncBatchNorm(int num_features, float eps=1e-05, float? momentum=0.1, bool affine=True, bool "
          "track_running_stats=True) -> tensor",
          "BatchNorm of any number of dims. Its statistics are of the examples of its own process.",
          norm_of_batch, channels_init),
    instance("InstanceNorm1d(int num_features, float eps=1e-05, float? momentum=0.1, bool affine=False, bool "
             "track_running_stats=False) -> tensor",
             instance_norm<1>),
    instance("InstanceNorm2d(int num_features, float eps=1e-05, float? momentum=0.1, bool affine=False, bool "
             "track_running_stats=False) -> tensor",
             instance_norm<2>),
    instance("InstanceNorm3d(int num_features, float eps=1e-05, float? momentum=0.1, bool affine=False, bool "
             "track_running_stats=False) -> tensor",
             instance_norm<3>),
};

}  // namespace

extern const ModuleRows norms_kinds = kRows;

}  // namespace thunder
