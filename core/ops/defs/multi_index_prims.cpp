// The prims that read and store at several index tensors at once: input[i, j].
#include "base/text.h"
#include "ops/batch.h"
#include "ops/grad.h"
#include "ops/kernels.h"
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

// Walks the positions of the indices in order: each pairs a slab of `whole` with a slab of `indexed`.
class Walk {
 public:
  Walk(const Buffer& whole, const Buffer& indexed, std::span<const Buffer> indices)
      : whole_(whole), indexed_(indexed), indices_(indices), at_(static_cast<size_t>(indices[0].rank), 0) {
    const auto used = static_cast<int32_t>(indices.size()), lead = indices[0].rank;
    whole_.rank -= used, whole_.shape += used, whole_.strides += used;
    indexed_.rank -= lead, indexed_.shape += lead, indexed_.strides += lead;
    sizes_ = whole.shape, strides_ = whole.strides;
    lead_strides_ = indexed.strides;
  }

  // All indices are looked at before f is called.
  template <class F>
  Status* each(std::string_view op, F f) {
    const Buffer whole = whole_, indexed = indexed_;
    const auto item = static_cast<int64_t>(size_of(whole.dtype));
    for (int64_t left = indices_[0].elements(); left > 0; left--, next())
      for (size_t k = 0; k < indices_.size(); k++)
        if (const int64_t given = read(indices_[k]), size = sizes_[k]; given < -size || given >= size)
          return refuse(cat(op, ": index ", given, " is out of range for dim ", k, " of size ", size));
    for (int64_t left = indices_[0].elements(); left > 0; left--, next()) {
      int64_t offset = 0;
      for (size_t k = 0; k < indices_.size(); k++) {
        const int64_t given = read(indices_[k]);
        offset += (given < 0 ? given + sizes_[k] : given) * strides_[k];
      }
      whole_.data = whole.as<std::byte>() + offset * item;
      indexed_.data = indexed.as<std::byte>() + along(lead_strides_) * item;
      f(whole_, indexed_);
    }
    return nullptr;
  }

 private:
  int64_t along(const int64_t* strides) const {
    int64_t offset = 0;
    for (size_t i = 0; i < at_.size(); i++) offset += at_[i] * strides[i];
    return offset;
  }
  int64_t read(const Buffer& index) const {
    const int64_t offset = along(index.strides);
    return index.dtype == DType::i32 ? index.as<int32_t>()[offset] : index.as<int64_t>()[offset];
  }
  void next() {
    for (size_t axis = at_.size(); axis-- > 0; at_[axis] = 0)
      if (++at_[axis] < indices_[0].shape[axis]) return;
  }

  Buffer whole_, indexed_;  // the slabs at hand
  std::span<const Buffer> indices_;
  Sizes at_;
  const int64_t *sizes_, *strides_, *lead_strides_;
};

Status* index_kernel(const Kernel& k) {
  Walk walk(k.in[0], k.out[0], k.in.subspan(1));
  return walk.each("prims.index", [](const Buffer& from, const Buffer& to) { copy_strided(from, to); });
}

void index_put_meta(const Call& c, Types& out) {
  const TensorType expected = indexed_type(c), &values = c.type(2);
  c.require(values.dtype == expected.dtype && values.shape == expected.shape, "values must be ", name(expected),
            ", got ", name(values));
  out.push(c.type(0));
}
Status* index_put_kernel(const Kernel& k) {
  const Buffer &in = k.in[0], &values = k.in.back(), &out = k.out[0];
  if (in.data != out.data) copy_strided(in, out);
  Walk walk(out, values, k.in.subspan(1, k.in.size() - 2));
  if (!k.args[3].i)
    return walk.each("prims.index_put", [](const Buffer& into, const Buffer& from) { copy_strided(from, into); });
  return by_dtype(out.dtype, [&](auto t) {
    using T = decltype(t);
    return walk.each("prims.index_put", [](const Buffer& into, const Buffer& from) {
      const Buffer ins[] = {into, from};
      each2<T, T>({ins, {&into, 1}, {}}, [](Compute<T> a, Compute<T> b) { return static_cast<T>(a + b); });
    });
  });
}

