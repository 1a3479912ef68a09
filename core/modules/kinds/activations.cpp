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
    layer_of_op("ReLU(bool inplace=False) -> tensor", "The input where it is positive, else 0.", "relu"),
    layer_of_op("ReLU6(bool inplace=False) -> tensor", "The input limited to [0, 6].", "relu6"),
    layer_of_op("LeakyReLU(float negative_slope=0.01, bool inplace=False) -> tensor",
                "The input where it is positive, else negative_slope * input.", "leaky_relu"),
    layer_of_op("PReLU(int num_parameters=1, float init=0.25) -> tensor",
                "The input where it is positive, else weight * input: one weight, or one for each channel.", "prelu",
                prelu_init),
    layer_of_op("RReLU(float lower=0.125, float upper=0.3333333333333333, bool inplace=False) -> tensor",
                "LeakyReLU whose slope is drawn from [lower, upper) while training, else their mean.", "rrelu",
                rrelu_init),
    layer_of_op("ELU(float alpha=1.0, bool inplace=False) -> tensor",
                "The input where it is positive, else alpha * (exp(input) - 1).", "elu"),
    layer_of_op("CELU(float alpha=1.0, bool inplace=False) -> tensor",
                "The input where it is positive, else alpha * (exp(input / alpha) - 1).", "celu"),
    layer_of_op("SELU(bool inplace=False) -> tensor",
                "ELU with the scale and alpha that keep the mean at 0 and the variance at 1.", "selu"),
    layer_of_op("GELU(str approximate='none') -> tensor", "input * Phi(input), or its tanh approximation.", "gelu"),
    layer_of_op("SiLU(bool inplace=False) -> tensor", "input * sigmoid(input).", "silu"),
    layer_of_op("Mish(bool inplace=False) -> tensor", "input * tanh(softplus(input)).", "mish"),
    layer_of_op("Sigmoid() -> tensor", "1 / (1 + exp(-input)).", "sigmoid"),
    layer_of_op("Tanh() -> tensor", "The hyperbolic tangent.", "tanh"),
    layer_of_op("Softplus(float beta=1.0, float threshold=20.0) -> tensor",
                "log(1 + exp(beta * input)) / beta; the input itself where beta * input is above threshold.",
                "softplus"),
    layer_of_op("Softsign() -> tensor", "input / (1 + |input|).", "softsign"),
    layer_of_op("Softshrink(float lambd=0.5) -> tensor",
                "The input moved towards 0 by lambd, and 0 where it is less than that away.", "softshrink"),
    layer_of_op("Hardshrink(float lambd=0.5) -> tensor", "The input where it is more than lambd away from 0, else 0.",
                "hardshrink"),
    layer_of_op("Tanhshrink() -> tensor", "input - tanh(input).", "tanhshrink"),
    layer_of_op("Hardtanh(float min_val=-1.0, float max_val=1.0, bool inplace=False) -> tensor",
                "The input limited to [min_val, max_val].", "hardtanh"),
    layer_of_op("Hardsigmoid(bool inplace=False) -> tensor", "input / 6 + 1 / 2, limited to [0, 1].", "hardsigmoid"),
    layer_of_op("Hardswish(bool inplace=False) -> tensor", "input * hardsigmoid(input).", "hardswish"),
    layer_of_op("LogSigmoid() -> tensor", "log(sigmoid(input)).", "logsigmoid"),
    layer_of_op("Threshold(float threshold, float value, bool inplace=False) -> tensor",
                "The input where it is above threshold, else value.", "threshold"),
    layer_of_op("GLU(int dim=-1) -> tensor", "The first half along dim, times the sigmoid of the second.", "glu"),
    layer_of_op("Softmax(int dim) -> tensor", "exp(input), scaled to sum to 1 along dim.", "softmax"),
    layer("Softmax2d() -> tensor", "Softmax over the channels of images.", softmax2d),
    layer_of_op("Softmin(int dim) -> tensor", "exp(-input), scaled to sum to 1 along dim.", "softmin"),
    layer_of_op("LogSoftmax(int dim) -> tensor", "The logarithm of softmax along dim.", "log_softmax"),
    layer_of_op("Dropout(float p=0.5, bool inplace=False) -> tensor",
                "While training, zeroes elements with probability p and scales the others by 1 / (1 - p).", "dropout",
                dropout_init),
    layer_of_op("Dropout1d(float p=0.5) -> tensor", "Dropout of whole channels of [N, C, L].", "dropout1d",
                dropout_init),
    layer_of_op("Dropout2d(float p=0.5) -> tensor", "Dropout of whole channels of [N, C, H, W].", "dropout2d",
                dropout_init),
    layer_of_op("Dropout3d(float p=0.5) -> tensor", "Dropout of whole channels of [N, C, D, H, W].", "dropout3d",
                dropout_init),
    layer_of_op("AlphaDropout(float p=0.5) -> tensor", "Dropout that keeps the mean and variance of SELU's results.",
                "alpha_dropout", dropout_init),
    layer_of_op("FeatureAlphaDropout(float p=0.5) -> tensor", "AlphaDropout of whole channels.",
                "feature_alpha_dropout", dropout_init),
};

}  // namespace

extern const ModuleRows activations_kinds = kRows;

}  // namespace thunder
