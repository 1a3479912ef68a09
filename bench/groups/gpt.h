// A narrow GPT, forward and backward, as a function to compile: it costs what a wide one costs to trace and to compile,
// and no time to run.
#pragma once

#include "support.h"

namespace bench {

inline constexpr int64_t kWidth = 32, kHeads = 4, kTokens = 8, kVocabulary = 64;

struct Gpt {
  int layers;
  std::vector<thunder_tensor*> parameters;
  size_t next = 0;
  thunder_context* context;

  // Made on the first trace, used in the same order by the later ones.
  thunder_tensor* parameter(std::vector<int64_t> shape) {
    if (next == parameters.size()) parameters.push_back(floats(context, shape, 0.01f));
    return parameters[next++];
  }
};

inline thunder_tensor* linear(thunder_scope* s, Gpt& g, thunder_tensor* x, int64_t in, int64_t out) {
  thunder_tensor* weight = g.parameter({out, in});
  return op(s, "linear", {any(x), any(weight), any(g.parameter({out}))});
}

inline thunder_tensor* layer_norm(thunder_scope* s, Gpt& g, thunder_tensor* x) {
  const std::vector<int64_t> shape = {kWidth};
  thunder_tensor* weight = g.parameter({kWidth});
  return op(s, "layer_norm", {any(x), dims(shape), any(weight), any(g.parameter({kWidth}))});
}

inline thunder_tensor* attention(thunder_scope* s, Gpt& g, thunder_tensor* x) {
  const std::vector<int64_t> split = {1, kTokens, kHeads, kWidth / kHeads}, joined = {1, kTokens, kWidth};
  thunder_tensor* qkv = linear(s, g, x, kWidth, 3 * kWidth);
  thunder_tensor* parts[3];
  const thunder_any args[] = {any(qkv), any(kWidth), any(int64_t{2})};
  thunder_op_invoke(s, "split", args, 3, nullptr, parts, 3, nullptr);
  for (thunder_tensor*& p : parts) p = op(s, "transpose", {any(op(s, "reshape", {any(p), dims(split)})), any(int64_t{1}), any(int64_t{2})});
  thunder_any dropout{};
  dropout.kind = THUNDER_FLOAT;
  thunder_tensor* y = op(s, "scaled_dot_product_attention", {any(parts[0]), any(parts[1]), any(parts[2]), none(), dropout, flag(true)});
  y = op(s, "reshape", {any(op(s, "transpose", {any(y), any(int64_t{1}), any(int64_t{2})})), dims(joined)});
  return linear(s, g, y, kWidth, kWidth);
}

// The loss and what it gives for every parameter.
inline void push_with_gradients(thunder_scope* s, Gpt& g, thunder_tensor* loss, thunder_values* out) {
  thunder_values* grads = thunder_scope_grad(s, loss, thunder_scope_list(s, g.parameters.data(), g.parameters.size()));
  thunder_values_push_tensor(out, loss);
  for (size_t i = 0; i < thunder_values_count(grads); i++) thunder_values_push_tensor(out, thunder_values_tensor(grads, i));
}

inline thunder_status* gpt_step(thunder_scope* s, const thunder_values* in, thunder_values* out, void* user) {
  auto& g = *static_cast<Gpt*>(user);
  g.next = 0;
  thunder_tensor* tokens = thunder_values_tensor(in, 0);
  thunder_tensor* x = op(s, "embedding", {any(tokens), any(g.parameter({kVocabulary, kWidth}))});
  x = op(s, "add", {any(x), any(g.parameter({kTokens, kWidth}))});
  for (int i = 0; i < g.layers; i++) {
    x = op(s, "add", {any(x), any(attention(s, g, layer_norm(s, g, x)))});
    thunder_tensor* h = op(s, "gelu", {any(linear(s, g, layer_norm(s, g, x), kWidth, 4 * kWidth))});
    x = op(s, "add", {any(x), any(linear(s, g, h, 4 * kWidth, kWidth))});
  }
  const std::vector<int64_t> flat = {kTokens, kVocabulary}, targets = {kTokens};
  x = op(s, "reshape", {any(linear(s, g, layer_norm(s, g, x), kWidth, kVocabulary)), dims(flat)});
  thunder_tensor* loss = op(s, "cross_entropy", {any(x), any(op(s, "reshape", {any(tokens), dims(targets)}))});
  push_with_gradients(s, g, loss, out);
  return nullptr;
}

inline thunder_tensor* gpt_tokens(thunder_context* c) {
  const int64_t shape[] = {1, kTokens}, ids[kTokens] = {1, 2, 3, 4, 5, 6, 7, 8};
  thunder_tensor* tokens = nullptr;
  check(thunder_tensor_create(c, THUNDER_I64, 2, shape, THUNDER_CPU, ids, sizeof ids, &tokens));
  return tokens;
}

}  // namespace bench
