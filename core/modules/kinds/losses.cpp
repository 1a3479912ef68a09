// Losses as modules: what an op of the same arguments gives.
#include "modules/inputs.h"

namespace thunder {
namespace {

void cross_entropy(ModuleCall& c) {
  const ModuleInputs in(c);
  const Module& m = c.module;
  c.give(c.op("cross_entropy", {in.tensor("input"), in.tensor("target"), c.tensor("weight"), m.integer("ignore_index"),
                                m.option("reduction"), m.real("label_smoothing")}));
}
void nll_loss(ModuleCall& c) {
  const ModuleInputs in(c);
  const Module& m = c.module;
  c.give(c.op("nll_loss", {in.tensor("input"), in.tensor("target"), c.tensor("weight"), m.integer("ignore_index"),
                           m.option("reduction")}));
}
void mse_loss(ModuleCall& c) {
  const ModuleInputs in(c);
  c.give(c.op("mse_loss", {in.tensor("input"), in.tensor("target"), c.module.option("reduction")}));
}

void check_reduction(ModuleInit& m) {
  const std::string& is = m.module.option("reduction").text;
  m.require(is == "mean" || is == "sum" || is == "none", "reduction must be 'mean', 'sum' or 'none', got '", is, "'");
}

constexpr ModuleRow kRows[] = {
    {.schema = "CrossEntropyLoss(tensor? weight=None, int ignore_index=-100, str reduction='mean', float "
               "label_smoothing=0.0) -> tensor",
     .doc = "The cross entropy of scores and classes (or their probabilities): th.cross_entropy as a module.",
     .inputs = "CrossEntropyLoss(tensor input, tensor target) -> tensor",
     .init = check_reduction,
     .forward = cross_entropy},
    {.schema = "NLLLoss(tensor? weight=None, int ignore_index=-100, str reduction='mean') -> tensor",
     .doc = "The negative log likelihood of classes, of log probabilities: th.nll_loss as a module.",
     .inputs = "NLLLoss(tensor input, tensor target) -> tensor",
     .init = check_reduction,
     .forward = nll_loss},
    {.schema = "MSELoss(str reduction='mean') -> tensor",
     .doc = "The mean square of input - target: th.mse_loss as a module.",
     .inputs = "MSELoss(tensor input, tensor target) -> tensor",
     .init = check_reduction,
     .forward = mse_loss},
};

}  // namespace

void register_losses(ModuleKinds& kinds) {
  for (auto& row : kRows) kinds.add(row);
}

}  // namespace thunder
