#include "onnx/rows.h"

namespace thunder::onnx {
namespace {

// A target that is no class.
constexpr int64_t kNone = -100;

Tensor* nll(Node& n, Tensor* log_prob, Tensor* target, Tensor* weight) {
  return n.op("nll_loss", {log_prob, n.cast(target, DType::i64), weight, n.integer("ignore_index", kNone),
                           n.text("reduction", "mean")});
}

void negative_log_likelihood(Node& n) {
  n.give(nll(n, n[0], n[1], n.tensor_or_null(2)));
}

void cross_entropy(Node& n) {
  Tensor* log_prob = n.op("log_softmax", {n[0], 1});
  n.give(nll(n, log_prob, n[1], n.tensor_or_null(2)));
  n.give(log_prob);
}

constexpr ImportRow kRows[] = {
    {"NegativeLogLikelihoodLoss", 12, kLatestOpset, negative_log_likelihood},
    {"SoftmaxCrossEntropyLoss", 12, kLatestOpset, cross_entropy},
};

}  // namespace

constinit const ImportTable losses_rows = {"", kRows};

}  // namespace thunder::onnx
