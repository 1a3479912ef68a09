// MultiheadAttention: projections of query, key and value, attention by several heads, a projection of what they give.
#include <cmath>
#include <limits>

#include "base/text.h"
#include "modules/inputs.h"

namespace thunder {
namespace {

// Width of keys or values before their projection.
int64_t width_or_embed_dim(const Module& m, std::string_view option) {
  const Leaf& given = m.option(option);
  return given.kind == ArgKind::none ? m.integer("embed_dim") : given.i;
}

// The bound of Glorot and Bengio's uniform distribution.
double glorot_bound(int64_t in, int64_t out) {
  return std::sqrt(6 / static_cast<double>(in + out));
}

void init_attention(ModuleInit& m) {
  const int64_t width = m.module.integer("embed_dim"), heads = m.module.integer("num_heads");
  const int64_t keys = width_or_embed_dim(m.module, "kdim"), values = width_or_embed_dim(m.module, "vdim");
  m.require(width > 0 && heads > 0 && keys > 0 && values > 0,
            "embed_dim, num_heads, kdim and vdim must be positive, got ", width, ", ", heads, ", ", keys, " and ",
            values);
  m.require(width % heads == 0, "embed_dim must be a multiple of num_heads, got ", width, " and ", heads);
  const double p = m.module.real("dropout");
  m.require(p >= 0 && p < 1, "dropout must lie in [0, 1), got ", p);
  const bool bias = m.module.flag("bias");
  if (keys == width && values == width) {
    m.uniform("in_proj_weight", {3 * width, width}, glorot_bound(width, 3 * width));
  } else {
    m.uniform("q_proj_weight", {width, width}, glorot_bound(width, width));
    m.uniform("k_proj_weight", {width, keys}, glorot_bound(keys, width));
    m.uniform("v_proj_weight", {width, values}, glorot_bound(values, width));
  }
  if (bias) m.fill("in_proj_bias", {3 * width}, 0);
  m.child("out_proj", "Linear", {Any::integer(width), Any::integer(width), Any::boolean(bias)});
  if (bias) std::fill_n(reinterpret_cast<float*>(m.module.find_tensor("out_proj.bias")->tensor->data()), width, 0.0f);
  if (!m.module.flag("add_bias_kv")) return;
  for (auto* name : {"bias_k", "bias_v"}) m.normal(name, {1, 1, width}, 1 / std::sqrt(static_cast<double>(width)));
}

std::vector<int64_t> sizes(const Tensor* t) {
  std::vector<int64_t> out;
  for (Dim d : t->type().shape) out.push_back(d.value());
  return out;
}

// One call. After its checks all tensors have a batch, which comes first.
class Attention {
 public:
  explicit Attention(ModuleCall& c)
      : c_(c), in_(c), width_(c.module.integer("embed_dim")), heads_(c.module.integer("num_heads")) {}

  void run() {
    Tensor *query = in_.tensor("query"), *key = in_.tensor("key"), *value = in_.tensor("value");
    check(query, key, value);
    batched_ = sizes(query).size() == 3;
    Tensor* q = batch_first(query);
    Tensor* k = key == query ? q : batch_first(key);
    Tensor* v = value == key ? k : batch_first(value);
    batch_ = sizes(q)[0], targets_ = sizes(q)[1], sources_ = sizes(k)[1];
    Tensor* mask = merged_mask();
    project(q, k, v);
    append(k, v, mask);
    attend(split_heads(q, targets_), split_heads(k, sources_), split_heads(v, sources_), mask);
  }

 private:
  template <class... T>
  static void require(bool holds, const T&... parts) {
    thunder::require(holds, "MultiheadAttention: ", parts...);
  }
  Tensor* op(std::string_view name, std::initializer_list<OpArg> args) const { return c_.op(name, args); }
  bool flag(std::string_view option) const { return c_.module.flag(option); }

