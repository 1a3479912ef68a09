// Ops that ONNX Runtime's optimiser writes into transformers.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "onnx/heads.h"
#include "onnx/operands.h"
#include "onnx/rows.h"

namespace thunder::onnx {
namespace {

void fast_gelu(Node& n) {
  Tensor* x = n.has(1) ? n.op("add", {n[0], n[1]}) : n[0];
  n.give(n.op("gelu", {x, "tanh"}));
}
void bias_gelu(Node& n) {
  n.give(n.op("gelu", {n.op("add", {n[0], n[1]})}));
}
void quick_gelu(Node& n) {
  n.give(n.op("mul", {n[0], n.op("sigmoid", {n.op("mul", {n[0], n.real("alpha", 1.702f)})})}));
}

void fused_matmul(Node& n) {
  Tensor *a = n[0], *b = n[1];
  if (n.flag("transBatchA") || n.flag("transBatchB")) n.refuse("batches that are transposed are not imported");
  if (n.flag("transA")) a = n.op("transpose", {a, -2, -1});
  if (n.flag("transB")) b = n.op("transpose", {b, -2, -1});
  const double alpha = n.real("alpha", 1);
  Tensor* y = n.op("matmul", {a, b});
  n.give(alpha == 1 ? y : n.op("mul", {y, alpha}));
}

Shape last_dim(Node& n, size_t i) {
  const Shape& s = n.shape(i);
  return {s[s.size() - 1]};
}

// SkipLayerNormalization: normalizes x + skip (+ bias). The outputs are the result, the mean and inverse deviation,
// which are not supported, and the sum.
template <bool root_mean_square>
void skip_norm(Node& n) {
  constexpr size_t kBias = root_mean_square ? 3 : 4;
  Tensor* sum = n.op("add", {n[0], n[1]});
  if (n.has(kBias)) sum = n.op("add", {sum, n[kBias]});
  const double eps = n.real("epsilon", 1e-12f);
  n.give(root_mean_square ? n.op("rms_norm", {sum, last_dim(n, 0), n[2], eps})
                          : n.op("layer_norm", {sum, last_dim(n, 0), n[2], n.tensor_or_null(3), eps}));
  if (n.has_output(1) || n.has_output(2)) n.refuse("its mean and inverse deviation are wanted, which are not imported");
  n.give(Value()), n.give(Value());
  n.give(sum);
}

void embed_norm(Node& n) {
  Tensor* ids = n.cast(n[0], DType::i64);
  const auto rows = [&](size_t i, Tensor* at) { return n.op("index", {n[i], std::vector<Tensor*>{at}}); };
  const Dim length = n.dim(0, 1);
  Tensor* at = n.has(8) ? n.cast(n[8], DType::i64) : arange_along(n, length, 1, 2);
  Tensor* sum = n.op("add", {rows(2, ids), rows(3, at)});
  if (n.has(1) && n.has(4)) sum = n.op("add", {sum, rows(4, n.cast(n[1], DType::i64))});
  n.give(n.op("layer_norm", {sum, Shape{dim_of(sum, 2)}, n[5], n[6], n.real("epsilon", 1e-12f)}));
  Tensor* mask = n.has(7) ? n.op("sum", {n[7], std::vector<int64_t>{1}, false, DType::i32}) : nullptr;
  n.give(mask ? mask : n.op("full", {Shape{n.dim(0, 0)}, 0, DType::i32}));
  n.give(sum);
}

// Which columns of [batch, length] or of how many each example has count, as a mask of scores.
Tensor* padding_mask(Node& n, size_t i, Dim columns) {
  if (!n.has(i)) return nullptr;
  const Shape& s = n.shape(i);
  if (s.size() == 1) {
    Tensor* count = n.op("reshape", {n.cast(n[i], DType::i64), Shape{s[0], 1, 1, 1}});
    return n.op("lt", {arange_along(n, columns, 3, 4), count});
  }
  Tensor* counts = n.op("ne", {n[i], 0});
  if (s.size() == 2) return n.op("reshape", {counts, Shape{s[0], 1, 1, s[1]}});
  if (s.size() == 3) return n.op("unsqueeze", {counts, 1});
  n.refuse("its mask is of rank ", s.size());
}

Tensor* combine_mask_and_bias(Node& n, Tensor* mask, Tensor* bias) {
  if (!mask || !bias) return mask ? mask : bias;
  return n.op("where", {mask, bias, n.constant(-std::numeric_limits<double>::infinity(), bias->type().dtype)});
}

// Inputs that the op has and this library nothing for.
void refuse_inputs(Node& n, size_t from) {
  for (size_t i = from; i < n.inputs(); i++)
    if (n.has(i)) n.refuse("its input ", i + 1, ", '", n.proto.inputs[i].substr(0, 200), "', is not imported");
}

// Queries, keys and values by one product.
void packed_attention(Node& n) {
  const int64_t heads = n.count("num_heads");
  std::vector<int64_t> sizes = n.counts("qkv_hidden_sizes");
  Tensor* all = n.op("matmul", {n[0], n[1]});
  if (n.has(2)) all = n.op("add", {all, n[2]});
  const int64_t width = hint(dim_of(all, 2));
  if (sizes.empty()) sizes.assign(3, width / 3);
  n.require(sizes.size() == 3, "its attribute 'qkv_hidden_sizes' has ", sizes.size(), " numbers");
  if (n.flag("do_rotary")) n.refuse("its attribute 'do_rotary' is 1");
  n.require_attribute("past_present_share_buffer", 0);
  refuse_inputs(n, 6);
  const std::vector<Tensor*> parts = n.ops("split", {all, sizes, -1});
  Attention a;
  a.query = split_heads(n, parts[0], heads), a.key = split_heads(n, parts[1], heads),
  a.value = split_heads(n, parts[2], heads);
  a.causal = n.flag("unidirectional"), a.scale = n.real("scale", 0);
  if (n.has(4)) {  // keys, then values
    a.past = hint(n.dim(4, 3));
    a.key = n.op("cat", {std::vector<Tensor*>{n.op("select", {n[4], 0, 0}), a.key}, 2});
    a.value = n.op("cat", {std::vector<Tensor*>{n.op("select", {n[4], 0, 1}), a.value}, 2});
  }
  a.mask = combine_mask_and_bias(n, padding_mask(n, 3, dim_of(a.key, 2)), n.tensor_or_null(5));
  n.give(join_heads(n, emit_attention(n, a)));
  if (n.has_output(1)) n.give(n.op("stack", {std::vector<Tensor*>{a.key, a.value}, 0}));
}

void multi_head_attention(Node& n) {
  const int64_t heads = n.count("num_heads");
  if (!n.has(1) || n.rank(0) != 3) n.refuse("its queries, keys and values are packed in one tensor");
  refuse_inputs(n, 8);
  Tensor* bias = n.tensor_or_null(3);
  const Dim width = n.dim(0, 2);
  const auto biased = [&](Tensor* x, Dim from) {
    return bias ? n.op("add", {x, n.op("slice", {bias, 0, from, from + dim_of(x, 2)})}) : x;
  };
  Attention a;
  a.query = split_heads(n, biased(n[0], 0), heads);
  const auto keys = [&](size_t i, Dim from) {
    return n.rank(i) == 4 ? n[i] : split_heads(n, biased(n[i], from), heads);
  };
  a.key = keys(1, width), a.value = keys(2, width + width);
  if (n.has(6)) {
    a.past = hint(n.dim(6, 2));
    a.key = n.op("cat", {std::vector<Tensor*>{n[6], a.key}, 2});
    a.value = n.op("cat", {std::vector<Tensor*>{n[7], a.value}, 2});
  }
  a.causal = n.flag("unidirectional"), a.scale = n.real("scale", 0);
  a.mask = combine_mask_and_bias(n, padding_mask(n, 4, dim_of(a.key, 2)), n.tensor_or_null(5));
  n.give(join_heads(n, emit_attention(n, a)));
  n.give(a.key);
  n.give(a.value);
}

// The cos and sin caches have half of the width.
Tensor* rotary_heads(Node& n, Tensor* x, Tensor* at, Tensor* cosine, Tensor* sine, bool interleaved) {
  const std::vector<Tensor*> rows = {at};
  const int64_t width = 2 * hint(dim_of(cosine, 1));
  const auto of = [&](Tensor* cache) { return n.op("unsqueeze", {n.op("index", {cache, rows}), 1}); };
  return rotated(n, x, of(cosine), of(sine), width, interleaved);
}

// Positions from the lengths: each example's new tokens are behind its past.
void group_query_attention(Node& n) {
  const int64_t heads = n.count("num_heads"), own = n.count("kv_num_heads");
  Tensor *query = n[0], *key = n.tensor_or_null(1), *value = n.tensor_or_null(2);
  if (!key) {
    const int64_t size = hint(n.dim(0, 2)) / (heads + 2 * own);
    const std::vector<int64_t> sizes = {heads * size, own * size, own * size};
    const std::vector<Tensor*> parts = n.ops("split", {n[0], sizes, -1});
    query = parts[0], key = parts[1], value = parts[2];
  }
  n.require_attribute("local_window_size", -1);
  n.require_attribute("causal", 1);
  for (const char* name : {"smooth_softmax", "qk_output", "sliding_window_cache"}) n.require_attribute(name, 0);
  refuse_inputs(n, 9);
  Attention a;
  a.query = split_heads(n, query, heads), a.key = split_heads(n, key, own), a.value = split_heads(n, value, own);
  a.past = n.has(3) ? hint(n.dim(3, 2)) : 0;
  const Dim length = dim_of(a.query, 2), batch = dim_of(a.query, 0);
  // seqlens_k is one less than the length of each example; the new tokens are its last.
  Tensor* last = n.op("reshape", {n.cast(n[5], DType::i64), Shape{batch, 1}});
  Tensor* at = n.op("add", {n.op("sub", {last, length - 1}), arange_along(n, length, 1, 2)});
  at = n.op("clamp", {at, 0});
  if (n.flag("do_rotary")) {
    const bool interleaved = n.flag("rotary_interleaved");
    a.query = rotary_heads(n, a.query, at, n[7], n[8], interleaved);
    a.key = rotary_heads(n, a.key, at, n[7], n[8], interleaved);
  }
  if (a.past) {
    a.key = n.op("cat", {std::vector<Tensor*>{n[3], a.key}, 2});
    a.value = n.op("cat", {std::vector<Tensor*>{n[4], a.value}, 2});
  }
  a.causal = true, a.scale = n.real("scale", 0), a.softcap = n.real("softcap", 0);
  n.give(join_heads(n, emit_attention(n, a)));
  n.give(a.key);
  n.give(a.value);
}

void rotary(Node& n) {
  const bool flat = n.rank(0) == 3;
  const int64_t width = 2 * hint(n.dim(2, 1));
  int64_t heads = n.count_or("num_heads", 0, 0);
  n.require_attribute("is_packed_batching", 0);
  if (const int64_t turned = n.count_or("rotary_embedding_dim", 0, 0); turned != 0 && turned != width)
    n.refuse("its attribute 'rotary_embedding_dim' is ", turned, ", its cos cache has ", width / 2, " columns");
  n.require(width > 0, "its cos cache is ", thunder::name(n.type(2)));
  if (heads == 0 && flat) heads = hint(n.dim(0, 2)) / width;
  Tensor* x = flat ? split_heads(n, n[0], heads) : n[0];
  const Dim length = dim_of(x, 2);
  Tensor* at = n.cast(n[1], DType::i64);
  if (at->type().rank() == 1) at = n.op("add", {n.op("reshape", {at, Shape{1, 1}}), arange_along(n, length, 1, 2)});
  Tensor* y = rotary_heads(n, x, at, n[2], n[3], n.flag("interleaved"));
  n.give(flat ? join_heads(n, y) : y);
}

// Weights of a few bits, packed along the inner dim in blocks with a scale each.
void matmul_nbits(Node& n) {
  const int64_t inner = n.count("K"), columns = n.count("N"), bits = n.count_or("bits", 4),
                block = n.count("block_size");
  if ((bits != 4 && bits != 8) || n.has(4)) n.refuse("it has weights of ", bits, " bits", n.has(4) ? " in groups" : "");
  const int64_t blocks = (inner + block - 1) / block;
  const auto unpacked = [&](Tensor* bytes, const std::vector<int64_t>& shape) {
    if (bits == 8) return n.op("reshape", {bytes, shape});
    const std::vector<Tensor*> halves = {n.op("bitwise_and", {bytes, 15}), n.op("bitwise_right_shift", {bytes, 4})};
    return n.op("reshape", {n.op("stack", {halves, -1}), shape});
  };
  const DType dtype = n.dtype(0);
  Tensor* weight = n.cast(unpacked(n[1], {columns, blocks, block}), dtype);
  Tensor* scale = n.op("reshape", {n[2], std::vector<int64_t>{columns, blocks, 1}});
  if (n.has(3) && is_real(n.dtype(3))) {
    weight = n.op("sub", {weight, n.op("reshape", {n[3], std::vector<int64_t>{columns, blocks, 1}})});
  } else if (n.has(3)) {
    const int64_t row = bits == 8 ? blocks : (blocks + 1) / 2 * 2;
    Tensor* zero = unpacked(n[3], {columns, row});
    zero = n.op("slice", {zero, 1, 0, blocks});
    weight = n.op("sub", {weight, n.op("unsqueeze", {n.cast(zero, dtype), -1})});
  } else {
    weight = n.op("sub", {weight, bits == 8 ? 128.0 : 8.0});
  }
  weight =
      n.op("reshape", {n.op("mul", {weight, n.cast(scale, dtype)}), std::vector<int64_t>{columns, blocks * block}});
  if (blocks * block != inner) weight = n.op("slice", {weight, 1, 0, inner});
  n.give(n.op("linear", {n[0], weight, n.tensor_or_null(5)}));
}

constexpr ImportRow kRows[] = {
    {"Gelu", 1, 1, unary<"gelu">},
    {"FastGelu", 1, 1, fast_gelu},
    {"BiasGelu", 1, 1, bias_gelu},
    {"QuickGelu", 1, 1, quick_gelu},
    {"FusedMatMul", 1, 1, fused_matmul},
    {"SkipLayerNormalization", 1, 1, skip_norm<false>},
    {"SkipSimplifiedLayerNormalization", 1, 1, skip_norm<true>},
    {"EmbedLayerNormalization", 1, 1, embed_norm},
    {"Attention", 1, 1, packed_attention},
    {"MultiHeadAttention", 1, 1, multi_head_attention},
    {"GroupQueryAttention", 1, 1, group_query_attention},
    {"RotaryEmbedding", 1, 1, rotary},
    {"MatMulNBits", 1, 1, matmul_nbits},
};

}  // namespace

constinit const ImportTable microsoft_rows = {"com.microsoft", kRows};

}  // namespace thunder::onnx
