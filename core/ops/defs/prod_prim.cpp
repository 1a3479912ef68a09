// The prim of products over a dim.
#include "ops/fold.h"
#include "ops/lines.h"
#include "ops/tables.h"

namespace thunder {
namespace {

void prod_meta(const Call& c, Types& out) {
  TensorType t = c.type(0);
  if (t.rank()) t.shape.erase(c.axis(1, t.rank()));
  else c.axis(1, 0);
  out.push(t);
}
Status* prod_kernel(const KernelArgs& k) {
  const Dim axis = k.args[1].i;
  by_dtype(k.out[0].dtype, [&](auto t) {
    using T = decltype(t);
    fold<ProductFold<T>, T, T>(k.in[0], k.out[0], k.in[0].rank ? std::span(&axis, 1) : std::span<const Dim>());
  });
  return nullptr;
}
// The product of the other elements: of those before times that of those behind.
void prod_vjp(Grad& g) {
  Var x = g.var(0), dy = g.cotangent();
  const size_t rank = x.rank();
  if (rank == 0) return g.add(0, dy);
  const auto axis = static_cast<int64_t>(g.axis(1, rank));
  const auto at = static_cast<size_t>(axis);
  Shape kept = x.shape();
  kept[at] = 1;
  Builder& b = g.builder;
  Var one = expand_to(full(b, {}, 1, x.dtype(), x.type().device), kept);
  const auto exclusive = [&](bool reverse) {
    Shape starts(rank, 0), ends = x.shape(), steps(rank, 1);
    if (reverse) starts[at] = 1;
    else ends[at] = ends[at] - 1;
    Var others = b.call(Prim::cumprod, {b.call(Prim::slice, {x, starts, ends, steps}), axis, reverse});
    ValueList parts = reverse ? ValueList{others.id, one.id} : ValueList{one.id, others.id};
    return b.call(Prim::cat, {parts, axis});
  };
  if (x.shape()[at] == Dim(0)) return g.add(0, full_like(x, 0));
  g.add(0, expand_to(reshape_to(dy, kept), x.shape()) * exclusive(false) * exclusive(true));
}

constexpr OpRow kRows[] = {
    primitive("prims.prod(tensor input, int dim) -> tensor",
              "Product along dim, which vanishes; f32 and bf16 are multiplied in a wider type.", prod_meta, prod_kernel,
              prod_vjp, kReduction),
};

}  // namespace

extern const OpRows prod_prim_ops = kRows;

}  // namespace thunder