  void check(Tensor* query, Tensor* key, Tensor* value) const {
    const auto q = sizes(query), k = sizes(key), v = sizes(value);
    const std::string types = cat(name(query->type()), ", ", name(key->type()), " and ", name(value->type()));
    require((q.size() == 2 || q.size() == 3) && k.size() == q.size() && v.size() == q.size(),
            "query, key and value must have 3 dims, or 2 without a batch, got ", types);
    const int64_t keys = width_or_embed_dim(c_.module, "kdim"), values = width_or_embed_dim(c_.module, "vdim");
    require(q.back() == width_ && k.back() == keys && v.back() == values, "query, key and value must be ", width_, ", ",
            keys, " and ", values, " wide, got ", types);
    const size_t batch = flag("batch_first") ? 0 : 1, length = q.size() == 2 ? 0 : 1 - batch;
    require(k[length] == v[length], "key and value differ in length, got ", types);
    require(q.size() == 2 || (q[batch] == k[batch] && q[batch] == v[batch]),
            "query, key and value differ in batch, got ", types);
  }

  Tensor* batch_first(Tensor* x) const {
    if (!batched_) return op("unsqueeze", {x, 0});
    return flag("batch_first") ? x : op("transpose", {x, 0, 1});
  }

  // ---- masks: what is added to the scores, f32, broadcasting to [batch, heads, targets, sources]; null: nothing ----

  // True is minus infinity, as PyTorch has it here; numbers are themselves.
  Tensor* as_additive_mask(Tensor* mask, const std::vector<int64_t>& shape) const {
    if (mask->type().dtype == DType::boolean) mask = op("where", {mask, -std::numeric_limits<double>::infinity(), 0.0});
    return op("reshape", {mask, shape});
  }

  Tensor* attention_mask() const {
    Tensor* mask = in_.tensor("attn_mask");
    require(mask || !in_.flag("is_causal"), "is_causal says what attn_mask holds, which is missing");
    if (!mask) return nullptr;
    const std::vector<int64_t> is = sizes(mask), one{targets_, sources_}, each{batch_ * heads_, targets_, sources_};
    require(is == one || is == each, "attn_mask must be [", targets_, ", ", sources_, "] or [", batch_ * heads_, ", ",
            targets_, ", ", sources_, "], got ", name(mask->type()));
    if (is == one) return as_additive_mask(mask, {1, 1, targets_, sources_});
    return as_additive_mask(mask, {batch_, heads_, targets_, sources_});
  }

  Tensor* padding_mask() const {
    Tensor* mask = in_.tensor("key_padding_mask");
    if (!mask) return nullptr;
    const std::vector<int64_t> is = sizes(mask), each{batch_, sources_}, one{sources_};
    require(is == (batched_ ? each : one), "key_padding_mask must be [", batched_ ? cat(batch_, ", ") : "", sources_,
            "], got ", name(mask->type()));
    return as_additive_mask(mask, {batch_, 1, 1, sources_});
  }

  Tensor* merged_mask() const {
    Tensor *attention = attention_mask(), *padding = padding_mask();
    return attention && padding ? op("add", {attention, padding}) : attention ? attention : padding;
  }

  // ---- projections ----

  // The i-th of three parts of a packed tensor along dim; null of null.
  Tensor* slice_part(Tensor* packed, int dim, int64_t i) const {
    return packed ? op("slice", {packed, dim, i * width_, (i + 1) * width_}) : nullptr;
  }

  void project(Tensor*& q, Tensor*& k, Tensor*& v) const {
    Tensor *packed = c_.tensor("in_proj_weight"), *bias = c_.tensor("in_proj_bias");
    if (packed && q == k && k == v) {
      Tensor* all = op("linear", {q, packed, bias});
      q = slice_part(all, -1, 0), k = slice_part(all, -1, 1), v = slice_part(all, -1, 2);
      return;
    }
    const auto weight = [&](std::string_view own, int64_t i) {
      return packed ? slice_part(packed, 0, i) : c_.tensor(own);
    };
    q = op("linear", {q, weight("q_proj_weight", 0), slice_part(bias, 0, 0)});
    k = op("linear", {k, weight("k_proj_weight", 1), slice_part(bias, 0, 1)});
    v = op("linear", {v, weight("v_proj_weight", 2), slice_part(bias, 0, 2)});
  }

