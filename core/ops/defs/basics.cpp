// full, convert, sum, matmul, exp, neg: the prims everything leans on.
#include <cmath>

#include "base/text.h"
#include "ops/grad.h"
#include "ops/kernels.h"
#include "ops/samples.h"

namespace thunder {
namespace {

void full_meta(const Call& c, Types& out) {
  TensorType t;
  t.dtype = c.dtype(2);
  t.device = c.device(3);
  for (Dim d : c.dims(0)) c.require(!d.constant() || d.value() >= 0, "a size must not be negative, got ", name(c.dims(0)));
  t.shape = Shape(c.dims(0));
  out.push(t);
}
Status* full_kernel(const Kernel& k) {
  by_dtype(k.out[0].dtype, [&](auto t) {
    using T = decltype(t);
    T value;
    if constexpr (std::is_same_v<T, bool>) value = k.args[1].f != 0;
    else if constexpr (std::is_same_v<T, bf16>) value = bf16(static_cast<float>(k.args[1].f));
    else value = static_cast<T>(k.args[1].f);
    Rows<1> rows(k.out[0], {&k.out[0]});
    for (int64_t r = 0; r < rows.rows(); r++, rows.next())
      for (int64_t i = 0; i < rows.row(); i++) k.out[0].as<T>()[rows.offset[0] + i * rows.step[0]] = value;
  });
  return nullptr;
}

void convert_meta(const Call& c, Types& out) {
  TensorType t = c.type(0);
  t.dtype = c.dtype(1);
  t.weak = false;
  out.push(t);
}
template <class To, class From>
To cast(From v) {
  if constexpr (std::is_same_v<To, bool>) return v != From(0);
  else if constexpr (std::is_same_v<To, bf16>) return bf16(static_cast<float>(v));
  else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    // Out of range is undefined in C++; saturate through the widest integer, NaN to zero.
    if (!(v > -9.3e18 && v < 9.2e18)) return v != v ? To(0) : static_cast<To>(v > 0 ? INT64_MAX : INT64_MIN);
    return static_cast<To>(static_cast<int64_t>(v));
  } else return static_cast<To>(v);
}
Status* convert_kernel(const Kernel& k) {
  by_dtype(k.in[0].dtype, [&](auto from) {
    using From = decltype(from);
    by_dtype(k.out[0].dtype, [&](auto to) {
      using To = decltype(to);
      each<From, To>(k, [](From v) { return cast<To, Compute<From>>(v); });
    });
  });
  return nullptr;
}

void sum_meta(const Call& c, Types& out) {
  TensorType t = c.type(0);
  Shape axes = c.axes(1, t.rank());
  for (size_t i = axes.size(); i-- > 0;) t.shape.erase(static_cast<size_t>(axes[i].value()));
  out.push(t);
}
Status* sum_kernel(const Kernel& k) {
  const Buffer &in = k.in[0], &out = k.out[0];
  const auto rank = static_cast<size_t>(in.rank);
  Sizes step(rank, 0);  // the output's stride along each input axis
  SmallVector<bool, 8> reduced(rank, k.args[1].count == 0);
  for (Dim d : k.args[1].dim_list()) reduced[normalize_axis(d.value(), rank)] = true;
  for (size_t i = 0, o = 0; i < rank; i++)
    if (!reduced[i]) step[i] = out.strides[o++];
  by_dtype(out.dtype, [&](auto t) {
    using T = decltype(t);
    using A = std::conditional_t<std::is_same_v<T, bf16>, float, std::conditional_t<std::is_same_v<T, float>, double, T>>;
    const int64_t n = out.elements();
    std::vector<std::conditional_t<std::is_same_v<A, bool>, uint8_t, A>> sums(static_cast<size_t>(n), 0);
    // Sum into a dense copy of the output, in a wider type.
    Sizes dense(static_cast<size_t>(out.rank), 1), to(rank, 0);
    for (size_t i = dense.size(); i-- > 1;) dense[i - 1] = dense[i] * out.shape[i];
    for (size_t i = 0, o = 0; i < rank; i++)
      if (!reduced[i]) to[i] = dense[o++];
    Buffer target = in;
    target.strides = to.data();
    Rows<2> rows(in, {&in, &target});
    for (int64_t r = 0; r < rows.rows(); r++, rows.next())
      for (int64_t i = 0; i < rows.row(); i++)
        sums[static_cast<size_t>(rows.offset[1] + i * rows.step[1])] += static_cast<A>(in.as<T>()[rows.offset[0] + i * rows.step[0]]);
    Rows<1> outs(out, {&out});
    size_t at = 0;
    for (int64_t r = 0; r < outs.rows(); r++, outs.next())
      for (int64_t i = 0; i < outs.row(); i++) out.as<T>()[outs.offset[0] + i * outs.step[0]] = static_cast<T>(sums[at++]);
  });
  return nullptr;
}
Shape kept_shape(const Grad& g) {
  Shape kept = g.type(0).shape;
  for (Dim axis : g.axes(1, kept.size())) kept[static_cast<size_t>(axis.value())] = 1;
  return kept;
}

Status* advance(const Kernel& k) {
  const auto* in = k.in[0].as<int64_t>();
  auto* out = k.out[0].as<int64_t>();
  out[0] = in[0];
  out[k.out[0].strides[0]] = in[k.in[0].strides[0]] + 1;
  return nullptr;
}

void same_meta(const Call& c, Types& out) { out.push(c.type(0)); }
Status* neg_kernel(const Kernel& k) {
  by_dtype(k.out[0].dtype, [&](auto t) {
    using T = decltype(t);
    if constexpr (!std::is_same_v<T, bool>) each<T, T>(k, [](Compute<T> v) { return static_cast<T>(-v); });
  });
  return nullptr;
}

constexpr OpRow kRows[] = {
    checked({.schema = "prims.advance_random(tensor state) -> tensor", .doc = "The random state {seed, calls} after one more call.",
             .meta = same_meta, .reference = advance, .nondiff = "the state is made of integers"}),
    checked({.schema = "prims.full(int[] shape, float value, dtype dtype, device device) -> tensor", .doc = "A tensor filled with one value.",
             .meta = full_meta, .reference = full_kernel, .nondiff = "it has no tensor argument"}),
    checked({.schema = "prims.convert(tensor input, dtype dtype) -> tensor", .doc = "Another element type; reals to integers truncate and saturate.",
             .meta = convert_meta, .reference = convert_kernel, .vjp = [](Grad& g) { g.add(0, convert(g.cotangent(), g.type(0).dtype)); },
             .tags = kElementwise}),
    checked({.schema = "prims.sum(tensor input, int[] dims) -> tensor", .doc = "Sum over dims, which vanish.", .meta = sum_meta,
             .reference = sum_kernel,
             .vjp = [](Grad& g) { g.add(0, expand_to(reshape_to(g.cotangent(), kept_shape(g)), g.type(0).shape)); }, .tags = kReduction}),
    checked({.schema = "prims.neg(tensor input) -> tensor", .doc = "-input, elementwise.", .meta = same_meta, .reference = neg_kernel,
             .vjp = [](Grad& g) { g.add(0, -g.cotangent()); }, .tags = kElementwise}),
    checked({.schema = "neg(tensor input) -> tensor", .doc = "-input, elementwise.",
             .decompose = [](Call& c) -> Results { return c.builder.call("prims.neg", {c.var(0)}); },
             .samples = [](Samples& s) { s.add({TensorSpec{{2, 3}}}); }, .tags = kInplace}),
};

}  // namespace

void register_basics(Registry& r) {
  for (auto& row : kRows) r.add(row);
}

}  // namespace thunder
