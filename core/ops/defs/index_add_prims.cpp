// The prims that add by indices which are data: scatter_add, take_add.
#include <optional>

#include "ir/dim_reads.h"
#include "ops/batch.h"
#include "ops/formulas.h"
#include "ops/grad.h"
#include "ops/indices.h"
#include "ops/updates.h"

namespace thunder {
namespace {

// ---- scatter_add ----

void scatter_add_meta(const Call& c, Types& out) {
  const TensorType &t = c.type(0), &index = c.type(2), &src = c.type(3);
  require_index(c, 2);
  c.require(t.dtype == src.dtype, "input and src must have one dtype; ", c.types());
  c.require(src.rank() == t.rank(), "src must have the rank of input; ", c.types());
  require_along(c, t, index, c.axis(1, t.rank()));
  for (size_t i = 0; i < t.rank(); i++)
    c.require(is_at_most(index.shape[i], src.shape[i]), "index has size ", name(index.shape[i]), " in dim ", i,
              ", more than src's ", name(src.shape[i]), "; ", c.types());
  out.push(t);
}
// Adds src to the places that the index names, `stride` elements a step; `to` does not advance along the dim.
template <class I, class T>
void add_rows(const Buffer& index, const Buffer& src, const Buffer& to, int64_t stride) {
  using C = Compute<T>;
  Rows<3> rows(index, {&index, &src, &to});
  for (int64_t r = 0; r < rows.rows(); r++, rows.next()) {
    const I* at = index.as<I>() + rows.offset[0];
    const T* from = src.as<T>() + rows.offset[1];
    T* out = to.as<T>() + rows.offset[2];
    const int64_t n = rows.row(), index_step = rows.step[0], step = rows.step[1], out_step = rows.step[2];
    for (int64_t i = 0; i < n; i++) {
      T& into = out[i * out_step + at[i * index_step] * stride];
      into = static_cast<T>(static_cast<C>(into) + static_cast<C>(from[i * step]));
    }
  }
}
Status* scatter_some(const KernelArgs& k, size_t dim, size_t along, int64_t begin, int64_t end) {
  const Some in(k.in[0], along, begin, end), index(k.in[1], along, begin, end), src(k.in[2], along, begin, end),
      out(k.out[0], along, begin, end);
  if (in.buffer.data != out.buffer.data) copy_strided(in.buffer, out.buffer);
  const int64_t stride = k.out[0].strides[dim];
  const Reshaped to = with_zero_stride(out.buffer, index.buffer, dim);
  by_dtype(k.out[0].dtype, [&](auto t) {
    using T = decltype(t);
    if (index.buffer.dtype == DType::i32) add_rows<int32_t, T>(index.buffer, src.buffer, to.buffer, stride);
    else add_rows<int64_t, T>(index.buffer, src.buffer, to.buffer, stride);
  });
  return nullptr;
}
Status* scatter_add_kernel(const KernelArgs& k) {
  if (k.out[0].rank == 0) {
    // Tensors of rank 0 have one element, and one index that can only be 0: treated as having one dim.
    const Sizes one = {1};
    const Reshaped in(k.in[0], one, one), index(k.in[1], one, one), src(k.in[2], one, one), out(k.out[0], one, one);
    const Buffer inputs[] = {in.buffer, index.buffer, src.buffer};
    return scatter_add_kernel({inputs, {&out.buffer, 1}, k.args, k.op, k.threads});
  }
  const size_t dim = normalize_axis(k.args[1].i, static_cast<size_t>(k.out[0].rank));
  if (Status* refused = check_all("prims.scatter_add", k.in[1], dim, k.out[0].shape[dim])) return refused;
  return update_all(k, dim, scatter_some);
}
void scatter_add_vjp(Grad& g) {
  g.add(0, g.cotangent());
  if (!g.wants(3)) return;
  Var read = g.builder.call(Prim::gather, {g.cotangent(), g.integer(1), g.var(2)});
  const Shape& to = g.type(3).shape;
  if (!(read.shape() == to)) {
    // Elements of src beyond the index are not used.
    Shape high = to;
    for (size_t i = 0; i < to.size(); i++) high[i] = to[i] - read.shape()[i];
    read = g.builder.call(Prim::pad, {read, Shape(to.size(), 0), high, 0.0});
  }
  g.add(3, read);
}

// ---- take_add ----

void take_add_meta(const Call& c, Types& out) {
  const TensorType &t = c.type(0), &src = c.type(3);
  require_index(c, 2);
  c.require(t.rank() > 0, "input must have a dim to index, got ", name(t));
  const Shape expected = taken_shape(t.shape, c.axis(1, t.rank()), c.type(2).shape);
  c.require(t.dtype == src.dtype && src.shape == expected, "src must have input's dtype and shape ", name(expected),
            "; ", c.types());
  out.push(t);
}
// The dim at which take puts a dim of its input.
size_t taken_dim(size_t along, size_t dim, const Buffer& index) {
  return along < dim ? along : along - 1 + static_cast<size_t>(index.rank);
}

// For the last dim: single elements are gathered row by row. Requires: the indices are in range.
void take_rows(const Buffer& index, const Buffer& src, const Buffer& out) {
  const auto lead = static_cast<size_t>(out.rank) - 1;
  const Sizes shape(src.shape, src.shape + src.rank);
  Sizes of_index(shape.size(), 0), of_out(shape.size(), 0);
  for (size_t i = 0; i < shape.size(); i++)
    if (i < lead) of_out[i] = out.strides[i];
    else of_index[i] = index.strides[i - lead];
  const Reshaped at(index, shape, of_index), to(out, shape, of_out);
  by_dtype(out.dtype, [&](auto t) {
    using T = decltype(t);
    if (index.dtype == DType::i32) add_rows<int32_t, T>(at.buffer, src, to.buffer, out.strides[lead]);
    else add_rows<int64_t, T>(at.buffer, src, to.buffer, out.strides[lead]);
  });
}

// For rows of a matrix with adjacent elements. Requires: the indices, a vector, are in range.
void add_matrix_rows(const Buffer& index, const Buffer& src, const Buffer& out) {
  by_dtype(out.dtype, [&](auto t) {
    using T = decltype(t);
    for (int64_t r = 0; r < src.shape[0]; r++) {
      T* to = out.as<T>() + index_at(index, r * index.strides[0]) * out.strides[0];
      const T* from = src.as<T>() + r * src.strides[0];
      for (int64_t i = 0; i < src.shape[1]; i++)
        to[i] = static_cast<T>(static_cast<Compute<T>>(to[i]) + static_cast<Compute<T>>(from[i]));
    }
  });
}
bool has_dense_rows(const Buffer& b) { return b.rank == 2 && (b.strides[1] == 1 || b.shape[1] == 1); }

Status* take_some(const KernelArgs& k, size_t dim, size_t along, int64_t begin, int64_t end) {
  const bool whole = along == dim;
  const size_t taken = whole ? 0 : taken_dim(along, dim, k.in[1]);
  const Some in(k.in[0], along, begin, end), out(k.out[0], along, begin, end);
  std::optional<Some> some;
  if (!whole) some.emplace(k.in[2], taken, begin, end);
  if (in.buffer.data != out.buffer.data) copy_strided(in.buffer, out.buffer);
  if (dim + 1 == static_cast<size_t>(out.buffer.rank))
    return take_rows(k.in[1], whole ? k.in[2] : some->buffer, out.buffer), nullptr;
  const Buffer& src = whole ? k.in[2] : some->buffer;
  if (dim == 0 && k.in[1].rank == 1 && has_dense_rows(out.buffer) && has_dense_rows(src))
    return add_matrix_rows(k.in[1], src, out.buffer), nullptr;
  Slabs slabs(out.buffer, src, k.in[1], dim);
  return by_dtype(k.out[0].dtype, [&](auto t) {
    using T = decltype(t);
    return slabs.each("prims.take_add", k.in[1], dim, [](const Buffer& into, const Buffer& from) {
      const Buffer ins[] = {into, from};
      each2<T, T>({ins, {&into, 1}, {}}, [](Compute<T> a, Compute<T> b) { return static_cast<T>(a + b); });
    });
  });
}
Status* take_add_kernel(const KernelArgs& k) {
  const size_t dim = normalize_axis(k.args[1].i, static_cast<size_t>(k.out[0].rank));
  if (Status* refused = check_all("prims.take_add", k.in[1], dim, k.out[0].shape[dim])) return refused;
  return update_all(k, dim, take_some);
}

// ---- samples ----

void scatter_add_samples(Samples& s) {
  s.add({TensorSpec{{3, 4}}, 1, below({3, 2}, 4), TensorSpec{{3, 2}}});
  s.add({TensorSpec{{3, 4}}, 0, below({5, 4}, 3, DType::i32), TensorSpec{{6, 4}}});
  s.add({TensorSpec{{}}, 0, below({}, 1), TensorSpec{{}}});
  s.refuse({TensorSpec{{3}}, 0, below({4}, 3), TensorSpec{{2}}}, "more than src's");
  s.refuse({TensorSpec{{3}}, 0, TensorSpec{{2}, DType::i64, -1, -1}, TensorSpec{{2}}}, "index -1 is out of range");
}
void take_add_samples(Samples& s) {
  s.add({TensorSpec{{4, 3}}, 0, below({2, 5}, 4), TensorSpec{{2, 5, 3}}});
  s.add({TensorSpec{{2, 3, 4}}, 1, below({}, 3), TensorSpec{{2, 4}}});
  s.refuse({TensorSpec{{4, 3}}, 0, below({2}, 4), TensorSpec{{2, 4}}}, "shape [2, 3]");
}


Results batch_take_add(Batch& b) {
  const size_t axis = b.axis(1, b.rank(0)), places = b.rank(2);
  if (!b.batched(2)) return b.invoke_same_op({b.operand(0), static_cast<int64_t>(axis + 1), b.args[2], b.operand(3)});
  Var index = b.operand(2), src = b.operand(3);
  ValueList pair{convert(b.example_indices(index.shape()), index.dtype()).id, index.id};
  Shape order{0};
  for (size_t i = 0; i < places; i++) order.push_back(static_cast<int64_t>(1 + axis + i));
  for (size_t i = 1; i < src.rank(); i++)
    if (i < 1 + axis || i >= 1 + axis + places) order.push_back(static_cast<int64_t>(i));
  Var sum = b.builder.call(Prim::index_put, {to_second(b.operand(0), axis + 1), pair, permute_to(src, order), true});
  return from_second(sum, axis + 1);
}

constexpr OpRow kRows[] = {
    primitive("prims.scatter_add(tensor input, int dim, tensor index, tensor src) -> tensor",
              "A copy of input to which src is added where prims.gather would read, in the order of src.",
              scatter_add_meta, scatter_add_kernel, scatter_add_vjp, kChecksData | kUpdates | kLinear,
              {.samples = scatter_add_samples}),
    primitive("prims.take_add(tensor input, int dim, tensor index, tensor src) -> tensor",
              "A copy of input to which src is added where prims.take would read, in the order of index.",
              take_add_meta, take_add_kernel,
              [](Grad& g) {
                g.add(0, g.cotangent());
                if (g.wants(3)) g.add(3, g.builder.call(Prim::take, {g.cotangent(), g.integer(1), g.var(2)}));
              },
              kChecksData | kUpdates | kLinear, {.batch = batch_take_add, .samples = take_add_samples}),
};

}  // namespace

extern const OpRows index_add_prims_ops = kRows;

}  // namespace thunder
