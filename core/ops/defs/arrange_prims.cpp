// The prims that put tensors beside and into each other: cat, pad, slice_scatter.
#include "base/text.h"
#include "ir/dim_reads.h"
#include "ir/normal.h"
#include "ir/prim.h"
#include "ir/same_size.h"
#include "ops/batch.h"
#include "ops/convert_elements.h"
#include "ops/grad.h"
#include "ops/kernels.h"
#include "ops/samples.h"

namespace thunder {
namespace {

// The part of `whole` that starts at `starts`, steps by `strides` (null: 1) and has the shape of `part`.
struct PadWindow {
  PadWindow(const Buffer& whole, const Buffer& part, const Dim* starts, const Dim* strides) : buffer(part) {
    int64_t offset = 0;
    for (int32_t i = 0; i < part.rank; i++) {
      offset += starts[i].value() * whole.strides[i];
      // A dim of one element may be given any step, which is not used.
      steps.push_back(whole.strides[i] * (strides && part.shape[i] > 1 ? strides[i].value() : 1));
    }
    buffer.data = whole.as<std::byte>() + offset * static_cast<int64_t>(size_of(whole.dtype));
    buffer.strides = steps.data();
  }
  PadWindow(const PadWindow&) = delete;
  Sizes steps;
  Buffer buffer;
};

Var slice_of(Var x, const Shape& starts, const Shape& ends) {
  return x.builder->call(Prim::slice, {x, starts, ends, Shape(x.rank(), 1)});
}

// ---- slice_scatter ----

void slice_scatter_meta(const Call& c, Types& out) {
  const TensorType &t = c.type(0), &src = c.type(1);
  auto starts = c.dims(2), ends = c.dims(3), strides = c.dims(4);
  c.require(t.dtype == src.dtype, "input and src must have one dtype; ", c.types());
  c.require(
      starts.size() == t.rank() && ends.size() == t.rank() && strides.size() == t.rank() && src.rank() == t.rank(),
      "needs one start, end and stride for each dim, and src of the input's rank; ", c.types());
  for (size_t i = 0; i < t.rank(); i++) {
    const bool inside = is_at_most(0, starts[i]) && is_at_most(starts[i], ends[i]) && is_at_most(ends[i], t.shape[i]);
    c.require(inside && is_less(0, strides[i]), "dim ", i, " of size ", name(t.shape[i]), " has no range from ",
              name(starts[i]), " to ", name(ends[i]), " by ", name(strides[i]));
    const Dim expected = steps(starts[i], ends[i], strides[i]);
    c.require(same_size(src.shape[i], expected), "src must have ", name(expected), " elements in dim ", i, ", got ",
              name(src.shape[i]), "; ", c.types());
  }
  out.push(t);
}
Status* slice_scatter_kernel(const KernelArgs& k) {
  const Buffer &in = k.in[0], &src = k.in[1], &out = k.out[0];
  if (in.data != out.data) copy_strided(in, out);
  if (src.elements() == 0) return nullptr;
  PadWindow window(out, src, k.args[2].d, k.args[4].d);
  copy_strided(src, window.buffer);
  return nullptr;
}
void slice_scatter_vjp(Grad& g) {
  auto starts = g.dims(2), ends = g.dims(3), strides = g.dims(4);
  Var ct = g.cotangent();
  if (g.wants(0)) g.add(0, g.builder.call(Prim::slice_scatter, {ct, full_like(g.var(1), 0), starts, ends, strides}));
  if (g.wants(1)) g.add(1, g.builder.call(Prim::slice, {ct, starts, ends, strides}));
}

// ---- cat ----

void cat_meta(const Call& c, Types& out) {
  auto parts = c.vars(0);
  c.require(!parts.empty(), "needs at least one tensor");
  TensorType t = parts[0].type();
  c.require(t.rank() > 0, "tensors of rank 0 cannot be concatenated");
  const size_t dim = c.axis(1, t.rank());
  for (size_t k = 1; k < parts.size(); k++) {
    const TensorType& p = parts[k].type();
    bool fits = p.rank() == t.rank() && p.dtype == t.dtype && p.device == t.device;
    for (size_t i = 0; fits && i < t.rank(); i++) fits = i == dim || same_size(p.shape[i], t.shape[i]);
    c.require(fits, "tensors must agree in all but dim ", dim, ": tensor 0 is ", name(parts[0].type()), ", tensor ", k,
              " is ", name(p));
    t.shape[dim] = t.shape[dim] + p.shape[dim];
  }
  out.push(t);
}
Status* cat_kernel(const KernelArgs& k) {
  const Buffer& out = k.out[0];
  const auto rank = static_cast<size_t>(out.rank);
  const size_t dim = normalize_axis(k.args[1].i, rank);
  Shape starts(rank, 0);
  int64_t at = 0;
  for (const Buffer& part : k.in) {
    starts[dim] = at;
    at += part.shape[dim];
    if (part.elements() == 0) continue;
    PadWindow window(out, part, starts.data(), nullptr);
    copy_strided(part, window.buffer);
  }
  return nullptr;
}
void cat_vjp(Grad& g) {
  auto parts = g.vars(0);
  const size_t dim = g.axis(1, parts[0].rank());
  Dim at = 0;
  for (size_t k = 0; k < parts.size(); k++) {
    Shape starts(parts[k].rank(), 0), ends = parts[k].shape();
    starts[dim] = at;
    at = ends[dim] = at + parts[k].shape()[dim];
    if (g.wants(0, k)) g.add(0, k, slice_of(g.cotangent(), starts, ends));
  }
}

// ---- pad ----

void pad_meta(const Call& c, Types& out) {
  TensorType t = c.type(0);
  auto low = c.dims(1), high = c.dims(2);
  c.require(low.size() == t.rank() && high.size() == t.rank(), "needs one low and one high for each of the input's ",
            t.rank(), " dims, got ", name(low), " and ", name(high));
  for (size_t i = 0; i < t.rank(); i++) {
    c.require(is_at_most(0, low[i]) && is_at_most(0, high[i]), "padding must not be negative, got ", name(low), " and ",
              name(high));
    t.shape[i] = low[i] + t.shape[i] + high[i];
  }
  out.push(t);
}
Status* pad_kernel(const KernelArgs& k) {
  const Buffer &in = k.in[0], &out = k.out[0];
  fill_elements(out, k.args[3]);
  if (in.elements() == 0) return nullptr;
  PadWindow window(out, in, k.args[1].d, nullptr);
  copy_strided(in, window.buffer);
  return nullptr;
}
void pad_vjp(Grad& g) {
  Shape starts(g.dims(1)), ends = g.type(0).shape;
  for (size_t i = 0; i < ends.size(); i++) ends[i] = starts[i] + ends[i];
  g.add(0, slice_of(g.cotangent(), starts, ends));
}

// ---- over a batch ----

Results batch_slice_scatter(Batch& b) {
  return b.invoke_same_op({b.operand(0), b.operand(1), b.with_front(0, b.dims(2)), b.with_front(b.size(), b.dims(3)),
                           b.with_front(1, b.dims(4))});
}
Results batch_pad(Batch& b) {
  return b.invoke_same_op({b.operand(0), b.with_front(0, b.dims(1)), b.with_front(0, b.dims(2)), b.real(3)});
}

// ---- samples ----

std::vector<int64_t> int_list(std::initializer_list<int64_t> list) {
  return list;
}

void slice_scatter_samples(Samples& s) {
  s.add({TensorSpec{{5, 4}}, TensorSpec{{2, 4}}, int_list({1, 0}), int_list({5, 4}), int_list({2, 1})});
  s.add({TensorSpec{{5}}, TensorSpec{{0}}, int_list({2}), int_list({2}), int_list({1})});
  s.add({TensorSpec{{}}, TensorSpec{{}}, int_list({}), int_list({}), int_list({})});
  s.refuse({TensorSpec{{5}}, TensorSpec{{3}}, int_list({0}), int_list({2}), int_list({1})}, "src must have 2");
  s.refuse({TensorSpec{{5}}, TensorSpec{{1}}, int_list({5}), int_list({6}), int_list({1})}, "range");
}
void sample_cats(Samples& s) {
  s.add({std::vector<TensorSpec>{{{2, 3}}, {{2, 1}}, {{2, 0}}}, 1});
  s.add({std::vector<TensorSpec>{{{2, 3}}}, -2});
  s.refuse({std::vector<TensorSpec>{{{2, 3}}, {{3, 3}}}, 1}, "agree");
  s.refuse({std::vector<TensorSpec>{}, 0}, "at least one");
}
void sample_pads(Samples& s) {
  s.add({TensorSpec{{2, 3}}, int_list({1, 0}), int_list({0, 2}), 1.5});
  s.add({TensorSpec{{0}}, int_list({1}), int_list({1}), 0.0});
  s.refuse({TensorSpec{{2}}, int_list({-1}), int_list({0}), 0.0}, "negative");
}

constexpr OpRow kRows[] = {
    primitive("prims.slice_scatter(tensor input, tensor src, int[] starts, int[] ends, int[] strides) -> tensor",
              "A copy of input in which the elements that prims.slice would view are src's.", slice_scatter_meta,
              slice_scatter_kernel, slice_scatter_vjp, kLinear | kAnyElement,
              {.batch = batch_slice_scatter, .samples = slice_scatter_samples}),
    primitive("prims.cat(tensor[] tensors, int dim) -> tensor", "The tensors one behind the other along dim.", cat_meta,
              cat_kernel, cat_vjp, kLinear | kAnyElement, {.samples = sample_cats}),
    primitive("prims.pad(tensor input, int[] low, int[] high, float value) -> tensor",
              "low[i] elements of value before and high[i] behind those of dim i.", pad_meta, pad_kernel, pad_vjp,
              kAnyElement, {.batch = batch_pad, .samples = sample_pads}),
};

}  // namespace

extern const OpRows arrange_prims_ops = kRows;

}  // namespace thunder
