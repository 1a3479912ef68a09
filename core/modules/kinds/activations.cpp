// Modules without tensors of their own that act on each element or row: activations and Dropout.
#include "base/text.h"
#include "modules/kind.h"

namespace thunder {
namespace {

void gelu(ModuleCall& c) {
  c.give(c.op("gelu", {c.input(), c.module.option("approximate")}));
}
void softmax(ModuleCall& c) {
  c.give(c.op("softmax", {c.input(), c.module.integer("dim")}));
}

void dropout_init(ModuleInit& m) {
  m.require(m.module.real("p") >= 0 && m.module.real("p") <= 1, "p must lie in [0, 1], got ", m.module.real("p"));
}
void dropout(ModuleCall& c) {
  c.give(c.op("dropout", {c.input(), c.module.real("p"), c.training()}));
}

constexpr ModuleRow kRows[] = {
    {.schema = "ReLU() -> tensor",
     .doc = "The input where it is positive, else 0.",
     .forward = [](ModuleCall& c) { c.give(c.op("relu", {c.input()})); }},
    {.schema = "GELU(str approximate='none') -> tensor",
     .doc = "input * Phi(input), or its tanh approximation.",
     .forward = gelu},
    {.schema = "SiLU() -> tensor",
     .doc = "input * sigmoid(input).",
     .forward = [](ModuleCall& c) { c.give(c.op("silu", {c.input()})); }},
    {.schema = "Sigmoid() -> tensor",
     .doc = "1 / (1 + exp(-input)).",
     .forward = [](ModuleCall& c) { c.give(c.op("sigmoid", {c.input()})); }},
    {.schema = "Tanh() -> tensor",
     .doc = "The hyperbolic tangent.",
     .forward = [](ModuleCall& c) { c.give(c.op("tanh", {c.input()})); }},
    {.schema = "Softmax(int dim) -> tensor", .doc = "exp(input), scaled to sum to 1 along dim.", .forward = softmax},
    {.schema = "Dropout(float p=0.5) -> tensor",
     .doc = "While training, zeroes elements with probability p and scales the others by 1 / (1 - p).",
     .init = dropout_init,
     .forward = dropout},
};

}  // namespace

void register_activations(ModuleKinds& kinds) {
  for (auto& row : kRows) kinds.add(row);
}

}  // namespace thunder
