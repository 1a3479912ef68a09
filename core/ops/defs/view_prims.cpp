// The prims that give another view of the same elements where strides allow, and the writes through them.
#include "base/text.h"
#include "ir/same_size.h"
#include "ops/batch.h"
#include "ops/grad.h"
#include "ops/kernels.h"
#include "ops/samples.h"

namespace thunder {
namespace {

// ---- reshape ----

void reshape_meta(const Call& c, Types& out) {
  TensorType t = c.type(0);
  t.shape = Shape(c.dims(1));
  c.require(same_elements(t.shape, c.type(0).shape), "shape ", name(t.shape), " has ", name(elements(t.shape)),
            " elements, the input ", name(c.type(0)), " has ", name(elements(c.type(0).shape)));
  out.push(t);
}

// Axes that lie in memory as one run can be split and merged at will; others keep their own stride.
template <class Size>
bool reshape_view(std::span<const Size> sizes, std::span<const Arg>, std::span<const Size> to, ViewAt<Size>& v) {
  SmallVector<Size, 6> strides(to.size(), 1);
  // Walk both shapes from the back, a run of input axes at a time.
  size_t next = to.size();
  for (size_t i = sizes.size(); i-- > 0;) {
    if (is_equal(sizes[i], 1)) continue;
    Size run = sizes[i], base = v.strides[i];
    const auto joins = [&](size_t axis) { return is_equal(sizes[axis], 1) || is_equal(v.strides[axis], base * run); };
    while (i > 0 && joins(i - 1)) run = run * sizes[--i];
    Size filled = 1;
    while (next > 0 && is_less(filled, run)) {
      const Size more = filled * to[next - 1];
      if (!is_equal(run, more) && !is_equal(run % more, 0)) return false;
      next--;
      strides[next] = base * filled;
      filled = more;
    }
    if (!is_equal(filled, run)) return false;
  }
  while (next > 0) strides[--next] = 1;
  v.strides = strides;
  return true;
}

// ---- permute ----

void permute_meta(const Call& c, Types& out) {
  const TensorType& t = c.type(0);
  c.require(c.dims(1).size() == t.rank(), "needs one dim for each of the input's ", t.rank(), ", got ",
            name(c.dims(1)));
  TensorType r = t;
  SmallVector<bool, 8> seen(t.rank(), false);
  for (size_t i = 0; i < t.rank(); i++) {
    const size_t from = normalize_axis(hint(c.dims(1)[i]), t.rank());
    c.require(!seen[from], "dim ", from, " appears twice in ", name(c.dims(1)));
    seen[from] = true;
    r.shape[i] = t.shape[from];
  }
  out.push(r);
}
template <class Size>
bool permute_view(std::span<const Size> sizes, std::span<const Arg> args, std::span<const Size>, ViewAt<Size>& v) {
  SmallVector<Size, 6> strides;
  for (Dim d : args[1].dim_list()) strides.push_back(v.strides[normalize_axis(d.value(), sizes.size())]);
  v.strides = strides;
  return true;
}
Shape invert_order(std::span<const Dim> order) {
  Shape back(order.size(), 0);
  for (size_t i = 0; i < order.size(); i++)
    back[normalize_axis(order[i].value(), order.size())] = static_cast<int64_t>(i);
  return back;
}

// ---- expand ----

void expand_meta(const Call& c, Types& out) {
  TensorType t = c.type(0);
  auto to = c.dims(1);
  bool fits = to.size() >= t.rank();
  for (size_t i = 0; fits && i < t.rank(); i++) {
    Dim from = t.shape[i], d = to[to.size() - t.rank() + i];
    fits = from == Dim(1) || same_size(from, d);
  }
  c.require(fits, "input ", name(t), " cannot be expanded to ", name(to));
  t.shape = Shape(to);
  out.push(t);
}
template <class Size>
bool expand_view(std::span<const Size> sizes, std::span<const Arg>, std::span<const Size> to, ViewAt<Size>& v) {
  SmallVector<Size, 6> strides(to.size(), 0);
  const size_t lead = to.size() - sizes.size();
  for (size_t i = 0; i < sizes.size(); i++) {
    const bool repeats = is_equal(sizes[i], 1) && !is_equal(to[lead + i], 1);
    strides[lead + i] = repeats ? Size(0) : v.strides[i];
  }
  v.strides = strides;
  return true;
}

// An axis of size 1 that is expanded to 0 or 1 still has an element in memory for every element of the result.
ValueId write_through_expand(Call& c, ValueId base, ValueId written) {
  Dim repeats = 1;
  const Shape &from = c.type(0).shape, to = Shape(c.dims(1));
  for (size_t i = 0; i < to.size(); i++) {
    const size_t lead = to.size() - from.size();
    if (i < lead || !(from[i - lead] == to[i])) repeats = repeats * to[i];
  }
  if (repeats == Dim(0)) return base;
  require(repeats == Dim(1), kExpanded);
  return reshape_to(c.builder.var(written), from).id;
}

// ---- contiguous ----

template <class Size>
bool contiguous_view(std::span<const Size> sizes, std::span<const Arg>, std::span<const Size>, ViewAt<Size>& v) {
  return is_dense(sizes, v.strides);
}

// ---- over a batch ----

Results batch_reshape(Batch& b) { return b.invoke_same_op({b.operand(0), b.with_front(b.size(), b.dims(1))}); }
Results batch_permute(Batch& b) {
  return b.invoke_same_op({b.operand(0), b.with_front(0, b.shifted(b.dims(1), b.rank(0)))});
}
// The dims that expand adds come behind that of the batch.
Results batch_expand(Batch& b) {
  Var x = b.operand(0);
  Shape from(b.dims(1).size() - b.rank(0) + 1, 1);
  from[0] = b.size();
  for (size_t i = 1; i < x.rank(); i++) from.push_back(x.shape()[i]);
  return b.invoke_same_op({reshape_to(x, from), b.with_front(b.size(), b.dims(1))});
}
std::vector<int64_t> ints(std::initializer_list<int64_t> list) { return list; }

void reshape_samples(Samples& s) {
  s.add({TensorSpec{{2, 6}}, ints({3, 4})});
  s.add({TensorSpec{{}}, ints({1, 1})});
  s.add({TensorSpec{{2, 0}}, ints({0, 5})});
  s.refuse({TensorSpec{{2, 3}}, ints({4})}, "elements");
}
void permute_samples(Samples& s) {
  s.add({TensorSpec{{2, 3, 4}}, ints({2, 0, 1})});
  s.add({TensorSpec{{}}, ints({})});
  s.refuse({TensorSpec{{2, 3}}, ints({0, 0})}, "twice");
  s.refuse({TensorSpec{{2, 3}}, ints({0})}, "one dim for each");
}
void expand_samples(Samples& s) {
  s.add({TensorSpec{{3, 1}}, ints({2, 3, 4})});
  s.add({TensorSpec{{}}, ints({2})});
  s.add({TensorSpec{{1}}, ints({0})});
  s.refuse({TensorSpec{{2}}, ints({3})}, "expanded");
}
constexpr OpRow kRows[] = {
    checked({.schema = "prims.reshape(tensor input, int[] shape) -> tensor",
             .doc = "The same elements in row-major order under another shape.",
             .meta = reshape_meta,
             .reference = copy_in_order,
             .vjp = [](Grad& g) { g.add(0, reshape_to(g.cotangent(), g.type(0).shape)); },
             .batch = batch_reshape,
             .view = {reshape_view, reshape_view},
             .write_through = [](Call& c, ValueId,
                                 ValueId written) { return reshape_to(c.builder.var(written), c.type(0).shape).id; },
             .samples = reshape_samples,
             .tags = kLinear}),
    checked({.schema = "prims.permute(tensor input, int[] dims) -> tensor",
             .doc = "Axes in another order.",
             .meta = permute_meta,
             .reference = copy_view<permute_view<int64_t>>,
             .vjp = [](Grad& g) { g.add(0, permute_to(g.cotangent(), invert_order(g.dims(1)))); },
             .batch = batch_permute,
             .view = {permute_view, permute_view},
             .write_through =
                 [](Call& c, ValueId, ValueId written) {
                   return permute_to(c.builder.var(written), invert_order(c.dims(1))).id;
                 },
             .samples = permute_samples,
             .tags = kLinear}),
    checked({.schema = "prims.expand(tensor input, int[] shape) -> tensor",
             .doc = "Repeats axes of size 1, and adds leading ones, without a copy.",
             .meta = expand_meta,
             .reference = copy_view<expand_view<int64_t>>,
             .vjp = [](Grad& g) { g.add(0, sum_to(g.cotangent(), g.type(0).shape)); },
             .batch = batch_expand,
             .view = {expand_view, expand_view},
             .write_through = write_through_expand,
             .samples = expand_samples,
             .tags = kLinear}),
    checked({.schema = "prims.contiguous(tensor input) -> tensor",
             .doc = "The input itself if it is dense, else a dense copy.",
             .meta = [](const Call& c, Types& out) { out.push(c.type(0)); },
             .reference = copy_dense,
             .vjp = [](Grad& g) { g.add(0, g.cotangent()); },
             .batch = [](Batch& b) { return b.invoke_same_op({b.operand(0)}); },
             .view = {contiguous_view, contiguous_view},
             .write_through = [](Call&, ValueId, ValueId written) { return written; },
             .samples =
                 [](Samples& s) {
                   s.add({TensorSpec{{2, 3}}});
                 },
             .tags = kLinear}),
    checked({.schema = "prims.alias(tensor input) -> tensor",
             .doc = "A view of all of the input, which is another tensor.",
             .meta = [](const Call& c, Types& out) { out.push(c.type(0)); },
             .reference = copy_dense,
             .vjp = [](Grad& g) { g.add(0, g.cotangent()); },
             .view = {same_view, same_view},
             .write_through = [](Call&, ValueId, ValueId written) { return written; },
             .samples =
                 [](Samples& s) {
                   s.add({TensorSpec{{2, 3}}});
                 },
             .tags = kElementwise | kLinear}),
    checked({.schema = "prims.clone(tensor input) -> tensor",
             .doc = "A dense copy.",
             .meta = [](const Call& c, Types& out) { out.push(c.type(0)); },
             .reference = copy_dense,
             .vjp = [](Grad& g) { g.add(0, g.cotangent()); },
             .samples =
                 [](Samples& s) {
                   s.add({TensorSpec{{2, 3}}});
                 },
             .tags = kElementwise}),
};

}  // namespace

extern const OpRows view_prims_ops = kRows;

}  // namespace thunder
