// Attention as ONNX's ops have it, of one form for all of them.
#pragma once

#include "onnx/node.h"

namespace thunder::onnx {

// [batch, length, heads * size] as [batch, heads, length, size], and back.
Tensor* split_heads(Node& n, Tensor* x, int64_t heads);
Tensor* join_heads(Node& n, Tensor* x);

struct Attention {
  Tensor *query = nullptr, *key = nullptr, *value = nullptr;  // [batch, heads, length, size]
  Tensor* mask = nullptr;  // true where it looks, or what is added to the scores; broadcasts to them
  bool causal = false;     // row i looks at columns up to i + past
  int64_t past = 0;
  Tensor* offset = nullptr;       // in place of past, for each example: [batch, 1, 1, 1]
  int64_t left = -1, right = -1;  // how far it looks from there; -1: as far as there is
  double scale = 0, softcap = 0;  // 0: 1 / sqrt(size); none
};
Tensor* emit_attention(Node& n, const Attention& a);
// The same step by step: the scores before and after the mask, and after softmax.
struct Scores {
  Tensor *raw, *capped, *masked, *weights, *result;
};
Scores attended_in_steps(Node& n, const Attention& a);

// x turned by angles whose cosines and sines broadcast to its first `width` / 2 elements.
Tensor* rotated(Node& n, Tensor* x, Tensor* cosine, Tensor* sine, int64_t width, bool interleaved);

}  // namespace thunder::onnx
