// scaled_dot_product_attention and its gradient.
#include <cmath>
#include <limits>

#include "base/text.h"
#include "ops/formulas.h"
#include "ops/grad.h"
#include "ops/samples.h"

namespace thunder {
namespace {

// The parameters of a forward call, wherever its schema has them.
struct Places {
  size_t query, key, value, mask, causal, scale, grouped;
};
constexpr Places kForward{0, 1, 2, 3, 5, 6, 7}, kBackward{1, 2, 3, 4, 5, 6, 7};

void require_operands(const Call& c, const Places& p) {
  const TensorType &q = c.type(p.query), &k = c.type(p.key), &v = c.type(p.value);
  for (size_t i : {p.query, p.key, p.value})
    c.require(c.type(i).rank() >= 2, c.op.schema.params[i].name, " must have at least two dims; ", c.types());
  c.require(is_real(q.dtype) && k.dtype == q.dtype && v.dtype == q.dtype, "query, key and value must have one real dtype, got ", name(q.dtype), ", ",
            name(k.dtype), " and ", name(v.dtype), "; ", c.types());
  const Dim width = q.shape[q.rank() - 1], length = k.shape[k.rank() - 2];
  c.require(k.shape[k.rank() - 1] == width, "query and key differ in their last dim: got ", name(width), " and ", name(k.shape[k.rank() - 1]), "; ",
            c.types());
  c.require(v.shape[v.rank() - 2] == length, "key and value differ in length: got ", name(length), " and ", name(v.shape[v.rank() - 2]), "; ",
            c.types());
  c.require(!(c.has(p.mask) && c.flag(p.causal)), "attn_mask and is_causal exclude each other");
  if (!c.has(p.mask)) return;
  const DType m = c.type(p.mask).dtype;
  c.require(m == DType::boolean || m == q.dtype || m == DType::f32, "attn_mask must be boolean or have the query's dtype, got ", name(m), " and ",
            name(q.dtype), "; ", c.types());
}

// One key head serves a group of neighbouring query heads: repeats it for each.
Var repeat_heads(const Call& c, Var x, Dim heads, size_t param) {
  const Dim own = x.size(-3);
  c.require(hint(own) > 0 && hint(heads) % hint(own) == 0, c.op.schema.params[param].name, " has ", name(own),
            " heads, which do not divide the query's ", name(heads), "; ", c.types());
  Shape apart = x.shape(), wide = x.shape(), out = x.shape();
  const size_t at = x.rank() - 3;
  apart.insert(at + 1, 1), wide.insert(at + 1, heads / own);
  out[at] = heads;
  return reshape_to(expand_to(reshape_to(x, apart), wide), out);
}
// The sum over each group, the inverse of repeat_heads.
Var sum_groups(Var x, const Shape& to) {
  const size_t rank = to.size();
  if (x.rank() > rank) x = sum_to(x, Shape(x.shape().end() - static_cast<int64_t>(rank), x.shape().end()));
  if (rank < 3 || x.size(-3) == to[rank - 3]) return sum_to(x, to);
  Shape apart = x.shape();
  const size_t at = rank - 3;
  apart[at] = to[at];
  apart.insert(at + 1, x.size(-3) / to[at]);
  return sum_to(x.builder->call("prims.sum", {reshape_to(x, apart), Shape{static_cast<int64_t>(at + 1)}}), to);
}

// What forward and backward both need, in the computing type.
struct Attention {
  Var query, key, value, scale;
  Var probabilities;
};

Var scale_of(const Call& c, const Places& p, Var query) {
  if (c.has(p.scale)) return full(c.builder, {}, c.real(p.scale), query.dtype(), query.type().device);
  return rsqrt(count(query, {{query.size(-1)}}));
}

// Scores that take no part are minus infinity.
Var masked(const Call& c, const Places& p, Var scores) {
  const double none = -std::numeric_limits<double>::infinity();
  if (c.flag(p.causal)) {
    const Device device = scores.type().device;
    Var row = counted_along(c.builder, scores.size(-2), 0, 2, device), column = counted_along(c.builder, scores.size(-1), 1, 2, device);
    return where(c.builder.call("ge", {row, column}), scores, none);
  }
  if (!c.has(p.mask)) return scores;
  Var mask = c.var(p.mask);
  Shape together;
  try {
    together = broadcast(scores.shape(), mask.shape());
  } catch (const Error& e) {
    c.require(false, "attn_mask does not fit the scores: ", e.message(), "; ", c.types());
  }
  return mask.dtype() == DType::boolean ? where(mask, scores, none) : scores + convert(mask, scores.dtype());
}

// Softmax over the last dim in which a row without any score is all zeros, not NaN.
Var probabilities(Var scores) {
  const Shape axes = last_axes(1, scores.rank());
  if (elements(scores.shape()) == Dim(0)) return scores;
  Var top = max_kept(scores, axes);
  Var empty = top.builder->call("eq", {top, -std::numeric_limits<double>::infinity()});
  Var e = exp(scores - where(empty, 0.0, top));
  return e / where(empty, 1.0, sum_kept(e, axes));
}

Attention attention(Call& c, const Places& p) {
  require_operands(c, p);
  Attention a;
  a.query = computed(c.var(p.query)), a.key = computed(c.var(p.key)), a.value = computed(c.var(p.value));
  if (c.flag(p.grouped)) {
    for (size_t i : {p.query, p.key, p.value})
      c.require(c.type(i).rank() >= 3, "enable_gqa needs heads: ", c.op.schema.params[i].name, " must have at least three dims; ", c.types());
    a.key = repeat_heads(c, a.key, a.query.size(-3), p.key);
    a.value = repeat_heads(c, a.value, a.query.size(-3), p.value);
  }
  a.scale = scale_of(c, p, a.query);
  a.probabilities = probabilities(masked(c, p, c.builder.call("matmul", {a.query * a.scale, swap_last_two(a.key)})));
  return a;
}

// ---- query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa ----

Results forward(Call& c) {
  Attention a = attention(c, kForward);
  c.require(c.real(4) >= 0 && c.real(4) < 1, "dropout_p must be at least 0 and less than 1, got ", c.real(4));
  if (c.real(4) > 0) a.probabilities = c.builder.call("dropout", {a.probabilities, c.real(4), true});
  return convert(c.builder.call("matmul", {a.probabilities, a.value}), c.type(0).dtype);
}

void vjp(Grad& g) {
  // The backward below draws no random numbers and gives a mask no gradient.
  if (g.real(4) > 0 || (g.has(3) && g.wants(3))) return g.descend();
  Results d = g.builder.results("scaled_dot_product_attention_backward",
                                {g.cotangent(), g.var(0), g.var(1), g.var(2), g.var(3), g.flag(5), g.args[6], g.flag(7)});
  for (size_t i = 0; i < 3; i++) g.add(i, g.builder.var(d[i]));
}

// ---- grad, query, key, value, attn_mask, is_causal, scale, enable_gqa ----

Results backward(Call& c) {
  Attention a = attention(c, kBackward);
  Builder& b = c.builder;
  Var dy = computed(c.var(0));
  Var dv = b.call("matmul", {swap_last_two(a.probabilities), dy});
  Var dp = b.call("matmul", {dy, swap_last_two(a.value)});
  Var weighted = dp * a.probabilities;
  Var ds = (weighted - a.probabilities * sum_kept(weighted, last_axes(1, weighted.rank()))) * a.scale;
  Var dq = b.call("matmul", {ds, a.key}), dk = b.call("matmul", {swap_last_two(ds), a.query});
  auto like = [&](Var gradient, size_t param) { return convert(sum_groups(gradient, c.type(param).shape), c.type(param).dtype).id; };
  return {like(dq, 1), like(dk, 2), like(dv, 3)};
}

void samples(Samples& s) {
  const TensorSpec q{{2, 3, 4, 5}}, k{{2, 3, 6, 5}}, v{{2, 3, 6, 7}};
  const TensorSpec mask{{4, 6}, DType::boolean, 0, 1};
  s.add({q, k, v});
  s.add({q, k, v, SampleArg(), 0.0, true});
  s.add({q, k, v, mask});
  s.add({q, k, v, TensorSpec{{2, 1, 4, 6}}, 0.0, false, 0.5});
  s.add({TensorSpec{{2, 6, 4, 5}}, k, v, SampleArg(), 0.0, false, SampleArg(), true});
  s.add({TensorSpec{{4, 5}}, TensorSpec{{6, 5}}, TensorSpec{{6, 7}}});
  s.add({q, TensorSpec{{6, 5}}, TensorSpec{{1, 6, 7}}});
  s.add({TensorSpec{{2, 4, 5}, DType::bf16}, TensorSpec{{2, 6, 5}, DType::bf16}, TensorSpec{{2, 6, 7}, DType::bf16}});
  s.refuse({q, TensorSpec{{2, 3, 6, 4}}, v}, "last dim: got 5 and 4");
  s.refuse({q, k, TensorSpec{{2, 3, 5, 7}}}, "length: got 6 and 5");
  s.refuse({q, k, v, mask, 0.0, true}, "exclude each other");
  s.refuse({q, k, v, TensorSpec{{4, 5}}}, "attn_mask does not fit");
  s.refuse({q, k, v, TensorSpec{{4, 6}, DType::i64, 0, 1}}, "attn_mask must be boolean");
  s.refuse({q, TensorSpec{{2, 3, 6, 5}, DType::f64}, v}, "one real dtype, got f32, f64 and f32");
  s.refuse({TensorSpec{{2, 4, 4, 5}}, k, v, SampleArg(), 0.0, false, SampleArg(), true}, "do not divide the query's 4");
  s.refuse({q, k, v, SampleArg(), 1.0}, "dropout_p");
}
void backward_samples(Samples& s) {
  const TensorSpec q{{2, 3, 4, 5}}, k{{2, 3, 6, 5}}, v{{2, 3, 6, 7}}, dy{{2, 3, 4, 7}};
  s.add({dy, q, k, v, SampleArg(), true, SampleArg(), false});
  s.add({dy, q, k, v, TensorSpec{{4, 6}, DType::boolean, 0, 1}, false, 0.5, false});
  s.add({TensorSpec{{2, 6, 4, 7}}, TensorSpec{{2, 6, 4, 5}}, k, v, SampleArg(), false, SampleArg(), true});
}

constexpr OpRow kRows[] = {
    checked({.schema = "scaled_dot_product_attention(tensor query, tensor key, tensor value, tensor? attn_mask=None, float dropout_p=0.0, "
                       "bool is_causal=False, float? scale=None, bool enable_gqa=False) -> tensor",
             .doc = "softmax(query @ key.T * scale + mask) @ value. A boolean mask says what takes part; a row with nothing is zero.",
             .decompose = forward, .vjp = vjp, .samples = samples}),
    checked({.schema = "scaled_dot_product_attention_backward(tensor grad, tensor query, tensor key, tensor value, tensor? attn_mask, "
                       "bool is_causal, float? scale, bool enable_gqa) -> (tensor, tensor, tensor)",
             .doc = "The gradients of scaled_dot_product_attention's query, key and value, without dropout.", .decompose = backward,
             .samples = backward_samples, .tags = kHidden}),
};

}  // namespace

void register_attention(Registry& r) {
  for (auto& row : kRows) r.add(row);
}

}  // namespace thunder
