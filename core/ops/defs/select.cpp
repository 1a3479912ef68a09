// Choosing between elements: where and clamp.
#include "ops/elementwise.h"

namespace thunder {
namespace {

void where_meta(const Call& c, Types& out) {
  c.require(c.type(0).dtype == DType::boolean, "condition must be boolean; ", c.types());
  c.require(c.type(0).shape == c.type(1).shape, "operands must have one shape; ", c.types());
  require_equal_types(c, 1, 2);
  out.push(c.type(1));
}
Status* where_kernel(const KernelArgs& k) {
  by_dtype(k.out[0].dtype, [&](auto t) {
    using T = decltype(t);
    each3<bool, T, T>(k, [](bool condition, T a, T b) { return condition ? a : b; });
  });
  return nullptr;
}
void where_vjp(Grad& g) {
  Var condition = g.var(0), dy = g.cotangent();
  Builder& b = g.builder;
  if (g.wants(1)) g.add(1, b.call(Prim::where, {condition, dy, full_like(dy, 0)}));
  if (g.wants(2)) g.add(2, b.call(Prim::where, {condition, full_like(dy, 0), dy}));
}

Results where(Call& c) {
  const TensorType& condition = c.type(0);
  c.require(condition.dtype == DType::boolean, "condition must be boolean; ", c.types());
  auto v = promoted(c, {1, 2});
  Shape shape;
  try {
    shape = broadcast(condition.shape, v[0].shape());
  } catch (const Error& e) {
    c.require(false, e.message(), "; ", c.types());
  }
  return c.builder.call(Prim::where, {expand_to(c.var(0), shape), expand_to(v[0], shape), expand_to(v[1], shape)});
}
void broadcast_where_vjp(Grad& g) {
  Var dy = g.cotangent();
  for (size_t side : {1, 2}) {
    if (!g.wants(side)) continue;
    Var taken = side == 1 ? g.builder.call("where", {g.var(0), dy, 0.0}) : g.builder.call("where", {g.var(0), 0.0, dy});
    g.add(side, sum_to(taken, g.type(side).shape));
  }
}

// PyTorch compares with one bound that is a number, which fails for NaN; of two bounds each may make the result NaN. Of
// equal operands the prims give the second: the input, so that -0.0 stays what it is between bounds of 0.0.
bool is_no_bound(const Arg& bound) {
  return bound.kind == ArgKind::real && std::isnan(bound.f);
}
Results clamp(Call& c) {
  c.require(c.has(1) || c.has(2), "at least one of min and max must be given");
  if (!c.has(1) || !c.has(2)) {
    const size_t bound = c.has(1) ? 1 : 2;
    if (is_no_bound(c.args[bound])) return promoted(c, {0, bound})[0];
    return c.builder.call(bound == 1 ? "maximum" : "minimum", {c.args[bound], c.var(0)});
  }
  auto v = promoted(c, {0, 1, 2});
  Var raised = c.builder.call(Prim::maximum, {v[1], v[0]});
  return c.builder.call(Prim::minimum, {v[2], raised});
}
// Elements inside of the bounds, and on them, pass the cotangent on; others give it to the bound that they met. NaN is
// neither, as in PyTorch.
void clamp_vjp(Grad& g) {
  Var dy = g.cotangent(), x = g.var(0);
  Builder& b = g.builder;
  Var inside, below, above;
  if (g.has(1)) below = b.call("lt", {x, g.args[1]}), inside = b.call("ge", {x, g.args[1]});
  if (g.has(2)) {
    Var low_enough = b.call("le", {x, g.args[2]});
    above = b.call("gt", {x, g.args[2]}), inside = inside ? inside * low_enough : low_enough;
  }
  if (below && above) {
    // If min exceeds max, the result is max for any input.
    if (g.wants(1) || g.wants(2)) {
      Var crossed = b.call("gt", {g.args[1], g.args[2]});
      above = above + crossed;
      below = below * b.call("logical_not", {crossed});
    }
  }
  if (g.wants(0)) g.add(0, sum_to(b.call("where", {inside, dy, 0.0}), g.type(0).shape));
  if (g.has(1) && g.wants(1)) g.add(1, sum_to(b.call("where", {below, dy, 0.0}), g.type(1).shape));
  if (g.has(2) && g.wants(2)) g.add(2, sum_to(b.call("where", {above, dy, 0.0}), g.type(2).shape));
}

void where_samples(Samples& s) {
  const TensorSpec condition{{2, 3}, DType::boolean, 0, 1};
  s.add({condition, TensorSpec{{2, 3}}, TensorSpec{{2, 3}}});
  s.add({condition, TensorSpec{{3}}, TensorSpec{{2, 1}, DType::f64}});
  s.add({condition, TensorSpec{{4, 1, 1}}, 0.5});
  s.add({condition, 1, TensorSpec{{}, DType::i64, -9, 9}});
  s.add({TensorSpec{{}, DType::boolean, 0, 1}, TensorSpec{{}}, TensorSpec{{}}});
  s.add({TensorSpec{{0, 3}, DType::boolean, 0, 1}, TensorSpec{{3}}, 0.0});
  s.refuse({TensorSpec{{2, 3}}, TensorSpec{{2, 3}}, TensorSpec{{2, 3}}}, "boolean");
  s.refuse({condition, TensorSpec{{4}}, TensorSpec{{2, 3}}}, "broadcast");
}
void clamp_samples(Samples& s) {
  s.add({TensorSpec{{2, 3}}, -0.5, 1.0});
  s.add({TensorSpec{{2, 3}}, SampleArg(), 0.25});
  s.add({TensorSpec{{2, 3}}, 0.25});
  s.add({TensorSpec{{2, 3}}, 0.5, -0.5});
  s.add({TensorSpec{{2, 3}}, TensorSpec{{3}}, TensorSpec{{2, 1}}});
  s.add({TensorSpec{{5}, DType::i64, -9, 9}, -2, 3});
  s.add({TensorSpec{{}, DType::f64}, -1.0, 1.0});
  s.add({TensorSpec{{0, 3}}, -1.0, 1.0});
  s.refuse({TensorSpec{{2, 3}}}, "min");
  s.refuse({TensorSpec{{2, 3}}, TensorSpec{{4}}, 1.0}, "broadcast");
}

constexpr OpRow kRows[] = {
    primitive("prims.where(tensor condition, tensor input, tensor other) -> tensor",
              "input where the condition holds, else other.", where_meta, where_kernel, where_vjp,
              kElementwise | kCheap),
    composite("where(tensor condition, tensor|number input, tensor|number other) -> tensor", CastPolicy::none,
              "input where the condition holds, else other; promotes and broadcasts.", where, where_samples, 0,
              {.vjp = broadcast_where_vjp}),
    composite("clamp(tensor input, tensor|number? min=None, tensor|number? max=None) -> tensor", CastPolicy::none,
              "input limited to [min, max]; max where min exceeds it, NaN stays. A lone NaN among numbers is no limit.",
              clamp, clamp_samples, kInplace, {.vjp = clamp_vjp}),
};

}  // namespace

extern const OpRows select_ops = kRows;

}  // namespace thunder
