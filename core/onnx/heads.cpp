#include "onnx/heads.h"

#include <cmath>
#include <limits>

#include "base/text.h"
#include "onnx/operands.h"

namespace thunder::onnx {
namespace {

Dim last_dim_of(Tensor* t) {
  return dim_of(t, -1);
}
Dim sequence_length(Tensor* t) {
  return dim_of(t, 2);
}

double scale_of(const Attention& a) {
  return a.scale != 0 ? a.scale : 1 / std::sqrt(static_cast<double>(hint(last_dim_of(a.query))));
}

// Heads of keys and values serve several of the queries.
Tensor* repeat_heads(Node& n, Tensor* x, Tensor* query) {
  const int64_t heads = hint(dim_of(query, 1)), own = hint(dim_of(x, 1));
  n.require(own > 0 && heads % own == 0, "it has ", heads, " heads of queries and ", own, " of keys");
  return heads == own ? x : n.op("repeat_interleave", {x, heads / own, 1});
}

// The mask: added to the scores, or boolean and true where attention is allowed; null: none.
Tensor* build_mask(Node& n, const Attention& a) {
  if (!a.causal && a.left < 0 && a.right < 0) return a.mask;
  const Dim rows = sequence_length(a.query), columns = sequence_length(a.key);
  const size_t rank = a.offset ? 4 : 2;
  Tensor* row = arange_along(n, rows, rank - 2, rank);
  row = a.offset ? n.op("add", {row, a.offset}) : n.op("add", {row, a.past});
  Tensor* column = arange_along(n, columns, rank - 1, rank);
  Tensor* looks = nullptr;
  const auto and_also = [&](Tensor* more) { looks = looks ? n.op("logical_and", {looks, more}) : more; };
  if (a.causal) and_also(n.op("le", {column, row}));
  if (a.left >= 0) and_also(n.op("ge", {column, n.op("sub", {row, a.left})}));
  if (a.right >= 0) and_also(n.op("le", {column, n.op("add", {row, a.right})}));
  if (!a.mask) return looks;
  if (a.mask->type().dtype == DType::boolean) return n.op("logical_and", {a.mask, looks});
  return n.op("where", {looks, a.mask, n.constant(-std::numeric_limits<double>::infinity(), a.mask->type().dtype)});
}

}  // namespace

Tensor* split_heads(Node& n, Tensor* x, int64_t heads) {
  const Shape& s = x->type().shape;
  n.require(s.size() == 3 && heads > 0, "its input is ", thunder::name(x->type()), " with ", heads, " heads");
  return n.op("transpose", {n.op("reshape", {x, Shape{s[0], s[1], heads, s[2] / heads}}), 1, 2});
}

Tensor* join_heads(Node& n, Tensor* x) {
  const Shape& s = x->type().shape;
  return n.op("reshape", {n.op("transpose", {x, 1, 2}), Shape{s[0], s[2], s[1] * s[3]}});
}

Tensor* emit_attention(Node& n, const Attention& a) {
  if (a.softcap != 0) return attended_in_steps(n, a).result;
  const bool causal = a.causal && !a.mask && a.past == 0 && !a.offset && a.left < 0 && a.right < 0;
  Tensor* mask = causal ? nullptr : build_mask(n, a);
  const bool grouped = hint(dim_of(a.query, 1)) != hint(dim_of(a.key, 1));
  return n.op("scaled_dot_product_attention", {a.query, a.key, a.value, mask, 0.0, causal, scale_of(a), grouped});
}

Scores attended_in_steps(Node& n, const Attention& a) {
  Scores s{};
  Tensor *key = repeat_heads(n, a.key, a.query), *value = repeat_heads(n, a.value, a.query);
  // The scale is applied as its root to both operands, so that f16 products do not overflow.
  const double root = std::sqrt(scale_of(a));
  s.raw = n.op("matmul", {n.op("mul", {a.query, root}), n.op("transpose", {n.op("mul", {key, root}), -2, -1})});
  s.capped = s.raw;
  if (a.softcap != 0) s.capped = n.op("mul", {n.op("tanh", {n.op("div", {s.raw, a.softcap})}), a.softcap});
  s.masked = s.capped;
  const DType dtype = s.raw->type().dtype;
  const double least = -std::numeric_limits<double>::infinity();
  Tensor* mask = build_mask(n, a);
  if (mask && mask->type().dtype == DType::boolean)
    s.masked = n.op("where", {mask, s.capped, n.constant(least, dtype)});
  else if (mask)
    s.masked = n.op("add", {s.capped, mask});
  s.weights = n.op("softmax", {s.masked, -1});
  if (mask) {
    // A row in which every key is masked has zero weights.
    Tensor* none = n.op("eq", {n.op("amax", {s.masked, std::vector<int64_t>{-1}, true}), least});
    s.weights = n.op("where", {none, n.constant(0, dtype), s.weights});
  }
  s.result = n.op("matmul", {s.weights, value});
  return s;
}

Tensor* rotated(Node& n, Tensor* x, Tensor* cosine, Tensor* sine, int64_t width, bool interleaved) {
  const int64_t size = hint(last_dim_of(x)), half = width / 2;
  n.require(width > 0 && width % 2 == 0 && width <= size, "it rotates ", width, " of ", size, " elements");
  Tensor* turned = width == size ? x : n.op("slice", {x, -1, 0, width});
  Tensor *a = nullptr, *b = nullptr;
  if (interleaved) {
    a = n.op("slice", {turned, -1, 0, nullptr, 2}), b = n.op("slice", {turned, -1, 1, nullptr, 2});
  } else {
    a = n.op("slice", {turned, -1, 0, half}), b = n.op("slice", {turned, -1, half, width});
  }
  Tensor* real = n.op("sub", {n.op("mul", {a, cosine}), n.op("mul", {b, sine})});
  Tensor* imaginary = n.op("add", {n.op("mul", {a, sine}), n.op("mul", {b, cosine})});
  std::vector<Tensor*> parts = {real, imaginary};
  Tensor* y =
      interleaved ? n.op("reshape", {n.op("stack", {parts, -1}), turned->type().shape}) : n.op("cat", {parts, -1});
  if (width == size) return y;
  return n.op("cat", {std::vector<Tensor*>{y, n.op("slice", {x, -1, width, size})}, -1});
}

}  // namespace thunder::onnx
