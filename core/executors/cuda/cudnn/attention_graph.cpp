#include "executors/cuda/cudnn/attention_graph.h"

#include <limits>

#include "executors/cuda/cudnn/attention_mask.h"

namespace thunder::cudnn {
namespace {

using Tensor = Graph::Tensor;

struct Builder {
  const AttentionSizes& s;
  Graph& g;
  const DataType half = data_type(s.dtype);
  std::array<Tensor, kAllTensors> t{};
  Sizes4 scores = {s.batch, s.heads, s.queries, s.keys}, rows = {s.batch, s.heads, s.queries, 1};

  // The products of queries and keys, scaled, and with what the mask adds to them.
  Tensor scale_and_bias(const Tensor& product, const Tensor& scale) {
    const Tensor score = g.pointwise(kMul, product, &scale);
    return s.mask == Mask::none ? score : g.pointwise(kAdd, score, &t[kBias]);
  }

  // Causal masking: a query sees the keys whose index, along the last dim of the scores, is not above its own.
  Tensor apply_causal_mask(const Tensor& score) {
    if (!s.causal) return score;
    const Tensor row = g.dim_index(score, 2), column = g.dim_index(score, 3);
    const Tensor seen = g.pointwise(kGreaterEqual, row, &column, kBool);
    return g.select(score, g.scalar(-std::numeric_limits<float>::infinity()), seen);
  }

  void build_forward() {
    const Tensor product = g.intermediate(dense(scores)), scale = g.scalar(s.scale);
    g.matmul(t[kQuery], t[kKey], product);
    const Tensor score = apply_causal_mask(scale_and_bias(product, scale));
    const Tensor largest = g.intermediate(dense(rows)), total = g.intermediate(dense(rows)),
                 probabilities = g.intermediate(dense(scores), half);
    g.reduce(kMax, score, largest);
    const Tensor exp = g.pointwise(kExp, g.pointwise(kSub, score, &largest));
    g.reduce(kSum, exp, total);
    const Tensor log = g.pointwise(kLog, total);
    g.pointwise(kAdd, largest, &log, t[kStatistics]);
    if (s.drops) {
      const Tensor kept_scale = g.scalar(s.kept_scale);
      g.pointwise(kMul, g.pointwise(kMul, g.pointwise(kDiv, exp, &total), &t[kKept]), &kept_scale, probabilities);
    } else {
      g.pointwise(kDiv, exp, &total, probabilities);
    }
    g.matmul(probabilities, t[kValue], t[kOut]);
  }

  // [batch, heads, queries, keys] as [..., keys, queries], in the same memory.
  Tensor transposed_scores(const Tensor& x) { return g.reshape(x, transposed(dense(scores)), half); }
  // Sums over the query heads that share a key head.
  void matmul_and_add_up_heads(const Tensor& a, const Tensor& b, const Tensor& to, int64_t width) {
    if (s.heads == s.key_heads) return g.matmul(a, b, to);
    const Tensor each = g.intermediate(dense({s.batch, s.heads, s.keys, width}), half);
    g.matmul(a, b, each);
    g.reduce(kSum, each, to);
  }

  // What dropout keeps of the probabilities.
  Tensor apply_dropout(const Tensor& probabilities, const Tensor& kept_scale) {
    return s.drops ? g.pointwise(kMul, g.pointwise(kMul, probabilities, &t[kKept]), &kept_scale) : probabilities;
  }

  // With dropout `out` is the forward's divided by kept_scale: engines take delta as the sum, whatever it is multiplied
  // by here (9.14). The gradient of queries is one product, not a sum that blocks of keys are added to in any order:
  // its bits are the same at each run.
  void build_backward() {
    const Tensor terms = g.pointwise(kMul, t[kGrad], &t[kOut]), sum = g.intermediate(dense(rows)), one = g.scalar(1),
                 kept_scale = s.drops ? g.scalar(s.kept_scale) : Tensor{};
    g.reduce(kSum, terms, sum);
    g.pointwise(kMul, sum, &one, t[kDelta]);
    const Tensor product = g.intermediate(dense(scores)), scale = g.scalar(s.scale);
    g.matmul(t[kQuery], t[kKey], product);
    const Tensor shifted = g.pointwise(kSub, scale_and_bias(product, scale), &t[kStatistics]);
    const Tensor probabilities = g.pointwise(kExp, apply_causal_mask(shifted));
    matmul_and_add_up_heads(transposed_scores(apply_dropout(probabilities, kept_scale)), t[kGrad], t[kValueGrad],
                            s.value_width);
    const Tensor d_probabilities = g.intermediate(dense(scores));
    g.matmul(t[kGrad], t[kValue], d_probabilities);
    const Tensor kept_d = s.drops ? g.pointwise(kMul, d_probabilities, &t[kKept]) : d_probabilities;
    const Tensor centered = g.pointwise(kSub, kept_d, &t[kDelta]);
    Tensor weighed = g.pointwise(kMul, centered, &probabilities);
    if (s.drops) weighed = g.pointwise(kMul, weighed, &kept_scale);
    const Tensor d_score = g.pointwise(kMul, weighed, &scale);
    matmul_and_add_up_heads(transposed_scores(d_score), t[kQuery], t[kKeyGrad], s.width);
    const Tensor key = g.reshape(t[kKey], transposed(t[kKey].layout), half);
    g.matmul(d_score, key, t[kQueryGrad]);
  }
};

}  // namespace

AttentionLayouts dense_layouts(const AttentionSizes& s) {
  AttentionLayouts l;
  l.of[kQuery] = l.of[kQueryGrad] = dense({s.batch, s.heads, s.queries, s.width});
  l.of[kKey] = l.of[kKeyGrad] = dense({s.batch, s.key_heads, s.keys, s.width});
  l.of[kValue] = l.of[kValueGrad] = dense({s.batch, s.key_heads, s.keys, s.value_width});
  l.of[kOut] = l.of[kGrad] = dense({s.batch, s.heads, s.queries, s.value_width});
  l.of[kStatistics] = l.of[kDelta] = dense({s.batch, s.heads, s.queries, 1});
  if (s.mask != Mask::none) l.of[kBias] = AttentionMask::dense_layout(s);
  if (s.drops) l.of[kKept] = AttentionMask::dense_layout(with_kept_as_mask(s));
  return l;
}

Graph attention_graph(const Session& session, const AttentionSizes& s, const AttentionLayouts& layouts) {
  Graph graph(session);
  Builder b{s, graph};
  for (size_t i = 0; i < (s.backward ? kBackwardTensors : kForwardTensors); i++) {
    const bool is_f32 = i == kStatistics || i == kDelta;
    // Operands that enter a product transposed: q k^T, and in the backward grad v^T.
    const bool transposes = i == kKey || (i == kValue && s.backward);
    b.t[i] =
        graph.tensor(transposes ? transposed(layouts.of[i]) : layouts.of[i], is_f32 ? kF32 : b.half, Graph::kAlignment);
  }
  if (s.mask != Mask::none) b.t[kBias] = graph.tensor(layouts.of[kBias], b.half, Graph::kAlignment);
  if (s.drops) b.t[kKept] = graph.tensor(layouts.of[kKept], b.half, Graph::kAlignment);
  if (s.backward) b.build_backward();
  else b.build_forward();
  return graph;
}

}  // namespace thunder::cudnn
