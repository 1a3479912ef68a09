// The prim that multiplies by index, or keeps the greater or lesser: scatter_reduce.
#include "ir/dim_reads.h"
#include "ops/builder.h"
#include "ops/indices.h"
#include "ops/tables.h"
#include "ops/updates.h"

namespace thunder {
namespace {

void scatter_reduce_meta(const Call& c, Types& out) {
  const TensorType& t = c.type(0);
  require_index(c, 2);
  require_along(c, t, c.type(2), c.axis(1, t.rank()));
  c.require(t.dtype == c.type(3).dtype, "input and src must have one dtype; ", c.types());
  const TensorType &index = c.type(2), &src = c.type(3);
  c.require(src.rank() == index.rank(), "src must have the rank of index; ", c.types());
  for (size_t i = 0; i < index.rank(); i++)
    c.require(is_at_most(index.shape[i], src.shape[i]), "src must be at least as large as index; ", c.types());
  c.require(c.text(4) == "prod" || c.text(4) == "amax" || c.text(4) == "amin",
            "reduce must be 'prod', 'amax' or 'amin', got '", c.text(4), "'");
  out.push(t);
}
// into = join(into, src) at the indices, in order.
template <class T, class F>
void join_some(const Buffer& out, const Buffer& index, const Buffer& src, size_t dim, F join) {
  using C = Compute<T>;
  const int64_t stride = out.rank ? out.strides[dim] : 0;
  const Reshaped to = with_zero_stride(out, index, dim);
  Rows<3> rows(index, {&index, &src, &to.buffer});
  for (int64_t r = 0; r < rows.rows(); r++, rows.next())
    for (int64_t i = 0; i < rows.row(); i++) {
      const int64_t at = index_at(index, rows.offset[0] + i * rows.step[0]);
      T& into = out.as<T>()[rows.offset[2] + i * rows.step[2] + at * stride];
      into = static_cast<T>(join(static_cast<C>(into), static_cast<C>(src.as<T>()[rows.offset[1] + i * rows.step[1]])));
    }
}
Status* reduce_some(const KernelArgs& k, size_t dim, size_t along, int64_t begin, int64_t end) {
  const Some in(k.in[0], along, begin, end), index(k.in[1], along, begin, end), src(k.in[2], along, begin, end),
      out(k.out[0], along, begin, end);
  if (in.buffer.data != out.buffer.data) copy_strided(in.buffer, out.buffer);
  const std::string_view how = k.args[4].text();
  by_dtype(out.buffer.dtype, [&](auto t) {
    using T = decltype(t);
    using C = Compute<T>;
    const auto joined = [&](auto join) { join_some<T>(out.buffer, index.buffer, src.buffer, dim, join); };
    if (how == "prod") joined([](C a, C b) { return wrapping(a, b, [](auto x, auto y) { return x * y; }); });
    else if (how == "amax") joined([](C a, C b) { return a > b || a != a ? a : b; });
    else joined([](C a, C b) { return a < b || a != a ? a : b; });
  });
  return nullptr;
}
Status* scatter_reduce_kernel(const KernelArgs& k) {
  if (k.out[0].rank == 0) {
    const Sizes one = {1};
    const Reshaped in(k.in[0], one, one), index(k.in[1], one, one), src(k.in[2], one, one), out(k.out[0], one, one);
    const Buffer inputs[] = {in.buffer, index.buffer, src.buffer};
    return scatter_reduce_kernel({inputs, {&out.buffer, 1}, k.args, k.op, k.threads});
  }
  const size_t dim = normalize_axis(k.args[1].i, static_cast<size_t>(k.out[0].rank));
  if (Status* refused = check_all("prims.scatter_reduce", k.in[1], dim, k.out[0].shape[dim])) return refused;
  return update_all(k, dim, reduce_some);
}
// A factor's gradient is the product of the other factors: if one factor is 0, the product of the rest goes to it and 0
// to all others.
void scatter_product_vjp(Grad& g) {
  Builder& b = g.builder;
  Var index = g.var(2), dy = computed(g.cotangent()), x = computed(g.var(0));
  const Shape starts(index.rank(), 0), steps(index.rank(), 1);
  Var src = computed(b.call(Prim::slice, {g.var(3), starts, index.shape(), steps}));
  const auto along = [&](Var v) { return b.call(Prim::gather, {v, g.integer(1), index}); };
  Var own_zero = eq(x, 0.0), src_zero = eq(src, 0.0);
  Var own = where(own_zero, 1.0, x), factor = where(src_zero, 1.0, src);
  Var product = dy * b.call(Prim::scatter_reduce, {own, g.integer(1), index, factor, "prod"});
  Var zeros =
      b.call(Prim::scatter_add, {convert(own_zero, x.dtype()), g.integer(1), index, convert(src_zero, x.dtype())});
  Var to_zero = where(eq(zeros, 1.0), product, 0.0), to_others = where(eq(zeros, 0.0), product, 0.0);
  if (g.wants(0)) g.add(0, where(own_zero, to_zero, to_others / own));
  if (!g.wants(3)) return;
  Var to_src = where(src_zero, along(to_zero), along(to_others) / factor);
  g.add(3, b.call(Prim::slice_scatter,
                  {convert(full_like(g.var(3), 0), dy.dtype()), to_src, starts, index.shape(), steps}));
}
// Elements that share an extremum share the cotangent.
void scatter_reduce_vjp(Grad& g) {
  Builder& b = g.builder;
  if (g.text(4) == "prod") return scatter_product_vjp(g);
  Var index = g.var(2), y = g.result(), dy = computed(g.cotangent());
  const auto along = [&](Var x) { return b.call(Prim::gather, {x, g.integer(1), index}); };
  Shape starts(index.rank(), 0), steps(index.rank(), 1);
  Var src = b.call(Prim::slice, {g.var(3), starts, index.shape(), steps});
  Var own = convert(eq(g.var(0), y), dy.dtype()), hit = convert(eq(src, along(y)), dy.dtype());
  Var ties = b.call(Prim::scatter_add, {own, g.integer(1), index, hit}), share = dy / ties;
  if (g.wants(0)) g.add(0, own * share);
  if (g.wants(3)) {
    Var to_src = hit * along(share);
    g.add(3, b.call(Prim::slice_scatter,
                    {convert(full_like(g.var(3), 0), dy.dtype()), to_src, starts, index.shape(), steps}));
  }
}

void prim_samples(Samples& s) {
  for (const char* how : {"prod", "amax", "amin"})
    s.add_without_gradient({TensorSpec{{3, 4}}, 1, below({3, 2}, 4), TensorSpec{{3, 2}}, how});
  s.add({TensorSpec{{3, 4}}, 0, below({2, 4}, 3), TensorSpec{{2, 4}}, "amax"});
  s.refuse({TensorSpec{{3}}, 0, below({2}, 3), TensorSpec{{2}}, "sum"}, "'sum'");
}
constexpr OpRow kScatterPrims =
    primitive("prims.scatter_reduce(tensor input, int dim, tensor index, tensor src, str reduce) -> tensor",
              "A copy of input in which the elements at index along dim are multiplied by src's, or replaced by "
              "the greater or lesser.",
              scatter_reduce_meta, scatter_reduce_kernel, scatter_reduce_vjp, kChecksData, {.samples = prim_samples});

}  // namespace

extern const OpRows scatter_prims_ops = {&kScatterPrims, 1};

}  // namespace thunder