  // The sources that add_bias_kv and add_zero_attn append, which no mask hides.
  void append(Tensor*& k, Tensor*& v, Tensor*& mask) {
    const std::vector<int64_t> one_row{0, 0, 0, 1}, one_column{0, 1};
    for (auto* option : {"add_bias_kv", "add_zero_attn"}) {
      if (!flag(option)) continue;
      k = op("pad", {k, one_row}), v = op("pad", {v, one_row});
      if (mask) mask = op("pad", {mask, one_column});
      if (Tensor* bias = option == std::string_view("add_bias_kv") ? c_.tensor("bias_k") : nullptr) {
        const std::vector<int64_t> down{0, 0, sources_, 0};
        k = op("add", {k, op("pad", {bias, down})}), v = op("add", {v, op("pad", {c_.tensor("bias_v"), down})});
      }
      sources_++;
    }
  }

  // [batch, heads, length, width of a head]
  Tensor* split_heads(Tensor* x, int64_t length) const {
    const std::vector<int64_t> shape{batch_, length, heads_, width_ / heads_};
    return op("transpose", {op("reshape", {x, shape}), 1, 2});
  }

  // ---- attention ----

  void attend(Tensor* q, Tensor* k, Tensor* v, Tensor* mask) const {
    const double p = c_.training() ? c_.module.real("dropout") : 0;
    if (in_.flag("need_weights")) {
      Tensor* scores = op("mul", {op("matmul", {q, op("transpose", {k, -2, -1})}),
                                  1 / std::sqrt(static_cast<double>(width_ / heads_))});
      if (mask) scores = op("add", {scores, op("to", {mask, scores->type().dtype})});
      Tensor* weights = op("dropout", {op("softmax", {scores, -1}), p, p > 0});
      give(op("matmul", {weights, v}));
      const std::vector<int64_t> heads{1}, batch{0};
      if (in_.flag("average_attn_weights")) weights = op("mean", {weights, heads});
      return c_.give(batched_ ? weights : op("squeeze", {weights, batch}));
    }
    // Whether the mask is known to be the causal one: then executors need not read it.
    const bool causal =
        in_.flag("is_causal") && !in_.tensor("key_padding_mask") && sources_ == sizes(in_.tensor("attn_mask")).back();
    give(op("scaled_dot_product_attention", {q, k, v, causal ? nullptr : mask, p, causal}));
    c_.out.push(Any());
  }

  // The heads' output, projected, in the layout of the query.
  void give(Tensor* heads) const {
    const std::vector<int64_t> shape{batch_, targets_, width_}, batch{0};
    Tensor* y = op("reshape", {op("transpose", {heads, 1, 2}), shape});
    y = op("linear", {y, c_.tensor("out_proj.weight"), c_.tensor("out_proj.bias")});
    if (!batched_) y = op("squeeze", {y, batch});
    c_.give(!batched_ || flag("batch_first") ? y : op("transpose", {y, 0, 1}));
  }

  ModuleCall& c_;
  ModuleInputs in_;
  const int64_t width_, heads_;
  bool batched_ = true;
  int64_t batch_ = 0, targets_ = 0, sources_ = 0;
};

constexpr ModuleRow kMultiheadAttention = layer(
    "MultiheadAttention(int embed_dim, int num_heads, float dropout=0.0, bool bias=True, bool add_bias_kv=False, "
    "bool add_zero_attn=False, int? kdim=None, int? vdim=None, bool batch_first=False) -> (tensor, tensor)",
    "Attention by several heads between linear projections: of [length, batch, embed_dim], or with batch_first "
    "[batch, length, embed_dim], or without a batch. Gives the result and, unless need_weights is False, the "
    "weights. "
    "True in a boolean mask hides.",
    [](ModuleCall& c) { Attention(c).run(); }, init_attention,
    "forward(tensor query, tensor key, tensor value, tensor? key_padding_mask=None, bool "
    "need_weights=True, tensor? attn_mask=None, bool average_attn_weights=True, bool is_causal=False) -> (tensor, "
    "tensor)");

}  // namespace

extern const ModuleRows multihead_attention_kinds = {&kMultiheadAttention, 1};

}  // namespace thunder
