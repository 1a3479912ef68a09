// scaled_dot_product_attention, what its backward needs of it, and its gradient.
#include <cmath>
#include <limits>

#include "base/text.h"
#include "ir/dim_reads.h"
#include "ops/formulas.h"
#include "ops/grad.h"
#include "ops/samples.h"

namespace thunder {
namespace {

// The parameters that the three ops share, wherever their schemas have them; the first has no `kept`.
struct Places {
  size_t query, key, value, mask, causal, scale, grouped, kept, kept_scale;
};
constexpr Places kUser{0, 1, 2, 3, 5, 6, 7, 0, 0}, kForward{0, 1, 2, 3, 4, 5, 6, 7, 8},
    kBackward{1, 2, 3, 7, 8, 9, 10, 11, 12};

// One key head serves a group of neighbouring query heads.
void require_groups(const Call& c, const Places& p) {
  for (size_t i : {p.query, p.key, p.value})
    c.require(c.type(i).rank() >= 3, "enable_gqa needs heads: ", c.op.schema.params[i].name,
              " must have at least three dims; ", c.types());
  auto heads = [&](size_t i) { return c.type(i).shape[c.type(i).rank() - 3]; };
  for (size_t i : {p.key, p.value})
    c.require(hint(heads(i)) > 0 && hint(heads(p.query)) % hint(heads(i)) == 0, c.op.schema.params[i].name, " has ",
              name(heads(i)), " heads, which do not divide the query's ", name(heads(p.query)), "; ", c.types());
}

// Throws where batches or heads differ.
Shape scores_shape(const Call& c, const Places& p) {
  const TensorType &q = c.type(p.query), &k = c.type(p.key);
  Shape keys = k.shape;
  if (c.flag(p.grouped)) keys[k.rank() - 3] = q.shape[q.rank() - 3];
  Shape scores = broadcast(Shape(q.shape.begin(), q.shape.end() - 2), Shape(keys.begin(), keys.end() - 2));
  scores.push_back(q.shape[q.rank() - 2]), scores.push_back(k.shape[k.rank() - 2]);
  return scores;
}

void require_mask(const Call& c, const Places& p) {
  const TensorType &q = c.type(p.query), &mask = c.type(p.mask);
  c.require(mask.dtype == DType::boolean || mask.dtype == q.dtype || mask.dtype == DType::f32,
            "attn_mask must be boolean or have the query's dtype, got ", name(mask.dtype), " and ", name(q.dtype), "; ",
            c.types());
  try {
    broadcast(scores_shape(c, p), mask.shape);
  } catch (const Error& e) {
    c.require(false, "attn_mask does not fit the scores: ", e.message(), "; ", c.types());
  }
}

void require_operands(const Call& c, const Places& p) {
  const TensorType &q = c.type(p.query), &k = c.type(p.key), &v = c.type(p.value);
  for (size_t i : {p.query, p.key, p.value})
    c.require(c.type(i).rank() >= 2, c.op.schema.params[i].name, " must have at least two dims; ", c.types());
  c.require(is_real(q.dtype) && k.dtype == q.dtype && v.dtype == q.dtype,
            "query, key and value must have one real dtype, got ", name(q.dtype), ", ", name(k.dtype), " and ",
            name(v.dtype), "; ", c.types());
  const Dim width = q.shape[q.rank() - 1], length = k.shape[k.rank() - 2];
  c.require(k.shape[k.rank() - 1] == width, "query and key differ in their last dim: got ", name(width), " and ",
            name(k.shape[k.rank() - 1]), "; ", c.types());
  c.require(v.shape[v.rank() - 2] == length, "key and value differ in length: got ", name(length), " and ",
            name(v.shape[v.rank() - 2]), "; ", c.types());
  c.require(!(c.has(p.mask) && c.flag(p.causal)), "attn_mask and is_causal exclude each other");
  if (c.flag(p.grouped)) require_groups(c, p);
  if (c.has(p.mask)) require_mask(c, p);
}

// Repeats each head for its group.
Var repeat_heads(Var x, Dim heads) {
  const Dim own = x.size(-3);
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
  return sum_to(x.builder->call(Prim::sum, {reshape_to(x, apart), Shape{static_cast<int64_t>(at + 1)}}), to);
}

// Values that forward and backward both need, in the computing type.
struct Scores {
  Var query, key, value, scale, scores;
};

Var scale_of(const Call& c, const Places& p, Var query) {
  if (c.has(p.scale)) return full(c.builder, {}, c.real(p.scale), query.dtype(), query.type().device);
  return rsqrt(count(query, {{query.size(-1)}}));
}

// Scores that take no part are minus infinity.
Var apply_masks(const Call& c, const Places& p, Var scores) {
  const double none = -std::numeric_limits<double>::infinity();
  if (c.flag(p.causal)) {
    const Device device = scores.type().device;
    Var row = counted_along(c.builder, scores.size(-2), 0, 2, device),
        column = counted_along(c.builder, scores.size(-1), 1, 2, device);
    return where(c.builder.call("ge", {row, column}), scores, none);
  }
  if (!c.has(p.mask)) return scores;
  Var mask = c.var(p.mask);
  return mask.dtype() == DType::boolean ? where(mask, scores, none) : scores + convert(mask, scores.dtype());
}

// The probabilities, or their gradients, after dropout.
Var apply_dropout(const Call& c, const Places& p, Var x) {
  if (!c.has(p.kept)) return x;
  Var kept = c.var(p.kept);
  c.require(kept.shape() == x.shape(), "kept must have the shape of the scores, ", name(x.shape()), ", got ",
            name(kept.type()));
  if (kept.dtype() != DType::boolean) kept = c.builder.call("ne", {kept, 0.0});
  return where(kept, x * c.real(p.kept_scale), 0.0);
}

Scores compute_scores(Call& c, const Places& p) {
  require_operands(c, p);
  Scores a;
  a.query = computed(c.var(p.query)), a.key = computed(c.var(p.key)), a.value = computed(c.var(p.value));
  if (c.flag(p.grouped))
    a.key = repeat_heads(a.key, a.query.size(-3)), a.value = repeat_heads(a.value, a.query.size(-3));
  a.scale = scale_of(c, p, a.query);
  a.scores = apply_masks(c, p, c.builder.call("matmul", {a.query * a.scale, swap_last_two(a.key)}));
  return a;
}

// The softmax of each row is exp(score - top) / total. A row without any score has top 0 and total 1, so that its
// probabilities are all zeros, not NaN.
struct Softmax {
  Var probabilities, top, total;
};
Softmax softmax(Var scores) {
  Builder& b = *scores.builder;
  const Shape axes = last_axes(1, scores.rank());
  if (elements(scores.shape()) == Dim(0)) {
    Shape rows = scores.shape();
    rows[rows.size() - 1] = 1;
    auto all = [&](double x) { return full(b, rows, x, scores.dtype(), scores.type().device); };
    return {scores, all(0), all(1)};
  }
  Var top = max_kept(scores, axes);
  Var empty = b.call("eq", {top, -std::numeric_limits<double>::infinity()});
  top = where(empty, 0.0, top);
  Var e = exp(scores - top);
  Var total = where(empty, 1.0, sum_kept(e, axes));
  return {e / total, top, total};
}

// ---- query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa ----

Results attention(Call& c) {
  const double dropped = c.real(4);
  c.require(dropped >= 0 && dropped < 1, "dropout_p must be at least 0 and less than 1, got ", dropped);
  require_operands(c, kUser);
  Arg kept;
  if (dropped > 0) {
    const TensorType& query = c.type(0);
    Var drawn = c.builder.call("rand", {scores_shape(c, kUser), DType::f32, query.device});
    Var chosen = c.builder.call("ge", {drawn, dropped});
    // cuDNN multiplies by the mask, so it is converted to the query's dtype.
    if (query.device != Device::cpu && is_half(query.dtype)) chosen = convert(chosen, query.dtype);
    kept = Arg::value(chosen.id);
  }
  return {c.builder.results("scaled_dot_product_attention_forward",
                            {c.var(0), c.var(1), c.var(2), c.var(3), c.flag(5), c.args[6], c.flag(7), kept,
                             1 / (1 - dropped)})[0]};
}

// ---- query, key, value, attn_mask, is_causal, scale, enable_gqa, kept, kept_scale ----

Results forward(Call& c) {
  Scores a = compute_scores(c, kForward);
  Softmax s = softmax(a.scores);
  Var out = convert(c.builder.call("matmul", {apply_dropout(c, kForward, s.probabilities), a.value}), c.type(0).dtype);
  return {out.id, s.top.id, s.total.id};
}

void forward_vjp(Grad& g) {
  // The backward below has no gradient for a mask, nor through the statistics: then the decomposition is
  // differentiated.
  if ((g.has(3) && g.wants(3)) || g.reached(1) || g.reached(2)) return g.descend();
  Results d = g.builder.results("scaled_dot_product_attention_backward",
                                {g.cotangent(), g.var(0), g.var(1), g.var(2), g.result(0), g.result(1), g.result(2),
                                 g.var(3), g.flag(4), g.args[5], g.flag(6), g.args[7], g.args[8]});
  for (size_t i = 0; i < 3; i++) g.add(i, g.builder.var(d[i]));
}

// ---- grad, query, key, value, out, top, total, attn_mask, is_causal, scale, enable_gqa, kept, kept_scale ----

// On devices the backward of many keys computes the scores again: those of the forward would be kept until then, which
// takes memory in proportion to the square of the length, while query and key are kept anyway. That is one product of
// five more.
bool computes_scores_again(const Call& c) {
  const TensorType& key = c.type(kBackward.key);
  return key.device != Device::cpu && is_less(key.shape[key.rank() - 1], key.shape[key.rank() - 2]);
}

Results backward(Call& c) {
  Builder& b = c.builder;
  std::vector<Arg> operands(c.args.begin(), c.args.end());
  require_operands(c, kBackward);
  if (computes_scores_again(c))
    for (size_t i : {kBackward.query, kBackward.key, kBackward.value})
      operands[i] = Arg::value(b.call(Prim::optimization_barrier, {c.var(i), c.var(0)}).id);
  Call own(b, c.op, operands);
  Scores a = compute_scores(own, kBackward);
  Var dy = computed(c.var(0));
  Var p = exp(a.scores - c.var(5)) / c.var(6);
  Var dv = b.call("matmul", {swap_last_two(apply_dropout(own, kBackward, p)), dy});
  Var dp = apply_dropout(own, kBackward, b.call("matmul", {dy, swap_last_two(a.value)}));
  // The mean of dp by p is that of dy by out: a row of it is one product of two rows.
  Var ds = p * (dp - sum_kept(dy * computed(c.var(4)), last_axes(1, dy.rank()))) * a.scale;
  Var dq = b.call("matmul", {ds, a.key}), dk = b.call("matmul", {swap_last_two(ds), a.query});
  auto like = [&](Var gradient, size_t param) {
    return convert(sum_groups(gradient, c.type(param).shape), c.type(param).dtype).id;
  };
  return {like(dq, 1), like(dk, 2), like(dv, 3)};
}

void sample_attentions(Samples& s) {
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
void forward_samples(Samples& s) {
  const TensorSpec q{{2, 3, 4, 5}}, k{{2, 3, 6, 5}}, v{{2, 3, 6, 7}};
  s.add({q, k, v, SampleArg(), true, SampleArg(), false});
  s.add({q, k, v, TensorSpec{{4, 6}, DType::boolean, 0, 1}, false, 0.5, false});
  s.add({TensorSpec{{2, 6, 4, 5}}, k, v, SampleArg(), false, SampleArg(), true});
  const TensorSpec kept{{2, 3, 4, 6}, DType::boolean, 0, 1};
  s.add({q, k, v, SampleArg(), true, SampleArg(), false, kept, 1.25});
  s.refuse({q, k, v, SampleArg(), true, SampleArg(), false, TensorSpec{{4, 6}, DType::boolean, 0, 1}, 1.25},
           "kept must have the shape of the scores");
}
void backward_samples(Samples& s) {
  // Tops are such that the probabilities are about those of a softmax.
  const TensorSpec q{{2, 3, 4, 5}}, k{{2, 3, 6, 5}}, v{{2, 3, 6, 7}}, out{{2, 3, 4, 7}},
      top{{2, 3, 4, 1}, DType::f32, 3, 4}, total{{2, 3, 4, 1}, DType::f32, 1, 2};
  s.add({out, q, k, v, out, top, total, SampleArg(), true, SampleArg(), false});
  s.add({out, q, k, v, out, top, total, TensorSpec{{4, 6}, DType::boolean, 0, 1}, false, 0.5, false});
  s.add({out, q, k, v, out, top, total, SampleArg(), true, SampleArg(), false,
         TensorSpec{{2, 3, 4, 6}, DType::boolean, 0, 1}, 1.25});
  const TensorSpec wide{{2, 6, 4, 7}}, wide_top{{2, 6, 4, 1}, DType::f32, 3, 4},
      wide_total{{2, 6, 4, 1}, DType::f32, 1, 2};
  s.add({wide, TensorSpec{{2, 6, 4, 5}}, k, v, wide, wide_top, wide_total, SampleArg(), false, SampleArg(), true});
}

constexpr OpRow kRows[] = {
    composite("scaled_dot_product_attention(tensor query, tensor key, tensor value, tensor? attn_mask=None, "
              "float dropout_p=0.0, bool is_causal=False, float? scale=None, bool enable_gqa=False) -> tensor",
              CastPolicy::lower_precision_fp,
              "softmax(query @ key.T * scale + mask) @ value. A boolean mask says what takes part; a row with "
              "nothing is zero.",
              attention, sample_attentions),
    composite("scaled_dot_product_attention_forward(tensor query, tensor key, tensor value, tensor? "
              "attn_mask, bool is_causal, float? scale, bool enable_gqa, tensor? kept=None, float kept_scale=1.0) -> "
              "(tensor, tensor, tensor)",
              CastPolicy::none,
              "scaled_dot_product_attention by the probabilities where `kept` is not 0, times kept_scale, and of each "
              "row of scores the largest and the sum of exp(score - largest).",
              forward, forward_samples, kHidden, {.vjp = forward_vjp}),
    composite("scaled_dot_product_attention_backward(tensor grad, tensor query, tensor key, tensor value, "
              "tensor out, tensor top, tensor total, tensor? attn_mask, bool is_causal, float? scale, bool "
              "enable_gqa, tensor? kept=None, float kept_scale=1.0) -> (tensor, tensor, tensor)",
              CastPolicy::none,
              "The gradients of query, key and value, from what scaled_dot_product_attention_forward made.", backward,
              backward_samples, kHidden),
};

}  // namespace

extern const OpRows attention_ops = kRows;

}  // namespace thunder
