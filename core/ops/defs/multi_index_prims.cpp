// The prims that read and store at several index tensors at once: input[i, j].
#include "base/text.h"
#include "ir/prim.h"
#include "ops/batch.h"
#include "ops/grad.h"
#include "ops/positions.h"
#include "ops/samples.h"

namespace thunder {
namespace {

// The type of input[indices]: the shape of the indices, then the dims of input that none of them indexes.
TensorType indexed_type(const Call& c) {
  TensorType t = c.type(0);
  auto indices = c.vars(1);
  c.require(!indices.empty() && indices.size() <= t.rank(), "needs from 1 to ", t.rank(), " indices, got ",
            indices.size());
  Shape shape = indices[0].shape();
  for (const Var& v : indices)
    c.require(v.type() == indices[0].type() && (v.dtype() == DType::i64 || v.dtype() == DType::i32),
              "indices must have one type, i64 or i32: index 0 is ", name(indices[0].type()), ", another is ",
              name(v.type()));
  for (size_t i = indices.size(); i < t.rank(); i++) shape.push_back(t.shape[i]);
  t.shape = shape;
  return t;
}

// Calls f(zero of an unsigned integer of this many bytes): what only moves elements needs no more of their type.
template <class F>
Status* dispatch_by_size(DType d, const F& f) {
  switch (size_of(d)) {
    case 1: return f(uint8_t{});
    case 2: return f(uint16_t{});
    case 4: return f(uint32_t{});
    default: return f(uint64_t{});
  }
}
// Joins each slab of `whole` with its slab of `indexed`: join(element of whole, element of indexed), in the order of
// the positions. Where they may meet again, each thread changes the slabs of some of the first index alone.
template <class T, class F>
Status* join_slabs(const KernelArgs& k, const Positions& positions, const SlabPair& slabs, T* whole, T* indexed,
                   bool apart, int64_t first_size, const F& join) {
  const auto join_slab = [&](int64_t place, int64_t other) {
    slabs.each_row([&](int64_t w, int64_t x, int64_t n, int64_t step, int64_t other_step) {
      T *a = whole + place + w, *b = indexed + other + x;
      if (step == 1 && other_step == 1)
        for (int64_t i = 0; i < n; i++) join(a[i], b[i]);
      else
        for (int64_t i = 0; i < n; i++) join(a[i * step], b[i * other_step]);
    });
  };
  const auto join_element = [=](int64_t place, int64_t other) { join(whole[place], indexed[other]); };
  const auto join_with = [&](const auto& join_at) -> Status* {
    if (apart) {
      positions.each_block(k, [&](const PlaceBlock& block) {
        for (int64_t i = 0; i < block.count; i++) join_at(block.places[i], block.indexed + i * block.step);
      });
      return nullptr;
    }
    const KernelArgs alone{k.in, k.out, k.args};
    return in_parts(k, first_size, positions.count() * slabs.from.elements(), [&](int64_t begin, int64_t end) {
      positions.each_block(alone, [&](const PlaceBlock& block) {
        for (int64_t i = 0; i < block.count; i++)
          if (block.first[i] >= begin && block.first[i] < end)
            join_at(block.places[i], block.indexed + i * block.step);
      });
    });
  };
  return slabs.one_element() ? join_with(join_element) : join_with(join_slab);
}

Status* index_kernel(const KernelArgs& k) {
  const Buffer &in = k.in[0], &out = k.out[0];
  const auto indices = k.in.subspan(1);
  const Positions positions(in, out, indices);
  const SlabPair slabs(in, out, indices.size(), indices[0].rank);
  if (Status* refused = positions.check(k, "prims.index")) return refused;
  return dispatch_by_size(in.dtype, [&](auto zero) {
    using T = decltype(zero);
    return join_slabs(k, positions, slabs, in.as<T>(), out.as<T>(), true, 0, [](T from, T& to) { to = from; });
  });
}

void index_put_meta(const Call& c, Types& out) {
  const TensorType expected = indexed_type(c), &values = c.type(2);
  c.require(values.dtype == expected.dtype && values.shape == expected.shape, "values must be ", name(expected),
            ", got ", name(values));
  out.push(c.type(0));
}
Status* index_put_kernel(const KernelArgs& k) {
  const Buffer &in = k.in[0], &values = k.in.back(), &out = k.out[0];
  const auto indices = k.in.subspan(1, k.in.size() - 2);
  const Positions positions(out, values, indices);
  const SlabPair slabs(out, values, indices.size(), indices[0].rank);
  if (Status* refused = positions.check(k, "prims.index_put")) return refused;
  if (in.data != out.data) copy_strided(in, out);
  if (!k.args[3].i)
    return dispatch_by_size(out.dtype, [&](auto zero) {
      using T = decltype(zero);
      return join_slabs(k, positions, slabs, out.as<T>(), values.as<T>(), false, out.shape[0],
                        [](T& to, T from) { to = from; });
    });
  return by_dtype(out.dtype, [&](auto zero) {
    using T = decltype(zero);
    using C = Compute<T>;
    return join_slabs(k, positions, slabs, out.as<T>(), values.as<T>(), false, out.shape[0],
                      [](T& to, T from) { to = static_cast<T>(static_cast<C>(to) + static_cast<C>(from)); });
  });
}

ValueList indices_of(const Call& c) { return ValueList(c.args[1].value_list()); }

void index_vjp(Grad& g) {
  // Sums of many bf16 numbers are made in f32.
  Var ct = convert(g.cotangent(), compute_dtype(g.cotangent().dtype()));
  Var zeros = expand_to(full(g.builder, {}, 0, ct.dtype(), ct.type().device), g.type(0).shape);
  g.add(0, g.builder.call(Prim::index_put, {zeros, indices_of(g), ct, true}));
}
void index_put_vjp(Grad& g) {
  Var ct = g.cotangent();
  const ValueList indices = indices_of(g);
  if (g.wants(0))
    g.add(0, g.flag(3) ? ct : g.builder.call(Prim::index_put, {ct, indices, full_like(g.var(2), 0), false}));
  if (g.wants(2)) g.add(2, g.builder.call(Prim::index, {ct, indices}));
}

TensorSpec index_spec(std::vector<int64_t> shape, int size) {
  return {std::move(shape), DType::i64, -size * 1.0, size - 1.0};
}

void index_samples(Samples& s) {
  s.add({TensorSpec{{4, 3, 2}}, std::vector<TensorSpec>{index_spec({2, 2}, 4), index_spec({2, 2}, 3)}});
  s.add({TensorSpec{{4, 3}}, std::vector<TensorSpec>{index_spec({}, 4)}});
  s.add({TensorSpec{{4, 3}}, std::vector<TensorSpec>{index_spec({0}, 4)}});
  s.refuse({TensorSpec{{4}}, std::vector<TensorSpec>{index_spec({1}, 4), index_spec({1}, 4)}}, "from 1 to 1");
  s.refuse({TensorSpec{{4, 3}}, std::vector<TensorSpec>{index_spec({1}, 4), index_spec({2}, 3)}}, "one type");
  s.refuse({TensorSpec{{4, 3}}, std::vector<TensorSpec>{index_spec({1}, 4), {{1}, DType::i64, 3, 3}}},
           "index 3 is out of range for dim 1 of size 3");
}
void index_put_samples(Samples& s) {
  s.add({TensorSpec{{4, 3}}, std::vector<TensorSpec>{index_spec({5}, 4)}, TensorSpec{{5, 3}}, true});
  s.add({TensorSpec{{4, 3}}, std::vector<TensorSpec>{index_spec({}, 4), index_spec({}, 3)}, TensorSpec{{}}, false});
  s.refuse({TensorSpec{{4}}, std::vector<TensorSpec>{index_spec({2}, 4)}, TensorSpec{{3}}, false},
           "values must be f32[2]");
}

// Each index is that within an example; if examples differ in the input, it follows the example's number.
ValueList batch_indices(const Batch& b, bool numbered) {
  ValueList indices;
  Var first = b.operand(1, 0);
  if (numbered) indices.push_back(convert(b.example_indices(first.shape()), first.dtype()).id);
  for (size_t i = 0; i < b.args[1].count; i++) indices.push_back(b.operand(1, i).id);
  return indices;
}
Results batch_index(Batch& b) { return b.invoke_same_op({b.args[0], batch_indices(b, b.batched(0))}); }
Results batch_index_put(Batch& b) {
  return b.invoke_same_op({b.operand(0), batch_indices(b, true), b.operand(2), b.flag(3)});
}

constexpr OpRow kRows[] = {
    primitive("prims.index(tensor input, tensor[] indices) -> tensor",
              "input[indices[0], indices[1], ..]; negative indices count from the end.",
              [](const Call& c, Types& out) { out.push(indexed_type(c)); }, index_kernel, index_vjp,
              kChecksData | kLinear, {.batch = batch_index, .samples = index_samples}),
    primitive(
        "prims.index_put(tensor input, tensor[] indices, tensor values, bool accumulate) -> tensor",
        "A copy of input with values stored, or added, where prims.index would read, in the order of the indices.",
        index_put_meta, index_put_kernel, index_put_vjp, kChecksData | kUpdates | kLinear,
        {.batch = batch_index_put, .samples = index_put_samples}),
};

}  // namespace

extern const OpRows multi_index_prims_ops = kRows;

}  // namespace thunder
