// Losses and distances as modules: each is an op of the inputs', options' and buffers' names.
#include "base/text.h"
#include "modules/kind.h"

namespace thunder {
namespace {

void check_reduction(ModuleInit& m) {
  const std::string& is = m.module.option("reduction").text;
  m.require(is == "mean" || is == "sum" || is == "none", "reduction must be 'mean', 'sum' or 'none', got '", is, "'");
}
void check_divergence(ModuleInit& m) {
  if (m.module.option("reduction").text != "batchmean") check_reduction(m);
}

constexpr std::string_view kInputTarget = "forward(tensor input, tensor target) -> tensor";
constexpr std::string_view kPairTarget = "forward(tensor input1, tensor input2, tensor target) -> tensor";

consteval ModuleRow loss(SchemaText schema, std::string_view doc, std::string_view op,
                         std::string_view inputs = kInputTarget) {
  return layer_of_op(schema, doc, op, check_reduction, inputs);
}

constexpr ModuleRow kRows[] = {
    loss("L1Loss(str reduction='mean') -> tensor", "The mean of |input - target|.", "l1_loss"),
    loss("MSELoss(str reduction='mean') -> tensor", "The mean square of input - target: th.mse_loss as a module.",
         "mse_loss"),
    loss("SmoothL1Loss(str reduction='mean', float beta=1.0) -> tensor",
         "|input - target| less beta / 2, a parabola where it is below beta.", "smooth_l1_loss"),
    loss("HuberLoss(str reduction='mean', float delta=1.0) -> tensor",
         "Half the square of input - target, and linear where it is above delta.", "huber_loss"),
    loss("CrossEntropyLoss(tensor? weight=None, int ignore_index=-100, str reduction='mean', float "
         "label_smoothing=0.0) -> tensor",
         "The cross entropy of scores and classes (or their probabilities): th.cross_entropy as a module.",
         "cross_entropy"),
    loss("NLLLoss(tensor? weight=None, int ignore_index=-100, str reduction='mean') -> tensor",
         "The negative log likelihood of classes, of log probabilities: th.nll_loss as a module.", "nll_loss"),
    loss("CTCLoss(int blank=0, str reduction='mean', bool zero_infinity=False) -> tensor",
         "Minus the log likelihood of label sequences under all alignments: th.ctc_loss as a module.", "ctc_loss",
         "forward(tensor log_probs, tensor targets, tensor input_lengths, tensor target_lengths) -> tensor"),
    loss("PoissonNLLLoss(bool log_input=True, bool full=False, float eps=1e-08, str reduction='mean') -> tensor",
         "The negative log likelihood of counts of Poisson distributions.", "poisson_nll_loss"),
    loss("GaussianNLLLoss(bool full=False, float eps=1e-06, str reduction='mean') -> tensor",
         "The negative log likelihood of values of normal distributions of this variance.", "gaussian_nll_loss",
         "forward(tensor input, tensor target, tensor var) -> tensor"),
    layer_of_op(
        "KLDivLoss(str reduction='mean', bool log_target=False) -> tensor",
        "target * (log(target) - input), where input holds logarithms; 'batchmean' divides the sum by the rows.",
        "kl_div", check_divergence, kInputTarget),
    loss("BCELoss(tensor? weight=None, str reduction='mean') -> tensor",
         "The cross entropy of probabilities and targets in [0, 1].", "binary_cross_entropy"),
    loss("BCEWithLogitsLoss(tensor? weight=None, str reduction='mean', tensor? pos_weight=None) -> tensor",
         "BCELoss of the sigmoids of the input.", "binary_cross_entropy_with_logits"),
    loss("HingeEmbeddingLoss(float margin=1.0, str reduction='mean') -> tensor",
         "The input where target is 1, max(0, margin - input) where it is -1.", "hinge_embedding_loss"),
    loss("SoftMarginLoss(str reduction='mean') -> tensor", "log(1 + exp(-target * input)).", "soft_margin_loss"),
    loss("MultiLabelSoftMarginLoss(tensor? weight=None, str reduction='mean') -> tensor",
         "The mean over classes of the cross entropy of each class's sigmoid.", "multilabel_soft_margin_loss"),
    loss("MultiLabelMarginLoss(str reduction='mean') -> tensor",
         "How far scores of other classes come within a margin of 1 of those of each class of target, a list up to its "
         "first -1.",
         "multilabel_margin_loss"),
    loss("MultiMarginLoss(int p=1, float margin=1.0, tensor? weight=None, str reduction='mean') -> tensor",
         "How far scores of other classes come within margin of the target's, to the power of p.", "multi_margin_loss"),
    loss("MarginRankingLoss(float margin=0.0, str reduction='mean') -> tensor",
         "max(0, margin - target * (input1 - input2)).", "margin_ranking_loss", kPairTarget),
    loss("CosineEmbeddingLoss(float margin=0.0, str reduction='mean') -> tensor",
         "1 - the cosine of the inputs where target is 1, what it has above margin where it is -1.",
         "cosine_embedding_loss", kPairTarget),
    loss("TripletMarginLoss(float margin=1.0, float p=2.0, float eps=1e-06, bool swap=False, str reduction='mean') -> "
         "tensor",
         "max(0, the distance of anchor and positive, less that of anchor and negative, plus margin).",
         "triplet_margin_loss", "forward(tensor anchor, tensor positive, tensor negative) -> tensor"),
    loss("TripletMarginWithDistanceLoss(float margin=1.0, bool swap=False, str reduction='mean') -> tensor",
         "TripletMarginLoss by a distance of your own, a function that Python and Lua take as distance_function; "
         "without "
         "one, and in other languages, by PairwiseDistance.",
         "triplet_margin_loss", "forward(tensor anchor, tensor positive, tensor negative) -> tensor"),
    layer_of_op("CosineSimilarity(int dim=1, float eps=1e-08) -> tensor",
                "The cosine of the angle between x1 and x2 along dim.", "cosine_similarity", nullptr,
                "forward(tensor x1, tensor x2) -> tensor"),
    layer_of_op("PairwiseDistance(float p=2.0, float eps=1e-06, bool keepdim=False) -> tensor",
                "The p-norm of x1 - x2 + eps along the last dim.", "pairwise_distance", nullptr,
                "forward(tensor x1, tensor x2) -> tensor"),
};

}  // namespace

extern const ModuleRows losses_kinds = kRows;

}  // namespace thunder
