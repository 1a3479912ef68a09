// Parts of a tensor as views under PyTorch's names: slice, select, split, chunk.
#include "ir/dim_reads.h"
#include "ir/prim.h"
#include "ops/bounds.h"
#include "ops/grad.h"
#include "ops/samples.h"

namespace thunder {
namespace {

Var slice_along(Var x, size_t dim, Dim start, Dim end, int64_t step) {
  Shape starts(x.rank(), 0), ends = x.shape(), strides(x.rank(), 1);
  starts[dim] = start, ends[dim] = end, strides[dim] = step;
  return x.builder->call(Prim::slice, {x, starts, ends, strides});
}

Results slice(Call& c) {
  Var x = c.var(0);
  c.require(x.rank() > 0, "a tensor of rank 0 cannot be sliced");
  c.require(c.integer(4) > 0, "step must be positive, got ", c.integer(4));
  const size_t dim = c.axis(1, x.rank());
  const Dim size = x.shape()[dim];
  const Dim start = c.has(2) ? bound(c.integer_dim(2), size) : Dim(0);
  const Dim end = c.has(3) ? bound(c.integer_dim(3), size) : size;
  return slice_along(x, dim, start, is_less(end, start) ? start : end, c.integer(4));
}

Results select(Call& c) {
  Var x = c.var(0);
  c.require(x.rank() > 0, "a tensor of rank 0 has no dim to select from");
  const size_t dim = c.axis(1, x.rank());
  const Dim size = x.shape()[dim];
  const Dim index = c.integer_dim(2);
  const Dim at = is_less(index, 0) ? size + index : index;
  if (!is_less(at, size) || !is_at_most(0, at)) fail_out_of_range(c, index, dim, size);
  Shape shape = x.shape();
  shape.erase(dim);
  return reshape_to(slice_along(x, dim, at, at + 1, 1), shape);
}

void push_part(Results& parts, Var x, size_t dim, Dim start, Dim length) {
  parts.push_back(slice_along(x, dim, start, start + length, 1).id);
}

Dim size_to_split(const Call& c, Var x, size_t dim) {
  c.require(x.rank() > 0, "a tensor of rank 0 cannot be split");
  return x.shape()[dim];
}

// More parts than any program needs, but few enough for memory: an expanded dim may have any size.
constexpr int64_t kMostParts = 1 << 20;

// The number of parts for the sizes seen while tracing.
void split_evenly(const Call& c, Results& parts, Var x, size_t dim, Dim size, Dim length) {
  const int64_t whole = hint(size), each = hint(length);
  const int64_t count = each ? std::max<int64_t>(1, whole / each + (whole % each != 0)) : 1;
  c.require(count <= kMostParts, "parts of ", name(length), " make ", count, " of dim ", dim, " of size ", name(size),
            "; at most ", kMostParts, " are possible");
  for (int64_t i = 0; i < count; i++) {
    const Dim start = length * Dim(i);
    push_part(parts, x, dim, start, i + 1 < count ? length : size - start);
  }
}

Results split(Call& c) {
  Var x = c.var(0);
  auto sizes = c.dims(1);
  const size_t dim = c.axis(2, x.rank());
  const Dim size = size_to_split(c, x, dim);
  for (Dim d : sizes) c.require(is_at_most(0, d), "split_size must not be negative, got ", name(sizes));
  Results parts;
  if (sizes.size() == 1) {
    c.require(is_less(0, sizes[0]) || size == Dim(0), "split_size 0 would never cover dim ", dim, " of size ",
              name(size));
    split_evenly(c, parts, x, dim, size, sizes[0]);
    return parts;
  }
  Dim at = 0;
  for (Dim d : sizes) at = at + d;
  c.require(is_equal(at, size), "sizes ", name(sizes), " sum to ", name(at), ", dim ", dim, " has size ",
            name(size));
  at = 0;
  for (Dim d : sizes) push_part(parts, x, dim, at, d), at = at + d;
  return parts;
}

Results chunk(Call& c) {
  Var x = c.var(0);
  const size_t dim = c.axis(2, x.rank());
  const Dim size = size_to_split(c, x, dim);
  const int64_t chunks = c.integer(1);
  c.require(chunks > 0, "chunks must be positive, got ", chunks);
  Results parts;
  if (size == Dim(0)) {  // as many as were asked for, all empty
    c.require(chunks <= kMostParts, "chunks must be at most ", kMostParts, ", got ", chunks);
    for (int64_t i = 0; i < chunks; i++) push_part(parts, x, dim, 0, 0);
    return parts;
  }
  split_evenly(c, parts, x, dim, size, (size - 1) / chunks + 1);
  return parts;
}

// One concatenation of the parts' cotangents, instead of a scatter into zeros for each.
void split_vjp(Grad& g, size_t parts) {
  ValueList cotangents;
  for (size_t i = 0; i < parts; i++) cotangents.push_back(g.cotangent(i).id);
  g.add(0, g.builder.call(Prim::cat, {cotangents, static_cast<int64_t>(g.axis(2, g.type(0).rank()))}));
}

// ---- samples ----

std::vector<int64_t> ints(std::initializer_list<int64_t> list) { return list; }

void sample_slices(Samples& s) {
  s.add({TensorSpec{{5, 3}}, 0, 1, -1, 2});
  s.add({TensorSpec{{5}}, 0, SampleArg(), 100});
  s.add({TensorSpec{{5}}, 0, 4, 2});
  s.refuse({TensorSpec{{5}}, 0, 0, 5, 0}, "step");
  s.refuse({TensorSpec{{}}}, "rank 0");
}
void select_samples(Samples& s) {
  s.add({TensorSpec{{2, 3}}, 1, -1});
  s.refuse({TensorSpec{{2, 3}}, 1, 3}, "index 3 is out of range for dim 1 of size 3");
}
void split_samples(Samples& s) {
  s.add({TensorSpec{{5, 2}}, 2});
  s.add({TensorSpec{{2, 5}}, ints({1, 4}), -1});
  s.add({TensorSpec{{0}}, 2});
  s.refuse({TensorSpec{{5}}, ints({2, 2})}, "sum to 4");
  s.refuse({TensorSpec{{5}}, 0}, "never");
}
void chunk_samples(Samples& s) {
  s.add({TensorSpec{{5}}, 2});
  s.add({TensorSpec{{2, 0}}, 3, 1});
  s.refuse({TensorSpec{{5}}, 0}, "positive");
}

constexpr OpRow kRows[] = {
    composite("slice(tensor input, int dim=0, int? start=None, int? end=None, int step=1) -> tensor", CastPolicy::none,
              "input[start:end:step] along dim, as a view: negative bounds count from the end, all are clamped.", slice,
              sample_slices, kView),
    composite("select(tensor input, int dim, int index) -> tensor", CastPolicy::none,
              "A view of one index of dim, which vanishes.", select, select_samples, kView),
    checked({.schema = "split(tensor input, int[] split_size, int dim=0) -> tensor[]",
             .autocast = CastPolicy::none,
             .doc = "Views of split_size elements each along dim (the last may be smaller), or of each size of a list.",
             .decompose = split,
             .vjp = [](Grad& g) { split_vjp(g, g.count()); },
             .samples = split_samples,
             .tags = kView}),
    checked({.schema = "chunk(tensor input, int chunks, int dim=0) -> tensor[]",
             .autocast = CastPolicy::none,
             .doc = "At most `chunks` views of equal size along dim.",
             .decompose = chunk,
             .vjp = [](Grad& g) { split_vjp(g, g.count()); },
             .samples = chunk_samples,
             .tags = kView}),
};

}  // namespace

extern const OpRows slices_ops = kRows;

}  // namespace thunder
