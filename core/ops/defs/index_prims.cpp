// The prims that read and add by indices which are data: gather, scatter_add, take, take_add.
#include "base/text.h"
#include "ops/formulas.h"
#include "ops/grad.h"
#include "ops/kernels.h"
#include "ops/samples.h"

namespace thunder {
namespace {

void require_index(const Call& c, size_t param) {
  const DType d = c.type(param).dtype;
  c.require(d == DType::i64 || d == DType::i32, "index must be i64 or i32, got ", name(d));
}

int64_t index_at(const Buffer& index, int64_t offset) {
  return index.dtype == DType::i32 ? index.as<int32_t>()[offset] : index.as<int64_t>()[offset];
}

Status* out_of_range(std::string_view op, int64_t index, size_t dim, int64_t size) {
  return refuse(cat(op, ": index ", index, " is out of range for dim ", dim, " of size ", size));
}

Status* check_all(std::string_view op, const Buffer& index, size_t dim, int64_t size) {
  Rows<1> rows(index, {&index});
  for (int64_t r = 0; r < rows.rows(); r++, rows.next())
    for (int64_t i = 0; i < rows.row(); i++)
      if (const int64_t at = index_at(index, rows.offset[0] + i * rows.step[0]); at < 0 || at >= size) return out_of_range(op, at, dim, size);
  return nullptr;
}

// A buffer under another shape and strides, which it owns.
struct Reshaped {
  Reshaped(const Buffer& b, Sizes shape, Sizes steps) : sizes(std::move(shape)), strides(std::move(steps)), buffer(b) {
    buffer.rank = static_cast<int32_t>(sizes.size());
    buffer.shape = sizes.data();
    buffer.strides = strides.data();
  }
  Reshaped(const Reshaped&) = delete;
  Sizes sizes, strides;
  Buffer buffer;
};

// `b` seen with the shape of `index` and standing still along `dim`: where the elements lie before the index is added.
Reshaped standing(const Buffer& b, const Buffer& index, size_t dim) {
  Sizes sizes(index.shape, index.shape + index.rank), strides(b.strides, b.strides + b.rank);
  if (b.rank) strides[dim] = 0;
  return {b, std::move(sizes), std::move(strides)};
}

// ---- gather, scatter_add ----

void require_along(const Call& c, const TensorType& t, const TensorType& index, size_t dim) {
  c.require(index.rank() == t.rank(), "index must have the rank of input; ", c.types());
  for (size_t i = 0; i < t.rank(); i++)
    c.require(i == dim || hint(index.shape[i]) <= hint(t.shape[i]), "index has size ", name(index.shape[i]), " in dim ", i,
              ", more than the input's ", name(t.shape[i]), "; ", c.types());
}

void gather_meta(const Call& c, Types& out) {
  TensorType t = c.type(0);
  require_index(c, 2);
  require_along(c, t, c.type(2), c.axis(1, t.rank()));
  t.shape = c.type(2).shape;
  out.push(t);
}
Status* gather_kernel(const Kernel& k) {
  const Buffer &in = k.in[0], &index = k.in[1], &out = k.out[0];
  const size_t dim = normalize_axis(k.args[1].i, static_cast<size_t>(in.rank));
  const int64_t size = in.rank ? in.shape[dim] : 1, stride = in.rank ? in.strides[dim] : 0;
  const Reshaped from = standing(in, index, dim);
  return by_dtype(out.dtype, [&](auto t) -> Status* {
    using T = decltype(t);
    Rows<3> rows(index, {&index, &out, &from.buffer});
    for (int64_t r = 0; r < rows.rows(); r++, rows.next())
      for (int64_t i = 0; i < rows.row(); i++) {
        const int64_t at = index_at(index, rows.offset[0] + i * rows.step[0]);
        if (at < 0 || at >= size) return out_of_range("prims.gather", at, dim, size);
        out.as<T>()[rows.offset[1] + i * rows.step[1]] = in.as<T>()[rows.offset[2] + i * rows.step[2] + at * stride];
      }
    return nullptr;
  });
}

// Sums of many bf16 numbers are made in f32.
void gather_vjp(Grad& g) {
  Var ct = computed(g.cotangent());
  Var zeros = expand_to(full(g.builder, {}, 0, ct.dtype(), ct.type().device), g.type(0).shape);
  g.add(0, g.builder.call("prims.scatter_add", {zeros, g.integer(1), g.var(2), ct}));
}

void scatter_add_meta(const Call& c, Types& out) {
  const TensorType &t = c.type(0), &index = c.type(2), &src = c.type(3);
  require_index(c, 2);
  c.require(t.dtype == src.dtype, "input and src must have one dtype; ", c.types());
  c.require(src.rank() == t.rank(), "src must have the rank of input; ", c.types());
  require_along(c, t, index, c.axis(1, t.rank()));
  for (size_t i = 0; i < t.rank(); i++)
    c.require(hint(index.shape[i]) <= hint(src.shape[i]), "index has size ", name(index.shape[i]), " in dim ", i, ", more than src's ",
              name(src.shape[i]), "; ", c.types());
  out.push(t);
}
Status* scatter_add_kernel(const Kernel& k) {
  const Buffer &in = k.in[0], &index = k.in[1], &src = k.in[2], &out = k.out[0];
  const size_t dim = normalize_axis(k.args[1].i, static_cast<size_t>(out.rank));
  const int64_t size = out.rank ? out.shape[dim] : 1, stride = out.rank ? out.strides[dim] : 0;
  if (Status* refused = check_all("prims.scatter_add", index, dim, size)) return refused;
  if (in.data != out.data) copy_strided(in, out);
  const Reshaped to = standing(out, index, dim);
  return by_dtype(out.dtype, [&](auto t) -> Status* {
    using T = decltype(t);
    Rows<3> rows(index, {&index, &src, &to.buffer});
    for (int64_t r = 0; r < rows.rows(); r++, rows.next())
      for (int64_t i = 0; i < rows.row(); i++) {
        const int64_t at = index_at(index, rows.offset[0] + i * rows.step[0]);
        T& into = out.as<T>()[rows.offset[2] + i * rows.step[2] + at * stride];
        const T value = src.as<T>()[rows.offset[1] + i * rows.step[1]];
        into = static_cast<T>(static_cast<Compute<T>>(into) + static_cast<Compute<T>>(value));
      }
    return nullptr;
  });
}
void scatter_add_vjp(Grad& g) {
  g.add(0, g.cotangent());
  if (!g.wants(3)) return;
  Var read = g.builder.call("prims.gather", {g.cotangent(), g.integer(1), g.var(2)});
  const Shape& to = g.type(3).shape;
  if (!(read.shape() == to)) {
    // What src has beyond the index is not used.
    Shape high = to;
    for (size_t i = 0; i < to.size(); i++) high[i] = to[i] - read.shape()[i];
    read = g.builder.call("prims.pad", {read, Shape(to.size(), 0), high, 0.0});
  }
  g.add(3, read);
}

// ---- take, take_add ----

Shape taken_shape(const Shape& input, size_t dim, const Shape& index) {
  Shape out(input.begin(), input.begin() + dim);
  for (Dim d : index) out.push_back(d);
  for (size_t i = dim + 1; i < input.size(); i++) out.push_back(input[i]);
  return out;
}

void take_meta(const Call& c, Types& out) {
  TensorType t = c.type(0);
  require_index(c, 2);
  c.require(t.rank() > 0, "input must have a dim to index, got ", name(t));
  t.shape = taken_shape(t.shape, c.axis(1, t.rank()), c.type(2).shape);
  out.push(t);
}

// A tensor `whole` and a tensor `taken` of take's result shape as what one index pairs: a slab of each.
struct Slabs {
  Slabs(const Buffer& whole, const Buffer& taken, const Buffer& index, size_t dim)
      : whole_slab(whole, {}, {}), taken_slab(taken, {}, {}), positions(taken, {}, {}) {
    const size_t n = static_cast<size_t>(index.rank);
    size = whole.shape[dim], stride = whole.strides[dim];
    for (size_t i = 0; i < static_cast<size_t>(taken.rank); i++) {
      const bool indexed = i >= dim && i < dim + n;
      Reshaped& into = indexed ? positions : taken_slab;
      into.sizes.push_back(taken.shape[i]), into.strides.push_back(taken.strides[i]);
    }
    for (size_t i = 0; i < static_cast<size_t>(whole.rank); i++)
      if (i != dim) whole_slab.sizes.push_back(whole.shape[i]), whole_slab.strides.push_back(whole.strides[i]);
    for (Reshaped* r : {&whole_slab, &taken_slab, &positions}) {
      r->buffer.rank = static_cast<int32_t>(r->sizes.size());
      r->buffer.shape = r->sizes.data(), r->buffer.strides = r->strides.data();
    }
  }
  // Calls f(slab of whole, slab of taken) for each index in order. All indices are looked at before.
  template <class F>
  Status* each(std::string_view op, const Buffer& index, size_t dim, F f) {
    const auto item = static_cast<int64_t>(size_of(whole_slab.buffer.dtype));
    Buffer from = whole_slab.buffer, to = taken_slab.buffer;
    if (Status* refused = check_all(op, index, dim, size)) return refused;
    Rows<2> rows(index, {&index, &positions.buffer});
    for (int64_t r = 0; r < rows.rows(); r++, rows.next())
      for (int64_t i = 0; i < rows.row(); i++) {
        const int64_t at = index_at(index, rows.offset[0] + i * rows.step[0]);
        from.data = whole_slab.buffer.as<std::byte>() + at * stride * item;
        to.data = taken_slab.buffer.as<std::byte>() + (rows.offset[1] + i * rows.step[1]) * item;
        f(from, to);
      }
    return nullptr;
  }
  Reshaped whole_slab, taken_slab, positions;
  int64_t size = 0, stride = 0;
};

Status* take_kernel(const Kernel& k) {
  const size_t dim = normalize_axis(k.args[1].i, static_cast<size_t>(k.in[0].rank));
  Slabs slabs(k.in[0], k.out[0], k.in[1], dim);
  return slabs.each("prims.take", k.in[1], dim, [](const Buffer& from, const Buffer& to) { copy_strided(from, to); });
}
void take_vjp(Grad& g) {
  Var ct = computed(g.cotangent());
  Var zeros = expand_to(full(g.builder, {}, 0, ct.dtype(), ct.type().device), g.type(0).shape);
  g.add(0, g.builder.call("prims.take_add", {zeros, g.integer(1), g.var(2), ct}));
}

void take_add_meta(const Call& c, Types& out) {
  const TensorType &t = c.type(0), &src = c.type(3);
  require_index(c, 2);
  c.require(t.rank() > 0, "input must have a dim to index, got ", name(t));
  const Shape expected = taken_shape(t.shape, c.axis(1, t.rank()), c.type(2).shape);
  c.require(t.dtype == src.dtype && src.shape == expected, "src must have input's dtype and shape ", name(expected), "; ", c.types());
  out.push(t);
}
Status* take_add_kernel(const Kernel& k) {
  const Buffer &in = k.in[0], &index = k.in[1], &src = k.in[2], &out = k.out[0];
  const size_t dim = normalize_axis(k.args[1].i, static_cast<size_t>(out.rank));
  if (in.data != out.data) copy_strided(in, out);
  Slabs slabs(out, src, index, dim);
  return by_dtype(out.dtype, [&](auto t) {
    using T = decltype(t);
    return slabs.each("prims.take_add", index, dim, [](const Buffer& into, const Buffer& from) {
      const Buffer ins[] = {into, from};
      each2<T, T>({ins, {&into, 1}, {}}, [](Compute<T> a, Compute<T> b) { return static_cast<T>(a + b); });
    });
  });
}

// ---- samples ----

TensorSpec below(std::vector<int64_t> shape, int size, DType d = DType::i64) { return {std::move(shape), d, 0, size - 1.0}; }

void gather_samples(Samples& s) {
  s.add({TensorSpec{{3, 4}}, 1, below({3, 2}, 4)});
  s.add({TensorSpec{{3, 4}}, -2, below({5, 4}, 3, DType::i32)});
  s.add({TensorSpec{{}}, 0, below({}, 1)});
  s.add({TensorSpec{{3, 4}}, 0, below({0, 4}, 3)});
  s.refuse({TensorSpec{{3, 4}}, 1, below({4, 2}, 4)}, "more than the input");
  s.refuse({TensorSpec{{3, 4}}, 1, TensorSpec{{3, 2}}}, "index must be i64");
  s.refuse({TensorSpec{{3}}, 0, TensorSpec{{2}, DType::i64, 3, 3}}, "index 3 is out of range");
}
void scatter_add_samples(Samples& s) {
  s.add({TensorSpec{{3, 4}}, 1, below({3, 2}, 4), TensorSpec{{3, 2}}});
  s.add({TensorSpec{{3, 4}}, 0, below({5, 4}, 3, DType::i32), TensorSpec{{6, 4}}});
  s.add({TensorSpec{{}}, 0, below({}, 1), TensorSpec{{}}});
  s.refuse({TensorSpec{{3}}, 0, below({4}, 3), TensorSpec{{2}}}, "more than src's");
  s.refuse({TensorSpec{{3}}, 0, TensorSpec{{2}, DType::i64, -1, -1}, TensorSpec{{2}}}, "index -1 is out of range");
}
void take_samples(Samples& s) {
  s.add({TensorSpec{{4, 3}}, 0, below({2, 5}, 4)});
  s.add({TensorSpec{{2, 3, 4}}, 1, below({}, 3, DType::i32)});
  s.add({TensorSpec{{2, 3}}, -1, below({0}, 3)});
  s.refuse({TensorSpec{{}}, 0, below({1}, 1)}, "dim to index");
  s.refuse({TensorSpec{{4}}, 0, TensorSpec{{1}, DType::i64, 9, 9}}, "index 9 is out of range for dim 0 of size 4");
}
void take_add_samples(Samples& s) {
  s.add({TensorSpec{{4, 3}}, 0, below({2, 5}, 4), TensorSpec{{2, 5, 3}}});
  s.add({TensorSpec{{2, 3, 4}}, 1, below({}, 3), TensorSpec{{2, 4}}});
  s.refuse({TensorSpec{{4, 3}}, 0, below({2}, 4), TensorSpec{{2, 4}}}, "shape [2, 3]");
}

constexpr OpRow kRows[] = {
    checked({.schema = "prims.gather(tensor input, int dim, tensor index) -> tensor",
             .doc = "out[i, j, ..] = input with dim's position replaced by index[i, j, ..]. Negative indices are refused.",
             .meta = gather_meta, .reference = gather_kernel, .vjp = gather_vjp, .samples = gather_samples, .tags = kChecksData}),
    checked({.schema = "prims.scatter_add(tensor input, int dim, tensor index, tensor src) -> tensor",
             .doc = "A copy of input to which src is added where prims.gather would read, in the order of src.",
             .meta = scatter_add_meta, .reference = scatter_add_kernel, .vjp = scatter_add_vjp, .samples = scatter_add_samples, .tags = kChecksData | kUpdates}),
    checked({.schema = "prims.take(tensor input, int dim, tensor index) -> tensor",
             .doc = "The slices of input at index along dim, which index's dims replace. Negative indices are refused.",
             .meta = take_meta, .reference = take_kernel, .vjp = take_vjp, .samples = take_samples, .tags = kChecksData}),
    checked({.schema = "prims.take_add(tensor input, int dim, tensor index, tensor src) -> tensor",
             .doc = "A copy of input to which src is added where prims.take would read, in the order of index.",
             .meta = take_add_meta, .reference = take_add_kernel,
             .vjp = [](Grad& g) {
               g.add(0, g.cotangent());
               if (g.wants(3)) g.add(3, g.builder.call("prims.take", {g.cotangent(), g.integer(1), g.var(2)}));
             },
             .samples = take_add_samples, .tags = kChecksData | kUpdates}),
};

}  // namespace

void register_index_prims(Registry& r) {
  for (auto& row : kRows) r.add(row);
}

}  // namespace thunder
