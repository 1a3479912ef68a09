// Activations and dropout: each is an op of the options' names.
#include <cmath>

#include "base/text.h"
#include "modules/kind.h"

namespace thunder {
namespace {

void dropout_init(ModuleInit& m) {
  m.require(m.module.real("p") >= 0 && m.module.real("p") <= 1, "p must lie in [0, 1], got ", m.module.real("p"));
}

void rrelu_init(ModuleInit& m) {
  m.require(m.module.real("lower") <= m.module.real("upper"), "lower must not exceed upper, got ",
            m.module.real("lower"), " and ", m.module.real("upper"));
}

void prelu_init(ModuleInit& m) {
  const int64_t n = m.module.integer("num_parameters");
  m.require(n > 0, "num_parameters must be positive, got ", n);
  m.fill("weight", {n}, m.module.real("init"));
}

void softmax2d(ModuleCall& c) {
  Tensor* x = c.input();
  if (x->kind() != Tensor::Kind::failed)
    require(x->type().rank() == 3 || x->type().rank() == 4, "Softmax2d: the input must have 3 or 4 dims, got ",
            name(x->type()));
  c.give(c.op("softmax", {x, -3}));
}

constexpr ModuleRow kRows[] = {
    {.schema = "ReLU(bool inplace=False) -> tensor", .doc = "The input where it is positive, else 0.", .op = "relu"},
    {.schema = "ReLU6(bool inplace=False) -> tensor", .doc = "The input limited to [0, 6].", .op = "relu6"},
    {.schema = "LeakyReLU(float negative_slope=0.01, bool inplace=False) -> tensor",
     .doc = "The input where it is positive, else negative_slope * input.",
     .op = "leaky_relu"},
    {.schema = "PReLU(int num_parameters=1, float init=0.25) -> tensor",
     .doc = "The input where it is positive, else weight * input: one weight, or one for each channel.",
     .init = prelu_init,
     .op = "prelu"},
    {.schema = "RReLU(float lower=0.125, float upper=0.3333333333333333, bool inplace=False) -> tensor",
     .doc = "LeakyReLU whose slope is drawn from [lower, upper) while training, else their mean.",
     .init = rrelu_init,
     .op = "rrelu"},
    {.schema = "ELU(float alpha=1.0, bool inplace=False) -> tensor",
     .doc = "The input where it is positive, else alpha * (exp(input) - 1).",
     .op = "elu"},
    {.schema = "CELU(float alpha=1.0, bool inplace=False) -> tensor",
     .doc = "The input where it is positive, else alpha * (exp(input / alpha) - 1).",
     .op = "celu"},
    {.schema = "SELU(bool inplace=False) -> tensor",
     .doc = "ELU with the scale and alpha that keep the mean at 0 and the variance at 1.",
     .op = "selu"},
    {.schema = "GELU(str approximate='none') -> tensor",
     .doc = "input * Phi(input), or its tanh approximation.",
     .op = "gelu"},
    {.schema = "SiLU(bool inplace=False) -> tensor", .doc = "input * sigmoid(input).", .op = "silu"},
    {.schema = "Mish(bool inplace=False) -> tensor", .doc = "input * tanh(softplus(input)).", .op = "mish"},
    {.schema = "Sigmoid() -> tensor", .doc = "1 / (1 + exp(-input)).", .op = "sigmoid"},
    {.schema = "Tanh() -> tensor", .doc = "The hyperbolic tangent.", .op = "tanh"},
    {.schema = "Softplus(float beta=1.0, float threshold=20.0) -> tensor",
     .doc = "log(1 + exp(beta * input)) / beta; the input itself where beta * input is above threshold.",
     .op = "softplus"},
    {.schema = "Softsign() -> tensor", .doc = "input / (1 + |input|).", .op = "softsign"},
    {.schema = "Softshrink(float lambd=0.5) -> tensor",
     .doc = "The input moved towards 0 by lambd, and 0 where it is less than that away.",
     .op = "softshrink"},
    {.schema = "Hardshrink(float lambd=0.5) -> tensor",
     .doc = "The input where it is more than lambd away from 0, else 0.",
     .op = "hardshrink"},
    {.schema = "Tanhshrink() -> tensor", .doc = "input - tanh(input).", .op = "tanhshrink"},
    {.schema = "Hardtanh(float min_val=-1.0, float max_val=1.0, bool inplace=False) -> tensor",
     .doc = "The input limited to [min_val, max_val].",
     .op = "hardtanh"},
    {.schema = "Hardsigmoid(bool inplace=False) -> tensor",
     .doc = "input / 6 + 1 / 2, limited to [0, 1].",
     .op = "hardsigmoid"},
    {.schema = "Hardswish(bool inplace=False) -> tensor", .doc = "input * hardsigmoid(input).", .op = "hardswish"},
    {.schema = "LogSigmoid() -> tensor", .doc = "log(sigmoid(input)).", .op = "logsigmoid"},
    {.schema = "Threshold(float threshold, float value, bool inplace=False) -> tensor",
     .doc = "The input where it is above threshold, else value.",
     .op = "threshold"},
    {.schema = "GLU(int dim=-1) -> tensor",
     .doc = "The first half along dim, times the sigmoid of the second.",
     .op = "glu"},
    {.schema = "Softmax(int dim) -> tensor", .doc = "exp(input), scaled to sum to 1 along dim.", .op = "softmax"},
    {.schema = "Softmax2d() -> tensor", .doc = "Softmax over the channels of images.", .forward = softmax2d},
    {.schema = "Softmin(int dim) -> tensor", .doc = "exp(-input), scaled to sum to 1 along dim.", .op = "softmin"},
    {.schema = "LogSoftmax(int dim) -> tensor", .doc = "The logarithm of softmax along dim.", .op = "log_softmax"},
    {.schema = "Dropout(float p=0.5, bool inplace=False) -> tensor",
     .doc = "While training, zeroes elements with probability p and scales the others by 1 / (1 - p).",
     .init = dropout_init,
     .op = "dropout"},
    {.schema = "Dropout1d(float p=0.5) -> tensor",
     .doc = "Dropout of whole channels of [N, C, L].",
     .init = dropout_init,
     .op = "dropout1d"},
    {.schema = "Dropout2d(float p=0.5) -> tensor",
     .doc = "Dropout of whole channels of [N, C, H, W].",
     .init = dropout_init,
     .op = "dropout2d"},
    {.schema = "Dropout3d(float p=0.5) -> tensor",
     .doc = "Dropout of whole channels of [N, C, D, H, W].",
     .init = dropout_init,
     .op = "dropout3d"},
    {.schema = "AlphaDropout(float p=0.5) -> tensor",
     .doc = "Dropout that keeps the mean and variance of SELU's results.",
     .init = dropout_init,
     .op = "alpha_dropout"},
    {.schema = "FeatureAlphaDropout(float p=0.5) -> tensor",
     .doc = "AlphaDropout of whole channels.",
     .init = dropout_init,
     .op = "feature_alpha_dropout"},
};

}  // namespace

void register_activations(ModuleKinds& kinds) {
  for (auto& row : kRows) kinds.add(row);
}

}  // namespace thunder
