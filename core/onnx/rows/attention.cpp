#include <cmath>
#include <limits>

#include "base/text.h"
#include "onnx/heads.h"
#include "onnx/operands.h"
#include "onnx/rows.h"

namespace thunder::onnx {
namespace {

// A mask with fewer columns than keys masks the remaining keys.
Tensor* pad_mask_columns(Node& n, Tensor* mask, Dim columns) {
  if (!mask) return nullptr;
  const Dim has = dim_of(mask, -1);
  if (has == columns || hint(has) >= hint(columns)) return mask;
  const std::vector<int64_t> pads = {0, hint(columns) - hint(has)};
  if (mask->type().dtype == DType::boolean)
    return n.cast(n.op("pad", {n.cast(mask, DType::u8), pads, "constant", 0.0}), DType::boolean);
  return n.op("pad", {mask, pads, "constant", -std::numeric_limits<double>::infinity()});
}

Tensor* combine_masks(Node& n, Tensor* a, Tensor* b) {
  if (!a || !b) return a ? a : b;
  if (a->type().dtype == DType::boolean) return n.op("logical_and", {a, b});
  return n.op("where", {b, a, n.constant(-std::numeric_limits<double>::infinity(), a->type().dtype)});
}

void attention(Node& n) {
  Attention a;
  a.query = n[0], a.key = n[1], a.value = n[2];
  const bool flat = n.rank(0) == 3;
  if (flat) {
    const int64_t heads = n.count("q_num_heads"), own = n.count("kv_num_heads");
    a.query = split_heads(n, a.query, heads), a.key = split_heads(n, a.key, own),
    a.value = split_heads(n, a.value, own);
  }
  n.require(a.query->type().rank() == 4, "its queries are ", name(a.query->type()));
  if (n.has(4) && n.has(5)) {
    a.past = hint(n.dim(4, 2));
    a.key = n.op("cat", {std::vector<Tensor*>{n[4], a.key}, 2});
    a.value = n.op("cat", {std::vector<Tensor*>{n[5], a.value}, 2});
  }
  a.causal = n.flag("is_causal");
  a.scale = n.real("scale", 0), a.softcap = n.real("softcap", 0);
  const Dim columns = dim_of(a.key, 2);
  a.mask = pad_mask_columns(n, n.tensor_or_null(3), columns);
  a.left = n.integer("left_window_size", -1), a.right = n.integer("right_window_size", -1);
  // How many columns of each example there are; its rows are the last of them.
  if (n.has(6)) {
    Tensor* count = n.op("reshape", {n.cast(n[6], DType::i64), Shape{n.dim(6, 0), 1, 1, 1}});
    a.offset = n.op("sub", {count, dim_of(a.query, 2)});
    a.mask = combine_masks(n, a.mask, n.op("lt", {arange_along(n, columns, 3, 4), count}));
  }
  // softmax is computed in float or wider whatever `softmax_precision` says.
  if (!n.has_output(3)) {
    Tensor* y = emit_attention(n, a);
    n.give(flat ? join_heads(n, y) : y);
    n.give(a.key);
    n.give(a.value);
    return;
  }
  const Scores s = attended_in_steps(n, a);
  n.give(flat ? join_heads(n, s.result) : s.result);
  n.give(a.key);
  n.give(a.value);
  // 0: the products; 1: after the soft cap; 2: with the mask; 3: after softmax.
  const int64_t mode = n.integer("qk_matmul_output_mode", 0);
  n.give(mode == 0 ? s.raw : mode == 1 ? s.capped : mode == 2 ? s.masked : s.weights);
}

// A causal convolution of each channel. The elements of the last window are the state for the next call.
void causal_conv(Node& n) {
  const Shape s = n.shape(0), w = n.shape(1);
  const int64_t kernel = hint(w[2]);
  Tensor* before =
      n.has(3) ? n[3] : n.op("full", {Shape{s[0], s[1], kernel - 1}, 0.0, n.dtype(0), n[0]->type().device});
  Tensor* x = n.op("cat", {std::vector<Tensor*>{before, n[0]}, 2});
  const std::vector<int64_t> one = {1}, none = {0};
  Tensor* y = n.op("conv1d", {x, n[1], n.tensor_or_null(2), one, none, one, s[1]});
  const std::string_view activation = n.text("activation", "none");
  n.require(activation == "none" || activation == "silu" || activation == "swish", "its activation is '",
            activation.substr(0, 40), "'");
  n.give(activation == "none" ? y : n.op("silu", {y}));
  n.give(n.op("slice", {x, 2, s[2], nullptr}));
}

constexpr int64_t kMostSteps = 1024;

// A state of [batch, heads, size, size of values] that each step decays, corrects and adds to.
void linear_attention(Node& n) {
  const std::string_view rule = n.text("update_rule", "gated_delta");
  n.require(rule == "linear" || rule == "gated" || rule == "delta" || rule == "gated_delta", "its update rule is '",
            rule.substr(0, 40), "'");
  const bool gates = rule == "gated" || rule == "gated_delta", corrects = rule == "delta" || rule == "gated_delta";
  const int64_t heads = n.count("q_num_heads"), own = n.count("kv_num_heads");
  n.require(own > 0 && heads % own == 0, "it has ", heads, " heads of queries and ", own, " of keys");
  const DType dtype = n.dtype(0), of_state = n.has(3) ? n.dtype(3) : dtype;
  const auto wide = [&](size_t i, int64_t h) { return n.cast(split_heads(n, n[i], h), DType::f32); };
  Tensor *query = wide(0, heads), *key = wide(1, own), *value = wide(2, own);
  const Dim size = dim_of(key, 3);
  const int64_t steps = hint(n.dim(0, 1));
  if (steps > kMostSteps) n.refuse("it has ", steps, " steps; at most ", kMostSteps, " are unrolled");
  Tensor* state = n.has(3) ? n.cast(n[3], DType::f32)
                           : n.op("full", {Shape{n.dim(0, 0), own, size, dim_of(value, 3)}, 0.0, DType::f32});
  Tensor* decay = gates ? wide(4, own) : nullptr;
  Tensor* beta = corrects ? wide(5, hint(n.dim(5, 2))) : nullptr;
  const double given = n.real("scale", 0), scale = given != 0 ? given : 1 / std::sqrt(static_cast<double>(hint(size)));
  std::vector<Tensor*> outputs;
  for (int64_t t = 0; t < steps; t++) {
    const auto at = [&](Tensor* x) { return n.op("select", {x, 2, t}); };
    Tensor* k = n.op("unsqueeze", {at(key), -1});
    Tensor* v = n.op("unsqueeze", {at(value), -2});
    if (gates) state = n.op("mul", {state, n.op("unsqueeze", {n.op("exp", {at(decay)}), -1})});
    if (corrects) {
      Tensor* recalled = n.op("sum", {n.op("mul", {state, k}), std::vector<int64_t>{-2}, true});
      v = n.op("mul", {n.op("sub", {v, recalled}), n.op("unsqueeze", {at(beta), -1})});
    }
    state = n.op("add", {state, n.op("mul", {k, v})});
    Tensor* seen = heads == own ? state : n.op("repeat_interleave", {state, heads / own, 1});
    Tensor* q = n.op("unsqueeze", {n.op("mul", {at(query), scale}), -1});
    outputs.push_back(n.op("sum", {n.op("mul", {seen, q}), std::vector<int64_t>{-2}}));
  }
  n.give(n.cast(join_heads(n, n.op("stack", {outputs, 2})), dtype));
  n.give(n.cast(state, of_state));
}

void rotary(Node& n) {
  const bool flat = n.rank(0) == 3;
  Tensor* x = n[0];
  Tensor *cosine = n[1], *sine = n[2];
  if (flat) {
    const Shape s = n.shape(0);
    const int64_t heads = n.count("num_heads");
    n.require(heads > 0, "its attribute 'num_heads' is ", heads);
    x = n.op("reshape", {x, Shape{s[0], s[1], heads, s[2] / heads}});
  } else {
    x = n.op("transpose", {x, 1, 2});  // [batch, length, heads, size]
  }
  if (n.has(3)) {
    const std::vector<Tensor*> at = {n.cast(n[3], DType::i64)};
    cosine = n.op("index", {cosine, at}), sine = n.op("index", {sine, at});
  }
  int64_t width = n.count_or("rotary_embedding_dim", 0, 0);
  if (width == 0) width = hint(dim_of(x, 3));
  const auto by_head = [&](Tensor* t) {
    if (hint(dim_of(t, 2)) != width / 2) t = n.op("slice", {t, -1, 0, width / 2});
    return n.op("unsqueeze", {t, 2});
  };
  Tensor* y = rotated(n, x, by_head(cosine), by_head(sine), width, n.flag("interleaved"));
  n.give(flat ? n.op("reshape", {y, n.shape(0)}) : n.op("transpose", {y, 1, 2}));
}

constexpr ImportRow kRows[] = {
    {"Attention", 23, kLatestOpset, attention},
    {"RotaryEmbedding", 23, kLatestOpset, rotary},
    {"CausalConvWithState", 27, kLatestOpset, causal_conv},
    {"LinearAttention", 27, kLatestOpset, linear_attention, nullptr, "unrolled, up to 1024 steps"},
};

}  // namespace

constinit const ImportTable attention_rows = {"", kRows};

}  // namespace thunder::onnx
