// The prims that only rearrange: views where strides allow, and the writes through them.
#include "base/text.h"
#include "ops/grad.h"
#include "ops/kernels.h"
#include "ops/samples.h"

namespace thunder {
namespace {

Status* copy(const Kernel& k) {
  copy_strided(k.in[0], k.out[0]);
  return nullptr;
}

// ---- reshape ----

void reshape_meta(const Call& c, Types& out) {
  TensorType t = c.type(0);
  t.shape = Shape(c.dims(1));
  c.require(elements(t.shape) == elements(c.type(0).shape), "shape ", name(t.shape), " has ", name(elements(t.shape)),
            " elements, the input ", name(c.type(0)), " has ", name(elements(c.type(0).shape)));
  out.push(t);
}

// Axes that lie in memory as one run can be split and merged at will; others keep their own stride.
bool reshape_view(std::span<const int64_t> sizes, std::span<const Arg>, std::span<const int64_t> to, ViewOf& v) {
  Sizes strides(to.size(), 1);
  int64_t total = 1;
  for (int64_t n : sizes) total *= n;
  if (total == 0) {
    int64_t step = 1;
    for (size_t i = to.size(); i-- > 0; step *= std::max<int64_t>(1, to[i])) strides[i] = step;
    v.strides = strides;
    return true;
  }
  // Walk both shapes from the back, a run of input axes at a time.
  size_t next = to.size();
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] == 1) continue;
    int64_t run = sizes[i], base = v.strides[i];
    while (i > 0 && (sizes[i - 1] == 1 || v.strides[i - 1] == base * run)) run *= sizes[--i];
    int64_t filled = 1;
    while (next > 0 && filled < run) {
      if (run % (filled * to[next - 1])) return false;
      next--;
      strides[next] = base * filled;
      filled *= to[next];
    }
    if (filled != run) return false;
  }
  while (next > 0) strides[--next] = 1;
  v.strides = strides;
  return true;
}

Status* reshape_copy(const Kernel& k) {
  // The input seen through its own shape, written in order into the dense output.
  Sizes dense(static_cast<size_t>(k.in[0].rank), 1);
  int64_t step = 1;
  for (size_t i = dense.size(); i-- > 0; step *= std::max<int64_t>(1, k.in[0].shape[i])) dense[i] = step;
  Buffer to = k.in[0];
  to.data = k.out[0].data;
  to.strides = dense.data();
  copy_strided(k.in[0], to);
  return nullptr;
}

// ---- permute ----

void permute_meta(const Call& c, Types& out) {
  const TensorType& t = c.type(0);
  c.require(c.dims(1).size() == t.rank(), "needs one dim for each of the input's ", t.rank(), ", got ", name(c.dims(1)));
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
bool permute_view(std::span<const int64_t> sizes, std::span<const Arg> args, std::span<const int64_t>, ViewOf& v) {
  Sizes strides;
  for (Dim d : args[1].dim_list()) strides.push_back(v.strides[normalize_axis(d.value(), sizes.size())]);
  v.strides = strides;
  return true;
}
Shape inverse(std::span<const Dim> order) {
  Shape back(order.size(), 0);
  for (size_t i = 0; i < order.size(); i++) back[normalize_axis(order[i].value(), order.size())] = static_cast<int64_t>(i);
  return back;
}
Status* permute_copy(const Kernel& k) {
  Sizes strides;
  for (Dim d : k.args[1].dim_list()) strides.push_back(k.in[0].strides[normalize_axis(d.value(), static_cast<size_t>(k.in[0].rank))]);
  Buffer from = k.in[0];
  from.shape = k.out[0].shape;
  from.strides = strides.data();
  copy_strided(from, k.out[0]);
  return nullptr;
}

// ---- expand ----

void expand_meta(const Call& c, Types& out) {
  TensorType t = c.type(0);
  auto to = c.dims(1);
  bool fits = to.size() >= t.rank();
  for (size_t i = 0; fits && i < t.rank(); i++) {
    Dim from = t.shape[i], d = to[to.size() - t.rank() + i];
    fits = from == d || from == Dim(1);
  }
  c.require(fits, "input ", name(t), " cannot be expanded to ", name(to));
  t.shape = Shape(to);
  out.push(t);
}
bool expand_view(std::span<const int64_t> sizes, std::span<const Arg>, std::span<const int64_t> to, ViewOf& v) {
  Sizes strides(to.size(), 0);
  const size_t lead = to.size() - sizes.size();
  for (size_t i = 0; i < sizes.size(); i++) strides[lead + i] = sizes[i] == 1 && to[lead + i] != 1 ? 0 : v.strides[i];
  v.strides = strides;
  return true;
}
Status* expand_copy(const Kernel& k) {
  ViewOf v;
  const auto rank = static_cast<size_t>(k.in[0].rank);
  v.strides.assign(k.in[0].strides, k.in[0].strides + rank);
  expand_view({k.in[0].shape, rank}, k.args, {k.out[0].shape, static_cast<size_t>(k.out[0].rank)}, v);
  Buffer from = k.out[0];
  from.data = k.in[0].data;
  from.strides = v.strides.data();
  copy_strided(from, k.out[0]);
  return nullptr;
}

constexpr OpRow kRows[] = {
    checked({.schema = "prims.reshape(tensor input, int[] shape) -> tensor", .doc = "The same elements in row-major order under another shape.",
             .meta = reshape_meta, .reference = reshape_copy,
             .vjp = [](Grad& g) { g.add(0, reshape_to(g.cotangent(), g.type(0).shape)); }, .view = reshape_view,
             .write_through = [](Call& c, ValueId, ValueId written) { return reshape_to(c.builder.var(written), c.type(0).shape).id; }}),
    checked({.schema = "prims.permute(tensor input, int[] dims) -> tensor", .doc = "Axes in another order.", .meta = permute_meta,
             .reference = permute_copy,
             .vjp = [](Grad& g) { g.add(0, permute_to(g.cotangent(), inverse(g.dims(1)))); }, .view = permute_view,
             .write_through = [](Call& c, ValueId, ValueId written) { return permute_to(c.builder.var(written), inverse(c.dims(1))).id; }}),
    checked({.schema = "prims.expand(tensor input, int[] shape) -> tensor", .doc = "Repeats axes of size 1, and adds leading ones, without a copy.",
             .meta = expand_meta, .reference = expand_copy, .vjp = [](Grad& g) { g.add(0, sum_to(g.cotangent(), g.type(0).shape)); },
             .view = expand_view,
             .write_through = [](Call&, ValueId, ValueId) -> ValueId {
               fail(Code::invalid_argument, "cannot write in place to an expanded tensor: several of its elements share one place in memory; clone it first");
             }}),
    checked({.schema = "prims.clone(tensor input) -> tensor", .doc = "A dense copy.",
             .meta = [](const Call& c, Types& out) { out.push(c.type(0)); }, .reference = copy,
             .vjp = [](Grad& g) { g.add(0, g.cotangent()); }, .tags = kElementwise}),
};

}  // namespace

void register_shape_prims(Registry& r) {
  for (auto& row : kRows) r.add(row);
}

}  // namespace thunder
