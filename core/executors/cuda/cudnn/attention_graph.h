// The operations of attention in the order that cuDNN's engines recognise: that of cudnn-frontend 1.x's
// scaled_dot_product_flash_attention.h.
#pragma once

#include "executors/cuda/cudnn/attention.h"
#include "executors/cuda/cudnn/plan.h"

namespace thunder::cudnn {

// Tensors by number, as memory is bound to their ids, which count from 1: [batch, heads, length, width], statistics
// [batch, heads, queries, 1]. `statistics`: of each row of scores, log(sum(exp(score))). `delta`: the sum of each row
// of grad * out, as FlashAttention calls it; written and read.
enum ForwardTensor : size_t { kQuery, kKey, kValue, kOut, kStatistics, kForwardTensors };
enum BackwardTensor : size_t { kGrad = kForwardTensors, kDelta, kQueryGrad, kKeyGrad, kValueGrad, kBackwardTensors };
// Optional tensors, whose ids follow those of the others: a mask, which is added to the scaled scores, and in the
// forward the dropout mask, of ones and zeros.
constexpr size_t kBias = kBackwardTensors, kKept = kBias + 1, kAllTensors = kKept + 1;

struct AttentionLayouts {
  std::array<Layout, kAllTensors> of{};  // forward: the first kForwardTensors, the bias and what is kept
};

// The layouts of the node's tensors, as if all were dense.
AttentionLayouts dense_layouts(const AttentionSizes& sizes);
Graph attention_graph(const Session& session, const AttentionSizes& sizes, const AttentionLayouts& layouts);

}  // namespace thunder::cudnn
