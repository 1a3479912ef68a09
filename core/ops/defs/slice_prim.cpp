// The prim of strided slices, and the write through one.
#include "base/text.h"
#include "ir/dim_reads.h"
#include "ir/normal.h"
#include "ir/prim.h"
#include "ops/batch.h"
#include "ops/grad.h"
#include "ops/kernels.h"
#include "ops/samples.h"

namespace thunder {
namespace {

void slice_meta(const Call& c, Types& out) {
  TensorType t = c.type(0);
  auto starts = c.dims(1), ends = c.dims(2), strides = c.dims(3);
  c.require(starts.size() == t.rank() && ends.size() == t.rank() && strides.size() == t.rank(),
            "needs one start, end and stride for each of the input's ", t.rank(), " dims, got ", name(starts), ", ",
            name(ends), " and ", name(strides));
  for (size_t i = 0; i < t.rank(); i++) {
    const bool inside = is_at_most(0, starts[i]) && is_at_most(starts[i], ends[i]) && is_at_most(ends[i], t.shape[i]);
    c.require(inside, "dim ", i, " of size ", name(t.shape[i]), " has no range from ", name(starts[i]), " to ",
              name(ends[i]));
    c.require(is_less(0, strides[i]), "stride must be positive, got ", name(strides[i]), " for dim ", i);
    t.shape[i] = steps(starts[i], ends[i], strides[i]);
  }
  out.push(t);
}
template <class Size>
bool slice_view(std::span<const Size> sizes, std::span<const Arg> args, std::span<const Size> to, ViewAt<Size>& v) {
  for (size_t i = 0; i < sizes.size(); i++) {
    v.offset = v.offset + size_as<Size>(args[1].d[i]) * v.strides[i];
    // Along an axis of one element the step is irrelevant, and any step is accepted.
    if (is_less(1, to[i])) v.strides[i] = v.strides[i] * size_as<Size>(args[3].d[i]);
  }
  return true;
}
void slice_vjp(Grad& g) {
  g.add(0, g.builder.call(Prim::slice_scatter,
                          {full_like(g.var(0), 0), g.cotangent(), g.dims(1), g.dims(2), g.dims(3)}));
}
ValueId write_through_slice(Call& c, ValueId base, ValueId written) {
  Builder& b = c.builder;
  return b.call(Prim::slice_scatter, {b.var(base), b.var(written), c.dims(1), c.dims(2), c.dims(3)}).id;
}

Results batch_slice(Batch& b) {
  return b.invoke_same_op(
      {b.operand(0), b.with_front(0, b.dims(1)), b.with_front(b.size(), b.dims(2)), b.with_front(1, b.dims(3))});
}

using Ints = std::vector<int64_t>;
void slice_samples(Samples& s) {
  s.add({TensorSpec{{5, 4}}, Ints{1, 0}, Ints{5, 4}, Ints{2, 1}});
  s.add({TensorSpec{{5}}, Ints{2}, Ints{2}, Ints{1}});
  s.add({TensorSpec{{}}, Ints{}, Ints{}, Ints{}});
  s.refuse({TensorSpec{{5}}, Ints{2}, Ints{6}, Ints{1}}, "range");
  s.refuse({TensorSpec{{5}}, Ints{2}, Ints{4}, Ints{0}}, "stride");
}

constexpr OpRow kRows[] = {
    checked({.schema = "prims.slice(tensor input, int[] starts, int[] ends, int[] strides) -> tensor",
             .doc = "Every strides[i]-th element from starts[i] up to ends[i] of each dim i, without a copy.",
             .meta = slice_meta,
             .reference = copy_view<slice_view<int64_t>>,
             .vjp = slice_vjp,
             .batch = batch_slice,
             .view = {slice_view, slice_view},
             .write_through = write_through_slice,
             .samples = slice_samples,
             .tags = kLinear}),
};

}  // namespace

extern const OpRows slice_prim_ops = kRows;

}  // namespace thunder