ValueList indices_of(const Call& c) { return ValueList(c.args[1].value_list()); }

void index_vjp(Grad& g) {
  // Sums of many bf16 numbers are made in f32.
  Var ct = convert(g.cotangent(), compute_dtype(g.cotangent().dtype()));
  Var zeros = expand_to(full(g.builder, {}, 0, ct.dtype(), ct.type().device), g.type(0).shape);
  g.add(0, g.builder.call("prims.index_put", {zeros, indices_of(g), ct, true}));
}
void index_put_vjp(Grad& g) {
  Var ct = g.cotangent();
  const ValueList indices = indices_of(g);
  if (g.wants(0))
    g.add(0, g.flag(3) ? ct : g.builder.call("prims.index_put", {ct, indices, full_like(g.var(2), 0), false}));
  if (g.wants(2)) g.add(2, g.builder.call("prims.index", {ct, indices}));
}

TensorSpec within(std::vector<int64_t> shape, int size) {
  return {std::move(shape), DType::i64, -size * 1.0, size - 1.0};
}

void index_samples(Samples& s) {
  s.add({TensorSpec{{4, 3, 2}}, std::vector<TensorSpec>{within({2, 2}, 4), within({2, 2}, 3)}});
  s.add({TensorSpec{{4, 3}}, std::vector<TensorSpec>{within({}, 4)}});
  s.add({TensorSpec{{4, 3}}, std::vector<TensorSpec>{within({0}, 4)}});
  s.refuse({TensorSpec{{4}}, std::vector<TensorSpec>{within({1}, 4), within({1}, 4)}}, "from 1 to 1");
  s.refuse({TensorSpec{{4, 3}}, std::vector<TensorSpec>{within({1}, 4), within({2}, 3)}}, "one type");
  s.refuse({TensorSpec{{4, 3}}, std::vector<TensorSpec>{within({1}, 4), {{1}, DType::i64, 3, 3}}},
           "index 3 is out of range for dim 1 of size 3");
}
void index_put_samples(Samples& s) {
  s.add({TensorSpec{{4, 3}}, std::vector<TensorSpec>{within({5}, 4)}, TensorSpec{{5, 3}}, true});
  s.add({TensorSpec{{4, 3}}, std::vector<TensorSpec>{within({}, 4), within({}, 3)}, TensorSpec{{}}, false});
  s.refuse({TensorSpec{{4}}, std::vector<TensorSpec>{within({2}, 4)}, TensorSpec{{3}}, false}, "values must be f32[2]");
}

// Each place is that in an example, behind the example's number where those differ in what is read.
ValueList batch_indices(const Batch& b, bool numbered) {
  ValueList indices;
  Var first = b.operand(1, 0);
  if (numbered) indices.push_back(convert(b.numbers(first.shape()), first.dtype()).id);
  for (size_t i = 0; i < b.args[1].count; i++) indices.push_back(b.operand(1, i).id);
  return indices;
}
Results batch_index(Batch& b) { return b.again({b.args[0], batch_indices(b, b.batched(0))}); }
Results batch_index_put(Batch& b) { return b.again({b.operand(0), batch_indices(b, true), b.operand(2), b.flag(3)}); }

constexpr OpRow kRows[] = {
    checked({.schema = "prims.index(tensor input, tensor[] indices) -> tensor",
             .doc = "input[indices[0], indices[1], ..]; negative indices count from the end.",
             .meta = [](const Call& c, Types& out) { out.push(indexed_type(c)); },
             .reference = index_kernel,
             .vjp = index_vjp,
             .batch = batch_index,
             .samples = index_samples,
             .tags = kChecksData | kLinear}),
    checked(
        {.schema = "prims.index_put(tensor input, tensor[] indices, tensor values, bool accumulate) -> tensor",
         .doc =
             "A copy of input with values stored, or added, where prims.index would read, in the order of the indices.",
         .meta = index_put_meta,
         .reference = index_put_kernel,
         .vjp = index_put_vjp,
         .batch = batch_index_put,
         .samples = index_put_samples,
         .tags = kChecksData | kUpdates | kLinear}),
};

}  // namespace

void register_multi_index_prims(Registry& r) {
  for (auto& row : kRows) r.add(row);
}

}  // namespace thunder
